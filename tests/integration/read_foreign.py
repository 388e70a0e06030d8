#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every sample of foreign traces, as the reader gives it and as perf script prints it.

Foreign are those that each perf here records now, in all its modes, and, where PEVREC_CORPUS names
a folder of them, traces that others recorded on other machines. Compared are pid, tid, time, CPU,
event, period, ip and callchain, and the order. PEVREC_FULL=1 tries each mode as a file and as a pipe,
compressed and not; else each perf does one of these, and another for the next mode.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SAMPLE = re.compile(
    r"^\s*(-?\d+)/(-?\d+)\s+(?:\[(-?\d+)\]\s+)?(?:(\d+)\.(\d{9}):\s+)?(\d+)\s+(\S.*?):(?:\s+"
    r"([0-9a-f]+).*)?\s*$"
)
# Of a pipe perf prints the symbol as well, asked or not.
FRAME = re.compile(r"^\s+([0-9a-f]+)(?:\s.*)?$")
REFUSED = re.compile(r"incompatible file|failed to process|wrong feature|broken or unsupported")
NO_FIELD = re.compile(r"Cannot print '(\w+)' field")

DUMP = os.path.join(os.environ["BUILD_DIR"], "tests/tools/dump_samples")
failures = []


def fail(words):
    print(f"FAILED: {words}", flush=True)
    failures.append(words)


def perfs():
    """Those that are there, by version."""
    found = {}
    for name in "PERF", "PERF_TRIXIE", "PERF_SID":
        path = os.environ.get(name)
        if path and os.access(path, os.X_OK):
            version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            found.setdefault(version.split()[-1], path)
    return found


def number_of(version):
    return [int(n) for n in re.findall(r"\d+", version)]


def perf_samples(perf, trace):
    """What perf script prints, as a list of tuples; None when this perf cannot read the trace."""
    fields = ["pid", "tid", "cpu", "time", "period", "event", "ip"]
    while True:
        command = [perf, "script", "-f", "--ns", "--no-inline", "-F", ",".join(fields), "-i", trace]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        missing = NO_FIELD.search(done.stderr)
        if not missing or missing[1] not in fields:
            break
        fields.remove(missing[1])
    refused = REFUSED.search(done.stderr)
    if done.returncode != 0 or refused:
        return None
    samples = []
    for line in done.stdout.splitlines():
        head, frame = SAMPLE.match(line), FRAME.match(line)
        if head:
            pid, tid, cpu, s, ns, period, event, ip = head.groups()
            time = int(s) * 10**9 + int(ns) if s else None
            cpu = int(cpu) if cpu else None
            samples.append((int(pid), int(tid), time, cpu, event.strip(), int(period), ip, []))
        elif frame and samples:
            samples[-1][-1].append(frame[1])
        elif line.strip():
            raise ValueError(f"perf script prints {line!r}")
    return samples


def our_samples(traces):
    done = subprocess.run([DUMP] + traces, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise ValueError(f"dump_samples: {done.stderr}")
    number = lambda s: None if s == "-" else int(s)
    signed = lambda s: None if s == "-" else int(s) - (int(s) >> 31 << 32)
    samples = []
    for line in done.stdout.splitlines():
        event, pid, tid, time, cpu, ip, period, chain = line.split("\t")
        chain = None if chain == "-" else chain.split()
        samples.append(
            (signed(pid), signed(tid), number(time), number(cpu), event, int(period), ip, chain)
        )
    return samples, done.stderr


def same_frames(ours, theirs, version, unwound):
    in_kernel = lambda ip: int(ip, 16) >> 63
    kernel = [ip for ip in ours if in_kernel(ip)]
    # What perf unwinds by itself, or takes from the LBR, comes after the kernel's frames.
    if unwound:
        return theirs[: len(kernel)] == kernel
    # perf before 6.4 prints addresses of user space as they are in the file that was mapped.
    if version < [6, 4]:
        page = lambda chain: [ip if in_kernel(ip) else int(ip, 16) % 4096 for ip in chain]
        return page(ours) == page(theirs)
    return ours == theirs


def same_event(ours, theirs):
    # Of what has no name, perf 7 tells that guests are left out, perf 6 that they are not.
    return theirs in (ours, ours + ":H", ours + ":HG")


def same(ours, theirs, version, unwound):
    """Fields that perf does not print are None."""
    for i in (0, 1, 2, 3, 5):
        if theirs[i] is not None and ours[i] is not None and ours[i] != theirs[i]:
            return False
    if not same_event(ours[4], theirs[4]):
        return False
    if theirs[6] is not None:
        return theirs[6] == ours[6]
    return same_frames(ours[7] or [], theirs[7], version, unwound)


def compare(trace, found, unwound=False, readers=1):
    """At least @readers of the perfs have to be able to read it. Ours reads all of it."""
    ours, said = our_samples([trace])
    if said and readers:
        fail(said.strip())
    read = 0
    for version, perf in found.items():
        theirs = perf_samples(perf, trace)
        if theirs is None:
            continue
        read += 1
        if len(ours) != len(theirs):
            fail(f"{trace}: {len(ours)} samples, perf {version} has {len(theirs)}")
        for i, (a, b) in enumerate(zip(ours, theirs)):
            if not same(a, b, number_of(version), unwound):
                fail(f"{trace}: sample {i} is {a}, perf {version} has {b}")
                break
    print(f"{len(ours):8} samples, read by {read} of {len(found)} perfs: {trace}")
    if read < readers:
        fail(f"{trace}: only {read} perfs read it")
    return len(ours)


def check_corpus(folder, found):
    traces = [t for t in glob.glob(f"{folder}/**", recursive=True) if os.path.isfile(t)]
    traces = sorted(t for t in traces if "perf" in os.path.basename(t) or ".data" in t)
    for trace in traces:
        copy = os.path.relpath(trace, folder).replace("/", "_")
        shutil.copyfile(trace, copy)
        compare(copy, found, unwound=True, readers=0)


# What is recorded: name, options of perf record, whether perf unwinds the samples itself.
MODES = [
    ("plain", "-e cpu-clock -F 2000", False),
    ("all-cpus", "-a -e cpu-clock -F 2000 -g", False),
    ("frame-pointers", "-e cpu-clock -F 2000 -g", False),
    ("dwarf", "-e cpu-clock -F 500 --call-graph dwarf,4096", True),
    ("two-events", "-e cpu-clock,page-faults -g", False),
    ("counted", "-e cpu-clock -c 1000000", False),
    ("group", "-a -e {cpu-clock,page-faults,context-switches}:S", False),
    ("group-of-task", "-e {cpu-clock,page-faults}:S", False),
    ("sample-types", "-e cpu-clock -e page-faults -e sched:sched_switch -d --phys-data", False),
    ("big-rings", "-a -m 16M -e cpu-clock -F 5000", False),
    ("small-rings", "-a -m 4 -e cpu-clock -F 5000 -g", False),
    ("monotonic", "-k CLOCK_MONOTONIC -e cpu-clock -F 1000", False),
    ("realtime", "-k CLOCK_REALTIME -e cpu-clock -F 1000", False),
    ("switches", "-a --switch-events --namespaces --all-cgroups -e cpu-clock -F 1000", False),
    ("tail", "--tail-synthesize -e cpu-clock -F 1000", False),
    ("threads", "-a --threads -e cpu-clock -F 5000 -g", False),
    ("per-thread", "--per-thread -e cpu-clock -F 2000", False),
    ("no-inherit", "-i -e cpu-clock -F 2000", False),
    ("aio", "-a --aio -e cpu-clock -F 5000", False),
    ("no-buffering", "-a --no-buffering -e cpu-clock -F 500", False),
]
WAYS = [("file", [], False), ("zstd", ["-z"], False), ("pipe", [], True), ("pipe-zstd", ["-z"], True)]

# Some of everything: forks, page faults, switches, two threads that burn.
WORK = """
for i in 1 2 3; do /bin/true; done
seq 100000 | sort -R | md5sum >/dev/null &
seq 100000 | md5sum >/dev/null
wait
"""


def record(perf, options, out, pipe):
    command = [perf, "record", "-q", "-B"] + options + ["-o", "-" if pipe else out]
    command += ["--", "sh", "-c", WORK]
    with open(out, "wb") if pipe else open(os.devnull, "wb") as stdout:
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, errors="replace")
    return done.returncode == 0, done.stderr


def check_recording(found, version, mode, options, unwound, way, more, pipe):
    trace = f"{version}-{mode}-{way}"
    ok, said = record(found[version], options.split() + more, trace, pipe)
    if not ok:
        print(f"perf {version} does not record {mode} {way}: {said.strip()[:100]}")
        return 0
    newest = max(found, key=number_of)
    compare(trace, {v: found[v] for v in {version, newest}}, unwound=unwound)
    shutil.rmtree(trace) if os.path.isdir(trace) else os.unlink(trace)
    return 1


def check_recordings(found):
    total = 0
    for p, version in enumerate(found):
        for m, (mode, options, unwound) in enumerate(MODES):
            # These have no pipes.
            ways = WAYS[:2] if mode in ("threads", "tail", "aio") else WAYS
            if not os.environ.get("PEVREC_FULL"):
                ways = [ways[(p + m) % len(ways)]]
            for way, more, pipe in ways:
                total += check_recording(found, version, mode, options, unwound, way, more, pipe)
    return total


def main():
    found = perfs()
    if not found:
        print("skipped: needs perf (./tests/run gets it)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="pevrec-test.") as folder:
        os.chdir(folder)
        os.environ["HOME"] = folder
        os.environ.pop("DEBUGINFOD_URLS", None)
        if os.environ.get("PEVREC_CORPUS"):
            check_corpus(os.environ["PEVREC_CORPUS"], found)
        if not check_recordings(found):
            fail("no perf could record anything")
        os.chdir("/")
    sys.exit(1 if failures else 0)


main()
