# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevrec script, held byte for byte to perf script: of recordings made here, and of samples made up."""
import os
import struct

from recordlib import LOAD, PEVREC, check, enter_folder, finish, perfs, run
from viewlib import *

# libtraceevent takes a & (b | c) for (a & b) | c. The kernel prints what pevrec prints.
MISREAD = {"timer:timer_start"}


def compare(path, *options, perfs_too=None, drop=None):
    """Each perf against pevrec; @drop(line) leaves lines out of the comparison."""
    for version, perf in perfs_too or perfs():
        # Older ones find other inlined functions, or none.
        options = list(options) + ["--no-inline"] * (compat(version) != "7.2" and "--no-inline" not in options)
        want = perf_says(perf, "script", "-f", "-i", path, *options)
        have = pevrec_says("script", "--compat", compat(version), "-i", path, *options)
        if not check(have.code == 0, str(have)):
            continue
        a, b = want.stdout, have.stdout
        if drop:
            a, b = ("\n".join(l for l in t.splitlines() if not drop(l)) for t in (a, b))
        same(f"perf {version} script {path} {' '.join(options)}", a, b)
        check(want.code != 0 or a, f"perf {version} script {path}: it printed nothing")


def chains():
    path = recorded("chains", "-e", "cpu-clock", "-F", "997", "-g", "--", LOAD, "spin", "400")
    for options in ([], ["-G"], ["--ns"], ["-F", "comm,pid,tid,time,ip,sym,dso"], ["-F", "ip"],
                    ["-F", "comm,tid,event"], ["-F", "+pid,-period"], ["-F", "-symoff,-time"],
                    ["--max-stack", "3"], ["--show-task-events", "--show-mmap-events"],
                    ["--time", "20%-40%"], ["--time", "10%/2,10%/9"], ["--comm", "record_load"],
                    ["--comm", "nobody", "-F", "ip"], ["--reltime"], ["--deltatime", "-F", "time"]):
        if "nobody" in options:
            check(pevrec_says("script", "-i", path, *options).stdout == "", "--comm nobody")
        else:
            compare(path, *options)


def many():
    """All CPUs, several threads and events, side-band."""
    path = recorded("many", "-a", "-e", "cpu-clock,context-switches,page-faults", "-c", "20000", "-d", "-g",
                    "--switch-events", "--namespaces", "--", LOAD, "threads", "3", "fork", "2", "spin", "30")
    ended = [p for p in perfs() if compat(p[0]) != "6.1"]
    ours = LOAD.rsplit("/", 1)[-1][:15]
    compare(path, "--comm", ours, "-F", "comm,pid,tid,cpu,time,event,ip,sym,dso", perfs_too=ended)
    compare(path, "--comm", ours, "-G", "-F", "comm,tid,addr,time,event", perfs_too=ended)
    compare(path, "-F", "tid,cpu,time,event,period")
    compare(path, "-F", "tid,cpu,time", "--show-switch-events", "--show-namespace-events",
            "--show-task-events", "--show-mmap-events", "--show-lost-events", "--show-bpf-events",
            "--show-cgroup-events")
    compare(path, "-C", "0", "-F", "tid,cpu,time,ip")


def dwarf():
    path = recorded("dwarf", "-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf,8192", "--", LOAD,
                    "spin", "300")
    compare(path, "--no-inline")
    compare(path, "--no-inline", "-F", "ip,sym,dso,uregs")


def by_pevrec():
    path = recorded("ours", "-e", "cpu-clock", "-F", "997", "-g", "--", LOAD, "spin", "300", by=PEVREC)
    compare(path)
    compare(path, "-F", "comm,pid,tid,cpu,time,ip,sym,symoff,dso,period")
    piped = pevrec_says("script", "-i", "-", stdin=path)
    # A regular file needs to be seekable: standard input may well be one.
    if piped.code == 0:
        same("standard input", pevrec_says("script", "-i", path).stdout, piped.stdout)


def pipe():
    """What perf record writes to a pipe tells its events on the way."""
    done = run([perfs()[0][1], "record", "-q", "-e", "cpu-clock", "-g", "-o", "-", "--", LOAD, "spin", "200"])
    with open("pipe.data", "wb") as f:
        f.write(done.bytes)
    for options in ([], ["-G"], ["-F", "comm,time"], ["-F", "tid,time,-ip"]):
        if "-ip" not in ",".join(options):
            compare("pipe.data", *options)
    same("standard input", pevrec_says("script", "-i", "pipe.data").stdout,
         pevrec_says("script", "-i", "-", stdin="pipe.data").stdout)


def tracepoints():
    events = ("sched:*", "irq:*", "raw_syscalls:*", "syscalls:sys_enter_openat", "syscalls:sys_exit_openat",
              "signal:*", "task:*", "timer:*", "block:*", "net:*", "skb:*", "kmem:kmalloc",
              "kmem:mm_page_alloc", "exceptions:*", "writeback:*", "workqueue:*")
    there = []
    for event in events:
        folder = "/sys/kernel/tracing/events/" + event.replace(":", "/").rstrip("*")
        if os.path.exists(folder):
            there.append(event)
    if not there:
        print("no tracefs: tracepoints were not looked at")
        return
    path = recorded("tp", "-a", "-m", "1M", "-e", ",".join(there), "--", "sh", "-c",
                    f"ls -R /usr/share/doc >/dev/null; {LOAD} getppid 100 fault 50; sync")
    misread = lambda line: any(" %s: " % event in line for event in MISREAD)
    compare(path, "-F", "tid,cpu,time,event,trace", drop=misread)
    text = pevrec_says("script", "-i", path, "-F", "event,trace").stdout
    check("FAILED TO PARSE" not in text, "a format was not understood")


def made_up():
    """Fields that the CPU of this machine does not have."""
    sample_type = (IP | TID | TIME | ADDR | CPU | PERIOD | BRANCH | REGS_USER | WEIGHT_STRUCT | DATA_SRC
                   | IDENTIFIER | REGS_INTR | PHYS_ADDR | DATA_PAGE_SIZE | CODE_PAGE_SIZE)
    regs = 0xff0fff
    sources = [0x68100142, 0x5080144 | 1 << 33, 0x1e05080021 | 2 << 43 | 1 << 37, 0x229080144, 0, 2**64 - 1,
               1 << 40 | 2 << 38 | 0x11, 2 << 40 | 0x1002a1, 6 << 40 | 0x3e00000]
    branches = [(0x401000, 0x402000, 1), (0x403000, 0x404000, 2 | 1 << 20),
                (0xffffffff81000000, 0x405000, 2 | 4 | 4 << 20 | 1 << 24),
                (1, 2, 8 | 15 << 20 | 3 << 26 | 2 << 24), (3, 4, 2 | 77 << 4 | 2 << 20 | 3 << 24)]

    def sample(i):
        words = lambda *v: b"".join(struct.pack("<Q", x) for x in v)
        return record(9, USER | 0x4000, struct.pack(
            "<QQIIQQIIQ", 1, 0x401000 + i, 10, 11, 1000000 * i + 5, 0x7fff0000 + i * 64, i % 2, 0, 100 + i)
            + words(len(branches)) + b"".join(words(*b) for b in branches)
            + words(2, *(0x10 + k for k in range(9)))
            + struct.pack("<IHH", 77 + i, 33, 22) + words(sources[i % len(sources)])
            + words(2, *(0x20 + k for k in range(bin(regs).count("1"))))
            + words(0x123456000 + i, [4096, 2 << 20, 1 << 30, 1024, 3000, 0][i % 6], [4096, 1 << 21][i % 2]))

    comm = record(3, 0, struct.pack("<II", 10, 10) + b"prog\0\0\0\0" + struct.pack("<IIQIIQ", 10, 10, 1000, 0, 0, 1))
    pipe_trace("made.data", [attr(4, 0x1cd, sample_type, branch=8 | 1 << 16, regs_user=0x1ff, regs_intr=regs)],
               [comm] + [sample(i) for i in range(12)])
    for options in ([], ["-F", "comm,tid,pid,time,cpu,event,ip,sym,dso,addr,period,iregs,uregs"],
                    ["-F", "ip,brstack"], ["-F", "ip,brstack,dso"], ["-F", "ip,brstacksym,dso"],
                    ["-F", "ip,brstackoff,dso"], ["-F", "time,data_src,weight"],
                    ["-F", "misc,ip,phys_addr,data_page_size,code_page_size,ins_lat,symoff,sym"],
                    ["-F", "+flags"], ["-F", "+tod"], ["-L"], ["--reltime"], ["-F", "raw:ip"]):
        compare("made.data", *options)


def refusals():
    for arguments, words in (
            (["-F", "nonsense"], "there is no field 'nonsense'"),
            (["-F", "comm,+tid"], "has either fields, or changes"),
            (["-F", "tracing:comm"], "is no type of events"),
            (["-F", "weight"], "without WEIGHT"),
            (["-F", "trace:comm"], "no events of the type"),
            (["--time", "20%-10%"], "no part of a trace"),
            (["--since", "soon"], "is no time")):
        done = pevrec_says("script", "-i", "chains.data", *arguments)
        check(done.code != 0 and words in done.stderr and not done.stdout,
              f"script {' '.join(arguments)}: {done}")


enter_folder()
chains()
many()
dwarf()
by_pevrec()
pipe()
tracepoints()
made_up()
refusals()
finish()
