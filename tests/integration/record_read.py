# SPDX-License-Identifier: LGPL-2.1-or-later
"""record_read SET: every kind of recording is read by every perf, without a word that this perf does
not also say of its own recording of the same kind, and shows the same samples, events and fields."""
import concurrent.futures
import contextlib
import functools
import os
import re
import subprocess
import sys
import threading

import recordlib
from recordlib import LOAD, PEVREC, check, run, said

CLOCK = ["-e", "cpu-clock"]
WALK = ["--", LOAD, "walk", "4000"]
SYSTEM = ["-a", "--", LOAD, "walk", "4000"]
USAGE = 129  # exit code of perf for options that it does not know
FIELDS = "comm,pid,tid,time,cpu,event"
SHOWN = ["--show-task-events", "--show-mmap-events", "--show-switch-events", "--show-namespace-events",
         "--show-lost-events", "--show-round-events", "--show-bpf-events", "--show-cgroup-events",
         "--show-text-poke-events"]


class Kind:
    """One way to record. @options go to both recorders, @ours and @theirs to one."""

    def __init__(self, name, options, fields="ip,sym,dso", ours=(), theirs=(), pipe=False, around=None,
                 text=None, ask=None, shows=None, oracle=True, named=True, samples=1, many=False):
        self.name, self.options, self.fields = name, list(options), fields
        self.ours, self.theirs = list(ours), list(theirs)
        self.pipe = pipe  # written to standard output, read from standard input
        self.around = around  # a context that yields more options
        self.text = text  # "same": perf script prints the same text; "shape": but for numbers
        self.ask = ask  # a question of its own, instead of perf script that shows all records;
        self.shows = shows  # and a pattern that must be in its answer
        self.oracle = oracle  # False: perf has no spelling for it
        self.named = named  # perf gives its events the same names
        self.samples = samples  # at least so many
        self.many = many  # one record may be several samples (group reads)


@contextlib.contextmanager
def cgroup():
    """A cgroup with a busy process in it; yields its name below the mount."""
    mount = "/sys/fs/cgroup/unified" if os.path.isdir("/sys/fs/cgroup/unified") else "/sys/fs/cgroup"
    name = f"pevrec-test-{os.getpid()}"
    path = os.path.join(mount, name)
    try:
        os.mkdir(path)
    except OSError as e:
        recordlib.skip(f"needs a cgroup of version 2: {e}")
    busy = subprocess.Popen([LOAD, "until-eof", "-"], stdin=subprocess.PIPE)
    try:
        with open(os.path.join(path, "cgroup.procs"), "w") as f:
            f.write(str(busy.pid))
        yield ["-G", name]
    finally:
        busy.stdin.close()
        busy.wait()
        os.rmdir(path)


@contextlib.contextmanager
def in_cgroup():
    """The same, for a recording of everything."""
    with cgroup():
        yield []


@contextlib.contextmanager
def busy(option):
    """Three threads that run; yields -p or -t and their number."""
    process = subprocess.Popen([LOAD, "threads", "3", "until-eof", "-"], stdin=subprocess.PIPE)
    try:
        threads = []
        while len(threads) < 5:  # main, three that are busy, one that reads
            threads = sorted(int(t) for t in os.listdir(f"/proc/{process.pid}/task"))
        yield [option, str(process.pid if option == "-p" else threads[1])]
    finally:
        process.stdin.close()
        process.wait()


def address(symbol):
    return f"{recordlib.symbol_address(LOAD, symbol):#x}"


def probe():
    """A uprobe of probed(), by its offset in the file: the program is not relocatable, and its first
    segment starts at its first byte."""
    for line in run(["readelf", "-lW", LOAD]).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            offset = recordlib.symbol_address(LOAD, "probed") - int(words[2], 16) + int(words[1], 16)
            return f"uprobe/path={LOAD},offset={offset:#x}/"
    raise KeyError("no executable segment")


SETS = {
    "stacks": lambda: [
        # Without hardware perfs of different age fall back to different clocks.
        Kind("default", WALK, named=False),
        Kind("default-all", SYSTEM, named=False),
        Kind("fp", [*CLOCK, "-g", *WALK]),
        Kind("fp-all", [*CLOCK, "-g", *SYSTEM]),
        Kind("dwarf", [*CLOCK, "--call-graph", "dwarf", *WALK]),
        Kind("dwarf-4096", [*CLOCK, "-F", "500", "--call-graph", "dwarf,4096", *SYSTEM]),
        Kind("pipe", [*CLOCK, "-g", *WALK], pipe=True, theirs=["-z"]),
        Kind("pipe-dwarf-all", [*CLOCK, "-F", "200", "--call-graph", "dwarf", *SYSTEM], pipe=True,
             theirs=["-z"]),
        Kind("pipe-tracepoint", ["-e", "sched:sched_switch", "-e", "cpu-clock", *SYSTEM], pipe=True,
             fields="trace"),
    ],
    "events": lambda: [
        Kind("several", ["-e", "cpu-clock,page-faults,context-switches", "--", LOAD, "walk", "1000",
                         "fault", "300", "sleep", "30"]),
        Kind("several-e", ["-e", "cpu-clock:u", "-e", "page-faults:u", "-c", "10", "--", LOAD, "walk",
                           "1000", "fault", "300"]),
        Kind("terms", ["-e", "cpu-clock/freq=500,name=slow/,task-clock/period=1000000/u", *WALK]),
        Kind("group", ["-e", "{cpu-clock,page-faults}", "--", LOAD, "walk", "2000", "fault", "300"]),
        Kind("group-read", ["-e", "{cpu-clock,page-faults}:S", "--", LOAD, "walk", "2000", "fault",
                            "300"], many=True),
        Kind("group-read-all", ["-e", "{cpu-clock,context-switches}:S", *SYSTEM], many=True),
        Kind("tracepoint", ["-e", "syscalls:sys_enter_lseek", "--", LOAD, "seek", "40"],
             fields="trace", text="same", samples=40),
        Kind("tracepoints", ["-e", "syscalls:sys_*_lseek,sched:sched_process_e*,sched:sched_process_fork",
                             "--", LOAD, "seek", "20", "fork", "2", "seek", "3"],
             fields="trace", text="shape", samples=50),
        Kind("sched-switch", ["-e", "sched:sched_switch,cpu-clock", *SYSTEM], fields="trace",
             text="shape"),
        Kind("filter", ["-e", "syscalls:sys_enter_lseek", "--filter", "offset > 9 && offset <= 14",
                        "--", LOAD, "seek", "40"], fields="trace", text="same", samples=5),
        Kind("tracepoint-fp", ["-e", "syscalls:sys_enter_lseek", "-g", "--", LOAD, "seek", "20"],
             fields="ip,sym,trace", samples=20),
        Kind("breakpoint", ["-e", f"mem:{address('watched')}/8:w", "-c", "1", "--", LOAD, "touch", "50"],
             fields="ip,sym", samples=50),
        Kind("breakpoint-x", ["-e", f"mem:{address('probed')}:x", "--", LOAD, "probe", "20"],
             fields="ip,sym", samples=20),
        Kind("uprobe", ["-e", probe(), "--", LOAD, "probe", "30"], fields="ip,sym",
             samples=30, oracle=False),
    ],
    "targets": lambda: [
        Kind("pid", [*CLOCK, "-F", "500", "--", "sleep", "0.3"], around=lambda: busy("-p")),
        Kind("pid-dwarf", [*CLOCK, "--call-graph", "dwarf", "-F", "500", "--", "sleep", "0.3"],
             around=lambda: busy("-p")),
        Kind("tid", [*CLOCK, "-F", "500", "--", "sleep", "0.3"], around=lambda: busy("-t")),
        Kind("children", [*CLOCK, "-g", "--", LOAD, "walk", "500", "exec", "again", "fork", "3", "walk",
                          "500", "threads", "2", "walk", "1000"],
             shows=r"PERF_RECORD_COMM exec: exe(.|\n)*PERF_RECORD_FORK"),
        Kind("no-inherit", [*CLOCK, "-i", "--", LOAD, "walk", "500", "fork", "2", "walk", "500"]),
        Kind("cpu", [*CLOCK, "-F", "500", "-C", "0", "--", LOAD, "walk", "4000"]),
        Kind("in-cgroup", [*CLOCK, "-F", "500", "-a", "--", "sleep", "0.3"], around=cgroup),
        Kind("all-cgroups", [*CLOCK, "-F", "500", "--all-cgroups", "-a", "--", "sleep", "0.3"],
             around=in_cgroup, ask=["report", "--stdio", "--sort", "cgroup"], shows=r"[0-9]% +/pevrec-test-[0-9]"),
        Kind("delay", [*CLOCK, "-D", "200", "--", LOAD, "sleep", "2500", "walk", "3000"]),
        Kind("delay-all", [*CLOCK, "-D", "200", "-a", "--", "sleep", "0.5"]),
    ],
    "options": lambda: [
        Kind("switch", [*CLOCK, "--switch-events", "-k", "mono", "--", LOAD, "walk", "2000", "sleep",
                        "20"], shows=r"PERF_RECORD_SWITCH +OUT"),
        Kind("switch-all", [*CLOCK, "--switch-events", "-k", "CLOCK_MONOTONIC_RAW", *SYSTEM],
             shows=r"PERF_RECORD_SWITCH_CPU_WIDE +IN "),
        Kind("period", [*CLOCK, "-c", "1000000", "-k", "boottime", *WALK], fields="period,ip"),
        Kind("freq-max", [*CLOCK, "-F", "max", "-k", "realtime", "--", LOAD, "walk", "500"],
             fields="period,ip"),
        Kind("data", ["-d", "-e", "page-faults", "-c", "1", "-k", "tai", "--", LOAD, "fault", "200"],
             fields="ip,addr", samples=200),
        Kind("phys-data", [*CLOCK, "-d", "--phys-data", *WALK], fields="ip,addr,phys_addr"),
        Kind("namespaces", [*CLOCK, "--namespaces", *SYSTEM],
             shows=r"PERF_RECORD_NAMESPACES .*nr_namespaces: 7"),
        Kind("stat", [*CLOCK, "-s", "-T", "--", LOAD, "threads", "2", "walk", "2000"],
             ask=["report", "--stdio", "-T"], shows=r"# +PID +TID .*\n *[0-9]+ +[0-9]+ +[0-9]"),
        Kind("raw-samples", [*CLOCK, "-P", "-R", "--sample-cpu", *WALK]),
        Kind("user", [*CLOCK, "--all-user", "-g", "--user-callchains", *WALK]),
        Kind("kernel", [*CLOCK, "--all-kernel", "-g", "--kernel-callchains", "--", LOAD, "getppid",
                        "100000"]),
        Kind("page-sizes", [*CLOCK, "-d", "--data-page-size", "--code-page-size", *WALK],
             fields="ip,data_page_size,code_page_size"),
        Kind("level", [*CLOCK, "-z", "-B", *WALK]),
        Kind("level-9-small-rings", [*CLOCK, "-z9", "-m", "16", *WALK]),
    ],
}


def count_samples(text):
    """perf script has a line for each sample and each other record; call chains are indented, and from
    a pipe they are printed whatever was asked for."""
    return sum(bool(line) and line[0] != "\t" and "PERF_RECORD_" not in line for line in text.splitlines())


def record(program, kind, path, more):
    """One recording of @kind to @path."""
    before = kind.ours if program == PEVREC else kind.theirs
    options = kind.options
    at = options.index("--") if "--" in options else len(options)
    command = [program, "record", "-o", "-" if kind.pipe else path, *options[:at], *before, *more,
               *options[at:]]
    done = run(command)
    if kind.pipe:
        with open(path, "wb") as f:
            f.write(done.bytes)
            done.stdout = ""
    return done


class Oracle:
    """perf's own recordings of a kind, made when somebody asks for one."""

    def __init__(self, kind, more):
        self.kind, self.more, self.files, self.lock = kind, more, {}, threading.Lock()

    def file(self, perf):
        with self.lock:
            if perf not in self.files:
                self.files[perf] = self.record(perf)
            return self.files[perf]

    def record(self, perf):
        """While somebody else records build-ids, the kernel marks mappings of perf's recording as if
        they had one as well (Linux 6.18), on which perf aborts: it gets a few tries."""
        path = f"{self.kind.name}-oracle-{len(self.files)}.data"
        for _ in range(8):
            recorded = record(perf, self.kind, path, self.more)
            read = run([perf, "script", "-i", "-"], stdin=path) if self.kind.pipe else run(
                [perf, "script", "-i", path])
            if recorded.code == 0 and read.code == 0:
                break
        check(recorded.code == 0 and read.code == 0, f"{self.kind.name}: perf's own: {recorded}; {read}")
        return path


class Reading:
    """All that one perf makes of one kind: of our file, and where it speaks, of its own."""

    def __init__(self, kind, perf, ours, oracle):
        self.kind, (self.version, self.perf) = kind, perf
        self.ours, self.oracle = ours, oracle

    def ask(self, path, arguments):
        command = [self.perf, *arguments]
        if self.kind.pipe:
            return run([*command, "-i", "-"], stdin=path, env=recordlib.quiet_environment())
        return run([*command, "-i", path], env=recordlib.quiet_environment())

    def compare(self, arguments):
        """Asks; what perf says must be what it says of its own file as well."""
        name = f"{self.kind.name}, perf {self.version} {' '.join(arguments)}"
        done = self.ask(self.ours, arguments)
        lines, expected = said(done), 0
        if (lines or done.code) and self.kind.oracle:
            its = self.ask(self.oracle.file(self.perf), arguments)
            lines -= said(its)
            # perf 6.12, for one, does not survive converting raw samples to JSON.
            expected = its.code if arguments[0] == "data" else 0
        check(done.code in (0, expected), f"{name}: exit {done.code}: {done.stderr.strip()[-300:]}")
        check(not lines, f"{name}: says of ours alone: {sorted(lines)}")
        return done.stdout

    def all(self):
        """Asks every question; returns how many samples perf script shows."""
        kind, tag = self.kind, f"{self.kind.name}-{self.version}"
        # Inlined functions come from addr2line, which says things of its own, or nothing in time.
        self.compare(["report", "--header", "--stdio", "--no-inline"])
        self.compare(["script", "--no-inline"])
        shown = self.compare(["script", "--no-inline", "-F", f"{FIELDS},{kind.fields}", *SHOWN])
        samples = count_samples(shown)
        if kind.ask:
            shown = self.compare(kind.ask)
        check(not kind.shows or re.search(kind.shows, shown), f"{tag}: shows nothing like {kind.shows}")
        if kind.pipe and "trace" in kind.fields:
            return samples  # the others cannot step over the tracing data of any pipe
        self.compare(["evlist", "-v"])
        if not kind.pipe:  # where it does not look for what the compression needs
            self.compare(["buildid-list"])
        injected = f"{tag}-injected.data"
        self.compare(["inject", "-b", "-o", injected])
        if check(os.path.exists(injected), f"{tag}: inject wrote nothing"):
            again = run([self.perf, "script", "-F", FIELDS, "-i", injected])
            check(again.code == 0 and count_samples(again.stdout) == samples,
                  f"{tag}: injected, it shows {count_samples(again.stdout)} samples instead of "
                  f"{samples}: {again}")
            os.unlink(injected)
        if not kind.pipe and makes_json(self.perf):
            self.compare(["data", "convert", "--force", "--to-json", f"{tag}.json"])
        return samples


@functools.lru_cache(None)
def makes_json(perf):
    return run([perf, "data", "convert", "--to-json", "x", "-i", "none"]).code != USAGE


def events_of(perf, path, pipe):
    done = run([perf, "evlist", "-i", "-" if pipe else path],
               stdin=path if pipe else subprocess.DEVNULL)
    # The side-band event, and a hint about tracepoints, are not what was asked for.
    return [line for line in done.stdout.splitlines()
            if line and not line.startswith(("#", "dummy"))]


def texts(perf, path, shape):
    """The tracepoints' text of a file, in order; or its shapes, in which what may differ is left out."""
    done = run([perf, "script", "-F", "event,trace", "-i", path])
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    if not shape:
        return lines
    # "sched:sched_switch: bash:12 [120] S ==> vi:34 [120]"; who it was is chance.
    switched = re.compile(r"(?<=: ).*:[0-9]+ \[[0-9]+\] \S+ ==> .*:[0-9]+ \[[0-9]+\]$")
    return {re.sub(r"=[^=]*?(?= \w+=| ==> |$)", "=", switched.sub("A ==> B", line)) for line in lines}


def compare_with_theirs(kind, newest, ours, theirs):
    if kind.named:
        mine, its = events_of(newest, ours, kind.pipe), events_of(newest, theirs, kind.pipe)
        check(mine == its, f"{kind.name}: events are {mine} and not {its}")
    if kind.text:
        mine, its = (texts(newest, path, kind.text == "shape") for path in (ours, theirs))
        check(mine and mine == its, f"{kind.name}: prints other text than perf's own: "
                                    f"{sorted(set(mine) ^ set(its))[:10]}")


def try_kind(kind, perfs, pool):
    """Records @kind, and has it read by all perfs."""
    with (kind.around() if kind.around else contextlib.nullcontext([])) as more:
        oracle = Oracle(kind, more)
        ours = f"{kind.name}.data"
        done = record(PEVREC, kind, ours, more)
        if not check(done.code == 0, f"{kind.name}: {done}"):
            return
        counted = recordlib.verify(ours)["samples"]
        check(counted >= kind.samples, f"{kind.name}: only {counted} samples")
        readings = [Reading(kind, perf, ours, oracle) for perf in perfs]
        for (version, _), shown in zip(perfs, pool.map(Reading.all, readings)):
            check(shown == counted or (kind.many and shown > counted),
                  f"{kind.name}: perf {version} script shows {shown} samples, verify {counted}")
        if kind.oracle:
            newest = perfs[-1][1]
            compare_with_theirs(kind, newest, ours, oracle.file(newest))


def main():
    if os.geteuid() != 0:
        recordlib.skip("needs root")
    recordlib.enter_folder()
    perfs = recordlib.perfs()
    wanted = sys.argv[2:]
    with concurrent.futures.ThreadPoolExecutor(len(perfs)) as pool:
        for kind in SETS[sys.argv[1]]():
            if wanted and kind.name not in wanted:
                continue
            print(f"== {kind.name}: {' '.join(kind.options)}", flush=True)
            try_kind(kind, perfs, pool)
            for name in os.listdir("."):
                if name.startswith(f"{kind.name}.") or name.startswith(f"{kind.name}-"):
                    os.unlink(name)
    recordlib.finish()


main()
