# SPDX-License-Identifier: LGPL-2.1-or-later
"""The names of addresses, held to those that perf script gives the same addresses.

A trace is made up: a process that maps one file, and a sample for each address that is asked for.
The addresses are the starts of all functions, so that each choice among aliases is made, and others
spread over the code. 99.9 % must be equal: perfs before 6.3 know fewer PLT stubs, and where symbols
overlap perf gives the one that its tree happens to have above.
"""
import glob
import os
import random
import struct
import subprocess
import sys
import tempfile

TOOL = os.path.join(os.environ["BUILD_DIR"], "tests/integration/name_addresses")
BASE = 0x10000000000  # where the file is mapped
COMM, MMAP, MMAP2, SAMPLE, ATTR, ROUND = 3, 1, 10, 9, 64, 68
KERNEL, USER = 1, 2
AT_MOST = 30000


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def newest_perf():
    for name in ("PERF_SID", "PERF_TRIXIE", "PERF"):
        path = os.environ.get(name, "")
        if path and os.access(path, os.X_OK):
            return path
    skip("needs perf (./tests/run gets it)")


class Trace:
    """A pipe-mode perf.data of process 77, with the sample type IP, TID and TIME."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.time = 1000
        attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 7, 0, 1 << 8 | 1 << 18 | 1 << 23)
        self.file.write(b"PERFILE2" + struct.pack("<Q", 16))
        self.record(ATTR, 0, attr.ljust(128, b"\0") + struct.pack("<Q", 1))
        self.record(COMM, 0, struct.pack("<II8s", 77, 77, b"names") + self.trailer())

    def record(self, kind, misc, body):
        self.file.write(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def trailer(self):
        return struct.pack("<IIQ", 77, 77, self.time)

    @staticmethod
    def name(text):
        raw = text.encode() + b"\0"
        return raw.ljust((len(raw) + 7) // 8 * 8, b"\0")

    def sample(self, misc, address):
        self.time += 1
        self.record(SAMPLE, misc, struct.pack("<QIIQ", address, 77, 77, self.time))

    def end(self):
        self.record(ROUND, 0, b"")
        self.file.close()


def segments(path):
    """(vaddr, offset, bytes in the file) of what is executable."""
    with open(path, "rb") as f:
        data = f.read(64)
        at, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
        f.seek(at)
        headers = f.read(56 * count)
    found = []
    for i in range(count):
        kind, flags, offset, vaddr, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", headers, 56 * i)
        if kind == 1 and flags & 1:
            found.append((vaddr, offset, size))
    return found


def addresses(path, code):
    """Virtual addresses: each function that nm lists, and others."""
    wanted = set()
    for options in (["-D"], []):
        out = subprocess.run(["nm", "--defined-only", *options, path], capture_output=True, text=True)
        for line in out.stdout.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwWiu":
                wanted.update((int(words[0], 16), int(words[0], 16) + 3))
    random.seed(1)
    for vaddr, _, size in code:
        wanted.update(vaddr + random.randrange(size) for _ in range(10000))
    held = sorted(a for a in wanted if any(v <= a < v + n for v, _, n in code))
    return held if len(held) <= AT_MOST else sorted(random.sample(held, AT_MOST))


def perf_names(perf, trace, *options):
    out = subprocess.run([perf, "script", "--no-inline", *options, "-i", trace, "-F", "ip,sym,symoff"],
                         capture_output=True, text=True)
    names = [line.strip().partition(" ")[2] for line in out.stdout.splitlines()]
    if not names:
        skip("perf script does not read the made-up trace: " + out.stderr.strip()[-200:])
    return names


def our_names(mode, what, asked):
    out = subprocess.run([TOOL, mode, what], input="".join("%x\n" % a for a in asked),
                         capture_output=True, text=True, check=True)
    return out.stdout.splitlines()


def compare(asked, ours, theirs):
    """What differs, as (address, ours, theirs)."""
    if len(ours) != len(asked) or len(theirs) != len(asked):
        sys.exit("FAILED: asked %d, got %d, perf gave %d" % (len(asked), len(ours), len(theirs)))
    # perf leaves a mangled name mangled when a version is behind it.
    return [(a, o, t) for a, o, t in zip(asked, ours, theirs)
            if o != t and not ("@@" in o and t.startswith("_Z"))]


def report(what, asked, differ):
    share = 1 - len(differ) / len(asked)
    print("%s: %d addresses, %.3f %% named as perf does" % (what, len(asked), 100 * share))
    for address, our, their in differ[:10]:
        print("  %#x: %s, perf says %s" % (address, our, their))
    return share


def test_module(perf, folder, path):
    code = segments(path)
    asked = addresses(path, code)
    trace = os.path.join(folder, "trace")
    t = Trace(trace)
    base = 0 if open(path, "rb").read(18)[16] == 2 else BASE
    for vaddr, offset, size in code:
        low, high = vaddr & ~4095, vaddr + size + 4095 & ~4095
        t.record(MMAP2, USER, struct.pack("<IIQQQIIQQII", 77, 77, base + low, high - low, offset & ~4095,
                                          0, 0, 0, 0, 5, 2) + t.name(path) + t.trailer())
    for address in asked:
        t.sample(USER, base + address)
    t.end()
    theirs = perf_names(perf, trace)
    offsets = [a - v + o for a in asked for v, o, n in code if v <= a < v + n]
    # perf prints parameters or not, by version and by how it was built.
    full, short = (compare(asked, our_names(mode, path, offsets), theirs) for mode in ("full", "short"))
    return report(path, asked, min(full, short, key=len))


def test_kernel(perf, folder):
    text = open("/proc/kallsyms").read()
    symbols = [(int(line.split()[0], 16), line.split()[2]) for line in text.splitlines()]
    known = {name: address for address, name in symbols}
    start, end = known.get("_text", 0), known.get("_etext", 0)
    if not start or not end:
        print("the kernel's addresses are hidden here; its names are not tried")
        return 1.0
    kallsyms, trace = os.path.join(folder, "kallsyms"), os.path.join(folder, "trace")
    with open(kallsyms, "w") as f:
        f.write(text)
    asked = sorted({a + o for a, _ in symbols if start <= a < end for o in (0, 5)})
    t = Trace(trace)
    t.record(MMAP, KERNEL, struct.pack("<iiQQQ", -1, 0, start, end - start, start) +
             t.name("[kernel.kallsyms]_text") + t.trailer())
    for address in asked:
        t.sample(KERNEL, address)
    t.end()
    theirs = perf_names(perf, trace, "--kallsyms=" + kallsyms)
    return report("kernel", asked, compare(asked, our_names("kernel", kallsyms, asked), theirs))


def main():
    perf = newest_perf()
    if subprocess.run(["nm", "--version"], capture_output=True).returncode != 0:
        skip("needs nm")
    print(subprocess.run([perf, "--version"], capture_output=True, text=True).stdout.strip())
    modules = [os.environ["PEVREC"], "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"]
    modules += glob.glob("/usr/lib/x86_64-linux-gnu/libstdc++.so.6")
    modules += glob.glob("/usr/lib/x86_64-linux-gnu/libLLVM-*.so.1")
    modules = sorted({os.path.realpath(m) for m in modules if os.path.exists(m)})
    with tempfile.TemporaryDirectory() as folder:
        shares = [test_module(perf, folder, m) for m in modules]
        shares.append(test_kernel(perf, folder))
    if min(shares) < 0.999:
        sys.exit("FAILED: fewer than 99.9 % are equal")


main()
