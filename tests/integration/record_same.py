# SPDX-License-Identifier: LGPL-2.1-or-later
"""record_same: the same load, recorded by perf record and by pevrec record in turns, gives as many
samples and the same profile; and DWARF call chains are whole.

What else runs on the machine, and the host below it, disturb a recording now and then. What is
compared is therefore a few recordings of each, and they may be repeated a few times: a recorder that
is wrong is wrong every time."""
import collections
import math
import os
import re
import subprocess

import recordlib
from recordlib import LOAD, PEVREC, check, run

ROUNDS = 2
ATTEMPTS = 3
SPIN_MS = 700
# Samples of a timer in CPU time: so many for each millisecond of the load, whoever counts.
RATE = 1000
COUNT_BOUND = 0.03
# A symbol's share of the samples may differ by so many standard deviations of the difference of two
# binomial proportions, pooled: by chance one comparison in 15,000 would differ by more, and 20 of
# them make an attempt.
SHARE_BOUND = 4.0
CHAINS_BOUND = 0.95

CLOCK = ["-e", "cpu-clock", "-F", str(RATE)]
CASES = {
    "fp, command": ["-g"],
    "fp, whole system": ["-g", "-a"],
    "dwarf, command": ["--call-graph", "dwarf"],
    "dwarf, whole system": ["--call-graph", "dwarf", "-a"],
}


def record(program, options, path):
    quiet = ["-B", "-N"] if program != PEVREC else []
    done = run([program, "record", "-q", *quiet, *CLOCK, *options, "-o", path, "--", LOAD, "spin",
                str(SPIN_MS)])
    check(done.code == 0, str(done))


def samples_by_symbol(perf, path):
    """How many samples of the load fell into each symbol, user space or kernel; None when perf aborts.
    While somebody else records build-ids, the kernel marks mappings of perf's recording as if they
    had one as well (Linux 6.18), which some perfs do not survive."""
    done = run([perf, "report", "--stdio", "--no-children", "-g", "none", "--percentage", "absolute",
                "--comms", "record_load", "-F", "overhead,sample,sym", "-i", path])
    if done.code < 0:
        return None
    check(done.code == 0, str(done))
    counts = collections.Counter()
    for line in done.stdout.splitlines():
        found = re.match(r"\s*[0-9.]+%\s+([0-9]+)\s+(\[\.\] \S.*)$", line)
        if found:
            counts[found.group(2).strip()] += int(found.group(1))
    return counts


def record_in_turns(perf, options):
    """The samples by symbol of both recorders' rounds together."""
    ours, theirs = collections.Counter(), collections.Counter()
    for i in range(ROUNDS):
        turns = [(PEVREC, ours), (perf, theirs)]
        for program, counts in turns if i % 2 else turns[::-1]:
            for _ in range(8):
                record(program, options, "same.data")
                counted = samples_by_symbol(perf, "same.data")
                os.unlink("same.data")
                if counted is not None:
                    break
            check(counted, f"{program}: nothing recorded, or perf cannot read it")
            counts.update(counted or {})
    return ours, theirs


def differences(ours, theirs):
    """What is too different to be chance, in words."""
    n, m = sum(ours.values()), sum(theirs.values())
    print(f"   {n} samples, perf {m}: {100 * (n / m - 1):+.2f} %", flush=True)
    if abs(n / m - 1) > COUNT_BOUND:
        yield f"{n} samples and not {m}"
    top = {symbol for counts in (ours, theirs) for symbol, _ in counts.most_common(20)}
    if len(top) < 20:
        yield f"only {len(top)} symbols: {sorted(top)}"
    worst = 0
    for symbol in top:
        share = (ours[symbol] + theirs[symbol]) / (n + m)
        deviation = math.sqrt(share * (1 - share) * (1 / n + 1 / m))
        z = abs(ours[symbol] / n - theirs[symbol] / m) / deviation
        worst = max(worst, z)
        if z > SHARE_BOUND:
            yield f"{symbol} has {ours[symbol]} of {n} samples, with perf {theirs[symbol]} of {m}"
    print(f"   {len(top)} symbols, the most different by {worst:.1f} standard deviations", flush=True)


def compare_case(perf, name, options):
    print(f"== {name}", flush=True)
    for _ in range(ATTEMPTS):
        ours, theirs = record_in_turns(perf, options)
        found = list(differences(ours, theirs)) if ours and theirs else ["nothing recorded"]
        if not found:
            return
        print(f"   {'; '.join(found)}", flush=True)
    check(False, f"{name}: {ATTEMPTS} times too different: {'; '.join(found)}")


def chains_of(perf, path, comm):
    """The call chains of a program's samples, each a list of symbols from the innermost on."""
    done = run([perf, "script", "--comms", comm, "-F", "ip,sym", "-i", path])
    check(done.code == 0, str(done))
    chains = ([line.split(None, 1)[-1] for line in chain.splitlines() if line.strip()]
              for chain in done.stdout.split("\n\n"))
    return [chain for chain in chains if chain]


def check_chains(perfs, name, comm, path):
    """With DWARF, nearly every call chain must begin where the program did."""
    for version, perf in perfs:
        chains = chains_of(perf, path, comm)
        # In the loader and in the C library's start there is no main yet, in a thread there is none.
        chains = [chain for chain in chains if not any(f.startswith(("_dl_", "dl_")) for f in chain)]
        whole = [chain for chain in chains
                 if re.search(r"\bmain .*libc_start|start_thread|clone", " ".join(chain))]
        share = len(whole) / max(len(chains), 1)
        print(f"   perf {version}: {100 * share:.1f} % of {len(chains)} call chains are whole", flush=True)
        check(len(chains) > 100 and share >= CHAINS_BOUND,
              f"{name}: perf {version}: only {len(whole)} of {len(chains)} call chains are whole")


def check_dwarf(perfs):
    demo = os.path.join(os.environ["BUILD_DIR"], "demo", "demo")
    dwarf = [PEVREC, "record", "-q", *CLOCK, "--call-graph", "dwarf", "-o", "chains.data"]
    for name, comm, command in (("demo", "demo", [demo, "1"]),
                                ("load", "record_load", [LOAD, "spin", "400"]),
                                ("threads", "record_load", [LOAD, "threads", "2", "spin", "300"])):
        print(f"== whole call chains: {name}", flush=True)
        done = run([*dwarf, "--", *command])
        check(done.code == 0, str(done))
        check_chains(perfs, name, comm, "chains.data")
    print("== whole call chains: of a process that ran before", flush=True)
    with subprocess.Popen([LOAD, "until-eof", "-"], stdin=subprocess.PIPE) as before:
        done = run([*dwarf, "-p", str(before.pid), "--", "sleep", "0.5"])
        check(done.code == 0, str(done))
        before.stdin.close()
    check_chains(perfs, "-p", "record_load", "chains.data")


def main():
    if os.geteuid() != 0:
        recordlib.skip("needs root")
    recordlib.enter_folder()
    perfs = recordlib.perfs()
    for name, options in CASES.items():
        compare_case(perfs[0][1], name, options)
    check_dwarf(perfs)
    recordlib.finish()


main()
