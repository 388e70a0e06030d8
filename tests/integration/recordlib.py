# SPDX-License-Identifier: LGPL-2.1-or-later
"""For the tests of pevrec record: their world, a folder of their own, the perfs, and what they say."""
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PEVREC = os.environ["PEVREC"]
LOAD = os.path.join(os.environ["BUILD_DIR"], "tests", "integration", "record_load")

# perf says this of every conversion, good or bad.
CONVERTED = re.compile(r"^\[ perf data convert: ")

failures = []


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def check(good, what):
    """Notes a failure and goes on: one run shall tell all there is to tell."""
    if not good:
        failures.append(what)
        print(f"FAILED: {what}", flush=True)
    return good


def finish():
    if failures:
        print(f"{len(failures)} checks failed")
    sys.exit(1 if failures else 0)


def enter_folder():
    """A new current folder, gone at the end. perf keeps its build-id cache below HOME."""
    folder = tempfile.mkdtemp(prefix="pevrec-test.", dir=os.environ.get("TMPDIR", "/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chdir(folder)
    os.mkdir("home")
    os.environ["HOME"] = os.path.join(folder, "home")
    for name in ("DEBUGINFOD_URLS", "PERF_EXEC_PATH", "PERF_CONFIG"):
        os.environ.pop(name, None)
    return folder


def perfs():
    """[(name, path)], from the oldest to the newest."""
    found = []
    for variable in ("PERF", "PERF_TRIXIE", "PERF_SID"):
        path = os.environ.get(variable, "")
        if path and os.access(path, os.X_OK):
            version = run([path, "--version"]).stdout.split()[-1]
            found.append((version, path))
    if not found:
        skip("needs perf (./tests/run gets it)")
    return found


class Done:
    """What a program said and how it ended."""

    def __init__(self, command, process, out, err):
        self.command, self.code, self.pid = command, process.returncode, process.pid
        self.bytes = out
        self.stdout = out.decode(errors="replace")
        self.stderr = err.decode(errors="replace")

    def __str__(self):
        tail = (self.stderr or self.stdout).strip().splitlines()[-5:]
        return f"{' '.join(self.command)}: exit {self.code}: " + " | ".join(tail)


def run(command, stdin=subprocess.DEVNULL, timeout=60, **more):
    """Runs @command to its end; standard input is a file object or a path."""
    opened = open(stdin, "rb") if isinstance(stdin, str) else None
    try:
        with subprocess.Popen(command, stdin=opened or stdin, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **more) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += f"\nstill ran after {timeout} s".encode()
            return Done(command, process, out, err)
    finally:
        if opened:
            opened.close()


def said(done):
    """The lines of stderr, without what differs from run to run: paths, addresses, numbers."""
    lines = set()
    for line in re.split(r"[\r\n]+", done.stderr):
        line = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line).strip()
        if not line or CONVERTED.match(line):
            continue
        # Of a file in perf's own cache of build-ids, which perf script fills while addr2line reads it.
        if line.startswith("addr2line:") and "/.debug/.build-id/" in line:
            continue
        line = re.sub(r"\S*\.data\b", "FILE", line)
        line = re.sub(r"0x[0-9a-f]+", "N", line)
        lines.add(re.sub(r"[0-9]+(\.[0-9]+)?", "N", line))
    return lines


def verify(path):
    """What pevrec verify says of a trace, as a dict."""
    done = run([PEVREC, "verify", "--json", path])
    if not check(done.code == 0, f"verify: {done}"):
        return {"samples": -1}
    return json.loads(done.stdout)


def symbol_address(program, symbol):
    """Where nm says it is."""
    for line in run(["nm", program]).stdout.splitlines():
        words = line.split()
        if words[-1] == symbol:
            return int(words[0], 16)
    raise KeyError(symbol)


def quiet_environment():
    """perf script of all ages: no pager, no colours."""
    return dict(os.environ, PAGER="cat", TERM="dumb")
