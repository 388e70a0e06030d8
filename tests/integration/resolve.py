# SPDX-License-Identifier: LGPL-2.1-or-later
"""Call chains and names, held to what the newest perf prints of the same recordings.

Programs of many kinds are recorded by perf itself. Each sample's chain, as tests/tools/dump_chains
prints it, must be what perf script prints, for 99.5 % of the frames of each recording; every
difference is listed.

    resolve.py [-k] [KIND...]    -k keeps the recordings, and tells where
"""
import collections
import difflib
import os
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.environ["SOURCE_DIR"], "tests", "integration")
DUMP = os.path.join(os.environ["BUILD_DIR"], "tests", "tools", "dump_chains")
FIELDS = "comm,pid,tid,time,ip,sym,dso"
GOAL = 0.995

FP = ["-g"]
DWARF = ["--call-graph", "dwarf,16384"]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors="replace", **more)


class World:
    """A folder of its own, with the programs in it."""

    def __init__(self):
        self.perf = os.environ.get("PERF_SID", "")
        if not os.access(self.perf, os.X_OK):
            skip("needs the newest perf (./tests/run gets it)")
        if os.geteuid():
            skip("needs root, to record the kernel")
        self.dir = tempfile.mkdtemp(prefix="pevrec-resolve.")
        # perf keeps its build-id cache below HOME, and would find deleted files there.
        os.environ["HOME"] = self.dir
        os.environ.pop("DEBUGINFOD_URLS", None)
        os.chdir(self.dir)

    def build(self):
        load, inlines = os.path.join(SOURCE, "resolve_load.c"), os.path.join(SOURCE, "resolve_inlines.cc")
        plugin = os.path.join(SOURCE, "resolve_plugin.c")
        cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
        if not shutil.which(cc) or not shutil.which(cxx):
            skip("needs a C and a C++ compiler")
        run(cc, "-g", "-O1", "-fno-omit-frame-pointer", load, "-o", "load_fp", "-ldl")
        run(cc, "-g", "-O2", load, "-o", "load", "-ldl")
        run(cc, "-g", "-O2", "-static", load, "-o", "load_static", "-ldl")
        run(cxx, "-g", "-O2", inlines, "-o", "inlines")
        for name in "plugin_one", "plugin_two":
            run(cc, "-g", "-O2", "-shared", "-fPIC", "-DPLUGIN=" + name, plugin, "-o", "./%s.so" % name)
        run("strip", "load", "-o", "load_stripped")
        # Its symbols in a file of their own.
        run("objcopy", "--only-keep-debug", "load", "load_split.debug")
        run("objcopy", "--strip-all", "--add-gnu-debuglink=load_split.debug", "load", "load_split")

    def record(self, name, options, command):
        data = name + ".data"
        run(self.perf, "record", "-N", "-e", "cpu-clock", "-F", "2000", "-o", data, *options, "--", *command)
        return data

    def script(self, data):
        out = run(self.perf, "script", "-f", "-i", data, "-F", FIELDS).stdout
        return samples(out)

    def ours(self, data):
        done = run(DUMP, "-v", data)
        with open(data + ".ours", "w") as f:
            f.write(done.stdout + done.stderr)
        return samples(done.stdout)


def samples(text):
    """[(head, [frame...])...]; a frame is its line."""
    ret = []
    for line in text.splitlines():
        if line.startswith("\t") or line.startswith("  ") and ret and not line.strip()[0].isalpha():
            ret[-1][1].append(line.strip())
        elif line:
            ret.append((line.strip(), []))
    return ret


def without_ip(frame):
    return frame.split(" ", 1)[-1]


def compare(perf, ours):
    """How many frames there are, how many are the same, how many of ours go on where perf stops (it
    does so in generated code), and {(perf's, ours): count} of those that are not the same."""
    total = same = beyond = 0
    different = collections.Counter()
    if len(perf) != len(ours):
        different[("%d samples" % len(perf), "%d samples" % len(ours))] += 1
    for (head, a), (our_head, b) in zip(perf, ours):
        total += len(a) + 1
        if head == our_head:
            same += 1
        else:
            different[(head, our_head)] += 1
        if a == b[:len(a)]:
            same += len(a)
            beyond += len(b) - len(a)
            continue
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
            if tag == "equal":
                same += i2 - i1
                continue
            total += max(j2 - j1 - (i2 - i1), 0)
            key = (" | ".join(map(without_ip, a[i1:i2])), " | ".join(map(without_ip, b[j1:j2])))
            different[key] += max(i2 - i1, j2 - j1)
    return total, same, beyond, different


def recordings(w):
    """{name: function that records and returns the file}."""
    def simple(options, *command):
        return lambda name: w.record(name, options, command)

    def deleted(name):
        shutil.copy("load_fp", "gone")
        return w.record(name, FP, ["sh", "-c", "./gone calls & sleep 0.05; rm gone; wait"])

    return {
        "fp": simple(FP, "./load_fp", "calls"),
        "fp_inlines": simple(FP, "./inlines"),
        "fp_static": simple(FP, "./load_static", "calls"),
        "dwarf": simple(DWARF, "./load", "calls"),
        "dwarf_inlines": simple(DWARF, "./inlines"),
        "dwarf_static": simple(DWARF, "./load_static", "calls"),
        "dwarf_stripped": simple(DWARF, "./load_stripped", "calls"),
        "dwarf_split": simple(DWARF, "./load_split", "calls"),
        "plain": simple([], "./load", "calls"),
        "plugins": simple(FP, "./load_fp", "plugins", "./plugin_one.so", "./plugin_two.so"),
        "dwarf_plugins": simple(DWARF, "./load", "plugins", "./plugin_one.so", "./plugin_two.so"),
        "forks": simple(FP, "./load_fp", "forks"),
        "dwarf_forks": simple(DWARF, "./load", "forks"),
        "system_forks": simple(FP + ["-a"], "./load_fp", "forks"),
        "signals": simple(FP, "./load_fp", "signals"),
        "dwarf_signals": simple(DWARF, "./load", "signals"),
        "vdso": simple(FP, "./load_fp", "vdso"),
        "dwarf_vdso": simple(DWARF, "./load", "vdso"),
        "kernel": simple(FP, "./load_fp", "kernel"),
        "dwarf_kernel": simple(DWARF, "./load", "kernel"),
        "generated": simple(FP, "./load_fp", "generated"),
        "dwarf_generated": simple(DWARF, "./load", "generated"),
        "build_ids": simple(FP + ["--buildid-mmap"], "./load_fp", "calls"),
        "data_maps": simple(FP + ["-d"], "./load_fp", "calls"),
        "deleted": deleted,
    }


def main():
    arguments = sys.argv[1:]
    keep = "-k" in arguments
    w = World()
    w.build()
    kinds = recordings(w)
    failed = []
    all_different = {}
    print("%s, against %s" % (DUMP, run(w.perf, "--version").stdout.strip()))
    for name in [a for a in arguments if a != "-k"] or kinds:
        data = kinds[name](name)
        total, same, beyond, different = compare(w.script(data), w.ours(data))
        print("%-16s %7d frames, %8.4f %% are the same" % (name, total, 100 * same / max(total, 1)) +
              (", %d go beyond" % beyond if beyond else ""))
        all_different[name] = different
        if same < total * GOAL or not total:
            failed.append(name)
    for name, different in all_different.items():
        for (theirs, our), count in different.most_common(int(os.environ.get("DIFFERENCES", "6"))):
            print("%s: %d frames\n    perf: %s\n    ours: %s" % (name, count, theirs[:300], our[:300]))
    if keep:
        print("kept in", w.dir)
    else:
        shutil.rmtree(w.dir)
    if failed:
        print("FAILED: below %.1f %%: %s" % (100 * GOAL, " ".join(failed)))
        sys.exit(1)


main()
