# SPDX-License-Identifier: LGPL-2.1-or-later
"""For the tests of report, script, export and diff: traces to look at, and perf to look at them too."""
import difflib
import os
import struct

from recordlib import LOAD, PEVREC, check, perfs, quiet_environment, run, skip

# attr.sample_type (perf_event_open(2)).
IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 8, 32, 128, 256
RAW, BRANCH, REGS_USER, DATA_SRC, IDENTIFIER = 1 << 10, 1 << 11, 1 << 12, 1 << 15, 1 << 16
REGS_INTR, PHYS_ADDR, WEIGHT_STRUCT = 1 << 18, 1 << 19, 1 << 24
DATA_PAGE_SIZE, CODE_PAGE_SIZE = 1 << 22, 1 << 23
SAMPLE_ID_ALL = 1 << 18
USER, KERNEL = 2, 1
MARK_USER, MARK_KERNEL = 2**64 - 512, 2**64 - 128


def compat(version):
    """What pevrec script --compat is to be for a perf."""
    major, minor = (int(x) for x in version.split(".")[:2])
    return "6.1" if (major, minor) < (6, 12) else "6.12" if major < 7 else "7.2"


def attr(kind, config, sample_type, branch=0, regs_user=0, regs_intr=0, period=1):
    """struct perf_event_attr of Linux 5.11, 128 bytes."""
    return (struct.pack("<IIQQQQQ", kind, 128, config, period, sample_type, 0, SAMPLE_ID_ALL)
            + struct.pack("<IIQQ", 0, 0, 0, 0)
            + struct.pack("<QQIi", branch, regs_user, 0, 0)
            + struct.pack("<QIHHIIQ", regs_intr, 0, 0, 0, 0, 0, 0))


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def pipe_trace(path, attrs, records):
    """A trace in pipe mode, whose events are called event0, event1, ..."""
    with open(path, "wb") as f:
        f.write(struct.pack("<QQ", 0x32454C4946524550, 16))
        for i, a in enumerate(attrs):
            f.write(record(64, 0, a + struct.pack("<Q", i + 1)))
            f.write(record(78, 0, struct.pack("<QQ", 2, i + 1) + b"event%d\0" % i))
        f.write(b"".join(records))


def recorded(name, *arguments, by=None):
    """Records with perf (the oldest one that is there), or with @by, into NAME.data; its path."""
    path = name + ".data"
    command = [by] if by else [perfs()[0][1]]
    done = run(command + ["record", "-q", "-o", path, *arguments], env=quiet_environment())
    if not os.path.exists(path) or os.path.getsize(path) < 1000:
        skip(f"cannot record: {done}")
    return path


def perf_says(perf, *arguments):
    return run([perf, *arguments], env=quiet_environment(), timeout=300)


def pevrec_says(*arguments, **more):
    return run([PEVREC, *arguments], timeout=300, **more)


def same(what, want, have, most=6):
    """Whether two texts are equal; shows where they are not."""
    if want == have:
        return check(True, what)
    lines = list(difflib.unified_diff(want.splitlines(), have.splitlines(), "perf", "pevrec", "", "", 0))
    print("\n".join(line[:200] for line in lines[:most]))
    changed = sum(line[:1] in "-+" for line in lines[2:])
    return check(False, f"{what}: {changed} lines differ")
