# SPDX-License-Identifier: LGPL-2.1-or-later
"""record_behave: how pevrec record ends, what it refuses and in which words, and what it says of loss."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import recordlib
from recordlib import LOAD, PEVREC, check, run, verify

CLOCK = ["-e", "cpu-clock"]
RECORD = [PEVREC, "record"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def wait_for(what, condition, seconds=30):
    """Polls, because most of what is waited for here gives no sign of its own."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return check(False, f"never came true: {what}")


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(c) for c in f.read().split()]


def cpu_ms(pid):
    """CPU time of a process; 0 when it has gone."""
    try:
        with open(f"/proc/{pid}/schedstat") as f:
            return int(f.read().split()[0]) / 1e6
    except FileNotFoundError:
        return 0


def lines(text):
    return [line for line in text.splitlines() if line]


def test_exit_status():
    for actions, code in ((["exit", "0"], 0), (["exit", "3"], 3), (["kill", "15"], 143),
                          (["kill", "9"], 137)):
        done = run([*RECORD, *CLOCK, "-o", "exit.data", "--", LOAD, "walk", "500", *actions])
        check(done.code == code, f"exit status {done.code} instead of {code}: {done}")
        check(verify("exit.data")["samples"] > 0, f"{actions}: no samples")
    with open("script", "w") as f:
        f.write("#!/no/such/interpreter\n")
    os.chmod("script", 0o755)
    for command, code, word in (("/no/such/program", 127, "No such file"), ("no-such-program", 127, "PATH"),
                                ("/etc/passwd", 126, "Permission denied"), ("/etc", 126, "Permission"),
                                ("./script", 127, "interpreter")):
        done = run([*RECORD, *CLOCK, "-o", "none.data", "--", command])
        check(done.code == code and len(lines(done.stderr)) == 1 and word in done.stderr,
              f"{command}: {done}")
        check(not os.path.exists("none.data"), f"{command}: leaves a file behind")


def test_stop():
    """Signals seal the file, and the command that was started does not outlive the recording."""
    for name, target in (("command", []), ("system", ["-a"]), ("pipe", ["-o", "-"])):
        for number in (signal.SIGINT, signal.SIGTERM):
            path = "stop.data"
            command = [*RECORD, *CLOCK, "-o", path, *target, "--", LOAD, "spin", "60000"]
            with open("stop.pipe", "wb") as out:
                recorder = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                            stdout=out)
                wait_for("the command runs", lambda: children(recorder.pid) and cpu_ms(
                    children(recorder.pid)[0]) > 300)
                command_pid = children(recorder.pid)[0]
                recorder.send_signal(number)
                _, err = recorder.communicate(timeout=60)
            check(recorder.returncode == 0, f"{name}, {number.name}: exit {recorder.returncode}: {err}")
            verdict = verify("stop.pipe" if name == "pipe" else path)
            check(verdict["verdict"] == ("unfinished" if name == "pipe" else "whole") and
                  verdict["samples"] > 0, f"{name}, {number.name}: {verdict}")
            wait_for("the command is gone", lambda: cpu_ms(command_pid) == 0)


def test_end_of_targets():
    """A recording of processes ends with them."""
    target = subprocess.Popen([LOAD, "threads", "2", "until-eof", "-"], stdin=subprocess.PIPE)
    recorder = subprocess.Popen([*RECORD, *CLOCK, "-o", "targets.data", "-p", str(target.pid)],
                                stderr=subprocess.PIPE)
    wait_for("something is recorded", lambda: os.path.exists("targets.data") and
             verify_quietly("targets.data") > 0)
    target.stdin.close()
    target.wait()
    _, err = recorder.communicate(timeout=60)
    check(recorder.returncode == 0 and verify("targets.data")["verdict"] == "whole",
          f"the end of the recorded process: exit {recorder.returncode}: {err}")


def verify_quietly(path):
    """The number of samples of a trace that may still grow."""
    found = re.search(r'"samples":([0-9]+)', run([PEVREC, "verify", "--json", path]).stdout)
    return int(found.group(1)) if found else 0


def test_empty():
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        for options, words in (
                ([*CLOCK, "-D", "100000", "--", LOAD, "walk", "10"], "delay of 100000 ms"),
                (["-e", "syscalls:sys_enter_lseek", "--", LOAD, "walk", "10"], "sys_enter_lseek"),
                (["-e", "syscalls:sys_enter_lseek", "--filter", "offset == 99", "--", LOAD, "seek", "9"],
                 "--filter"),
                (["-e", "page-faults", "-c", "1000000", "--", LOAD, "walk", "10"], "-c"),
                ([*CLOCK, "-p", str(sleeper.pid), "--", LOAD, "spin", "50"], "did not run")):
            done = run([*RECORD, "-o", "empty.data", *options])
            last = lines(done.stderr)[-1]
            check(done.code == 1 and "no samples" in last and words in last, f"empty: {done}")
            check(verify("empty.data")["verdict"] == "whole", f"empty: {options}: not sealed")
    finally:
        sleeper.kill()
        sleeper.wait()


def test_older_trace():
    for content in (b"first", b"second", b""):
        with open("keep.data", "wb") as f:
            f.write(content)
        done = run([*RECORD, *CLOCK, "-o", "keep.data", "--", LOAD, "walk", "500"])
        with open("keep.data.old", "rb") as f:
            older = f.read()
        # An empty file is not worth the older one.
        check(done.code == 0 and older == (content or b"second"), f"older trace: {older}: {done}")
    os.unlink("keep.data.old")


def test_streams():
    """Devices are not moved away, pipes are written to, terminals are refused."""
    done = run([*RECORD, *CLOCK, "-o", "/dev/null", "--", LOAD, "walk", "500"])
    check(done.code == 0 and os.path.exists("/dev/null"), f"/dev/null: {done}")
    done = run([*RECORD, *CLOCK, "-o", "/dev/full", "--", LOAD, "walk", "500"])
    check(done.code == 1 and "No space left" in done.stderr, f"/dev/full: {done}")
    os.mkfifo("fifo")
    done = run([*RECORD, *CLOCK, "-o", "fifo", "--", LOAD, "walk", "500"])
    check(done.code == 1 and "nobody reads" in done.stderr, f"fifo: {done}")
    reader = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    done = run([*RECORD, *CLOCK, "-o", "fifo", "--", LOAD, "walk", "500"])
    with open("fifo.data", "wb") as f:
        f.write(os.read(reader, 1 << 16))
    os.close(reader)
    check(done.code == 0 and verify("fifo.data")["samples"] > 0, f"fifo: {done}")
    done = run([*RECORD, *CLOCK, "-o", "-", "--", LOAD, "walk", "500"])
    with open("stream.data", "wb") as f:
        f.write(done.bytes)
    check(done.code == 0 and verify("stream.data")["verdict"] == "unfinished", f"standard output: {done}")
    code, text = on_terminal([*RECORD, *CLOCK, "-o", "-", "--", LOAD, "walk", "10"], stdout=True)
    check(code == 1 and "refusing to write a trace to a terminal" in text, f"terminal: {code}: {text!r}")


def on_terminal(command, stdout=False):
    """Runs with a terminal as stderr, and as stdout too if asked. (exit code, what was printed)"""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 120, 0, 0))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=side,
                          stdout=side if stdout else subprocess.DEVNULL) as process:
        os.close(side)
        text = b""
        while select.select([main], [], [], 60)[0]:
            try:
                got = os.read(main, 4096)
            except OSError:  # EIO: the last writer has gone
                break
            if not got:
                break
            text += got
    os.close(main)
    return process.returncode, text.decode(errors="replace")


def test_status_line():
    command = [*RECORD, *CLOCK, "-o", "status.data", "--", LOAD, "spin", "1300"]
    code, text = on_terminal(command)
    check(code == 0 and re.search(r"\r\x1b\[K\[ [0-9]+ s  [1-9][0-9]* samples/s  [0-9]+ lost  "
                                  r"[0-9.]+ [kM]?B written \]", text), f"status line: {text!r}")
    check(text.endswith("]\r\n"), f"status line: does not end with the summary: {text!r}")
    code, text = on_terminal([*command[:2], "-q", *command[2:]])
    check(code == 0 and text == "", f"quiet on a terminal: {text!r}")
    done = run(command)
    check(done.code == 0 and "\x1b" not in done.stderr and "\r" not in done.stderr and
          len(lines(done.stderr)) == 1, f"status line in a pipe: {done.stderr!r}")


# Refused by the command line or by the kernel: (options, what the sentence must have).
REFUSED = (
    (["-F", "0"], "-F 0"), (["-F", "x"], "-F x"), (["-F", "999999999"], "max_sample_rate"),
    (["-c", "0"], "-c 0"), (["-c", "-1"], "-c -1"), (["-F", "9", "-c", "9"], "-F and -c"),
    (["-m", "0"], "-m 0"), (["-m", "9999G"], "-m 9999G"), (["-m", "4X"], "-m 4X"),
    (["-z0"], "-z 0"), (["-z99"], "-z 99"), (["-D", "x"], "-D x"), (["-D", "-1"], "-D -1"),
    (["-k", "moon"], "-k moon"), (["--call-graph", "maps"], "--call-graph maps"),
    (["--call-graph", "dwarf,0"], "dwarf"), (["--call-graph", "dwarf,99999"], "65528"),
    (["-p", "x"], "-p x"), (["-t", "0"], "-t 0"), (["-a", "-p", "1"], "-a"),
    (["-G", "a", "-p", "1"], "-G"), (["--all-user", "--all-kernel"], "--all-user"),
    (["-e", "no-such-event"], "no-such-event"), (["-e", "sched:no_such"], "no_such"),
    (["-e", "nosys:no_such"], "nosys"), (["-e", "cpu-clock:z"], "cpu-clock:z"),
    (["-e", "{cpu-clock"], "{cpu-clock"), (["-e", "no_pmu/x=1/"], "no_pmu"),
    (["-e", "sched:sched_switch", "--filter", "no_field == 1"], "no_field"),
    ([*CLOCK, "--filter", "x == 1"], "tracepoint"), (["-e", "mem:0x1001/8:w"], "breakpoint"),
    (["-e", "uprobe/path=/no/such,offset=1/"], "/no/such"),
    (["-C", "99999", *CLOCK], "99999"), (["-C", "x"], "'x'"), (["-C", "3-1"], "'3-1'"),
    (["-a", *CLOCK, "-G", "no-such-cgroup"], "no-such-cgroup"),
    (["-a", *CLOCK, "-G", "a,b"], "a"), (["-o", "/no/such/folder/x"], "/no/such/folder/x"),
    (["-o", "/"], "directory"), (["-o", ""], "-o"), (["--no-such-option"], "no-such-option"),
)


def snapshot_of(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = f.read()
    return found


def refused(options, word, prefix=()):
    """One sentence, a failure, nothing touched."""
    before = snapshot_of(".")
    done = run([*prefix, *RECORD, *options])
    said = lines(done.stderr)
    # Of an option that it does not know, argp tells in a second line where to look.
    said = [line for line in said if not line.startswith("Try `")]
    check(done.code in (1, 2) and len(said) == 1 and said[0].startswith("pevrec"), f"{options}: {done}")
    check(word in done.stderr, f"{options}: does not name {word}: {done}")
    check(done.stdout == "", f"{options}: prints {done.stdout}")
    check(snapshot_of(".") == before, f"{options}: files changed: {sorted(snapshot_of('.'))}")
    return done.stderr


def dead_pid():
    with subprocess.Popen(["true"]) as process:
        pass
    return str(process.pid)


def in_precious_folder(mode=0o755):
    os.mkdir("precious", mode)
    os.chmod("precious", mode)
    os.chdir("precious")
    for name in ("perf.data", "perf.data.old"):
        with open(name, "w") as f:
            f.write(f"precious {name}")


def out_of_precious_folder():
    os.chdir("..")
    shutil.rmtree("precious")


def test_refusals():
    in_precious_folder()
    for options, word in REFUSED:
        refused([*options, "--", "true"], word)
    for option in ("-p", "-t"):
        refused([option, dead_pid()], "No such process")
    out_of_precious_folder()


def sysctl(name):
    with open(f"/proc/sys/kernel/{name}") as f:
        return int(f.read())


def test_unprivileged():
    folder = os.getcwd()
    os.chmod(folder, 0o755)
    for program in (PEVREC, LOAD):
        shutil.copy(program, folder)
        os.chmod(os.path.basename(program), 0o755)
    pevrec, load = os.path.abspath("pevrec"), os.path.abspath("record_load")
    if run([*NOBODY, pevrec, "--version"]).code != 0:
        print("not tested: unprivileged use (the folder of the test cannot be entered by others)")
        return
    paranoid = sysctl("perf_event_paranoid")
    in_precious_folder(0o777)
    RECORD[0] = pevrec
    if paranoid >= 1:
        text = refused(["-a", *CLOCK, "--", "true"], "perf_event_paranoid", NOBODY)
        check("CAP_PERFMON" in text or "CAP_SYS_ADMIN" in text, f"-a: no remedy: {text}")
        refused(["-C", "0", "--", "true"], "perf_event_paranoid", NOBODY)
    if paranoid >= 2:
        refused(["-e", "cpu-clock:k", "--", load, "walk", "10"], "perf_event_paranoid", NOBODY)
    refused([*CLOCK, "-p", "1", "--", "true"], "another user", NOBODY)
    refused(["-e", "sched:sched_switch", "--", "true"], "sched_switch", NOBODY)
    refused([*CLOCK, "--namespaces", "--", load, "walk", "10"], "CAP_PERFMON", NOBODY)
    text = refused([*CLOCK, "-m", "1G", "--", load, "walk", "10"], "perf_event_mlock_kb", NOBODY)
    check("-m" in text and "RLIMIT_MEMLOCK" in text, f"mlock: no remedy: {text}")
    refused(["-o", "/root/x.data", *CLOCK, "--", load, "walk", "10"], "/root/x.data", NOBODY)
    out_of_precious_folder()

    os.mkdir("theirs")
    os.chmod("theirs", 0o777)
    done = run([*NOBODY, *RECORD, *CLOCK, "-o", "theirs/own.data", "--", load, "walk", "2000"])
    said = [line for line in lines(done.stderr) if not line.startswith("[")]
    check(done.code == 0, f"own command, unprivileged: {done}")
    if paranoid >= 2:
        check(len(said) == 1 and "user space only" in said[0] and "perf_event_paranoid" in said[0],
              f"own command, unprivileged: {said}")
    check(verify("theirs/own.data")["samples"] > 0, "own command, unprivileged: no samples")
    RECORD[0] = PEVREC


def test_exclude_perf():
    """Tracepoints of everybody but the recorder, also where there is a filter already."""
    perf = recordlib.perfs()[-1][1]
    for more in ([], ["--filter", "id >= 0 || id < 0"]):
        done = run([*RECORD, "-o", "others.data", "-a", "--exclude-perf", "-e", "raw_syscalls:sys_enter",
                    *more, "--", LOAD, "sleep", "100"])
        shown = run([perf, "script", "-F", "comm,pid", "-i", "others.data"])
        pids = {int(line.split()[-1]) for line in lines(shown.stdout)}
        check(done.code == 0 and "record_load" in shown.stdout and done.pid not in pids,
              f"--exclude-perf {more}: {done}: {len(pids)} processes")


def test_loss():
    perfs = recordlib.perfs()
    for ring in ("1", "2"):
        # What sleeps behind the storm makes records again, with which the kernel tells of its last loss.
        done = run([*RECORD, "-o", "loss.data", "-m", ring, "-a", "-e", "raw_syscalls:sys_enter", "--",
                    LOAD, "threads", "2", "getppid", "150000", "sleep", "30"])
        text = done.stderr
        total = re.search(r"LOST ([0-9]+) records \([0-9.]+ %\).*-m ", text)
        if not check(done.code == 0 and total, f"loss, -m {ring}: {done}"):
            continue
        total = int(total.group(1))
        per_cpu = sum(int(n) for n in re.findall(r"CPU [0-9]+: ([0-9]+)", text))
        per_event = dict(re.findall(r"event (\S+): ([0-9]+)", text))
        check(int(per_event.get("raw_syscalls:sys_enter", 0)) > 0, f"loss: no event named: {text}")
        check(sum(int(n) for n in per_event.values()) == total, f"loss: events do not add up: {text}")
        check(per_cpu == total, f"loss: CPUs do not add up: {text}")
        verdict = verify("loss.data")
        check(verdict["lost"] == verdict["lost_samples"] == total,
              f"loss: in the trace {verdict}, said {total}")
        for version, perf in perfs:
            shown = run([perf, "script", "-F", "event", "--show-lost-events", "-i", "loss.data"]).stdout
            inside = sum(int(n) for n in re.findall(r"PERF_RECORD_LOST lost ([0-9]+)", shown))
            check(inside == total, f"loss: perf {version} script shows {inside} of {total}")
            said = run([perf, "report", "--stdio", "-i", "loss.data"]).stdout
            check(f"Total Lost Samples: {per_event.get('raw_syscalls:sys_enter')}" in said or
                  f"Total Lost Samples: {total}" in said, f"loss: perf {version} report: {said[:300]}")


def main():
    if os.geteuid() != 0:
        recordlib.skip("needs root")
    if not shutil.which("setpriv"):
        recordlib.skip("needs setpriv")
    recordlib.enter_folder()
    for test in (test_exit_status, test_stop, test_end_of_targets, test_empty, test_older_trace,
                 test_streams, test_status_line, test_refusals, test_unprivileged,
                 test_exclude_perf, test_loss):
        print(f"== {test.__name__}", flush=True)
        test()
    recordlib.finish()


main()
