# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace is valid at every byte: cut anywhere, or its writer killed at any moment, every whole record is read, by pevrec and by stock perf,
and pevrec verify --seal makes a regular file of it.

What is expected is computed here, from the bytes alone: records are walked and blocks unpacked by libzstd.
"""
import bisect
import ctypes
import ctypes.util
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time

from recordlib import LOAD, PEVREC, check, enter_folder, finish, perfs, quiet_environment, run, said, skip

SEED = 20261120
HEADER = 104
COMPRESSED, SAMPLE = 81, 9
PIPE_CUTS, SEALED_CUTS = 2500, 1500
PERF_CUTS = 60  # of those, read by each perf too

zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
raw = ctypes.create_string_buffer(1 << 20)


def samples_in(record):
    """Samples of one record of the file: itself, or those in the block."""
    if struct.unpack_from("<I", record)[0] != COMPRESSED:
        return int(struct.unpack_from("<I", record)[0] == SAMPLE)
    body = record[8:]
    size = zstd.ZSTD_decompress(raw, ctypes.c_size_t(len(raw)), body, ctypes.c_size_t(len(body)))
    assert size <= len(raw), "a block does not decompress"
    at = count = 0
    while at < size:
        kind, _, length = struct.unpack_from("<IHH", raw, at)
        count += kind == SAMPLE
        at += length
    return count


def walk(data, end):
    """[(offset behind the record, samples up to there)] for every whole record of the file from the first ATTR on."""
    at, samples, marks = HEADER, 0, []
    while at + 8 <= end:
        _, _, size = struct.unpack_from("<IHH", data, at)
        if size < 8 or at + size > end:
            break
        samples += samples_in(data[at : at + size])
        at += size
        marks.append((at, samples))
    return marks


def expected(marks, cut):
    i = bisect.bisect_right(marks, (cut, 1 << 62))
    return marks[i - 1][1] if i else 0


def cut_points(marks, size, nr):
    points = set(range(min(size, 1024)))
    for at, _ in marks:
        points.update(range(max(at - 9, 0), min(at + 10, size)))
    while len(points) < nr:
        points.add(random.randrange(size))
    return sorted(random.sample(sorted(points), nr) if len(points) > nr else points)


def verify_all(paths):
    """{path: what pevrec verify --json says}; those it cannot read at all are missing."""
    done = run([PEVREC, "verify", "--json", *paths], timeout=600)
    check("Sanitizer" not in done.stderr and done.code in (0, 1), f"verify: exit {done.code}: {done.stderr[-300:]}")
    return {said["file"]: said for said in map(json.loads, done.stdout.splitlines())}


def perf_samples(perf, path):
    done = run([perf, "script", "-i", path, "-G", "-F", "time,event"], env=quiet_environment(), timeout=300)
    return len(re.findall(r"^ *[0-9.]+: +cpu-clock", done.stdout, re.M)), done


def copies(data, points):
    """Writes data cut at each point; yields (cut, path) in handfuls, and removes them."""
    for i in range(0, len(points), 250):
        batch = []
        for cut in points[i : i + 250]:
            path = f"cut-{cut}.data"
            with open(path, "wb") as f:
                f.write(data[:cut])
            batch.append((cut, path))
        yield batch
        for _, path in batch:
            os.unlink(path)


def unfinished(name, data):
    """Cuts of a trace that was never sealed."""
    marks = walk(data, len(data))
    first_attr = marks[0][0]
    points = cut_points(marks, len(data), PIPE_CUTS)
    for_perf = set(random.sample([p for p in points if p >= marks[-1][0] // 8], PERF_CUTS))
    for batch in copies(data, points):
        found = verify_all([path for _, path in batch])
        for cut, path in batch:
            if cut < first_attr:
                continue  # nothing but a header: there is nothing to read
            want = expected(marks, cut)
            if not check(path in found and found[path]["samples"] == want,
                         f"{name} cut at {cut}: {want} samples expected, verify says {found.get(path)}"):
                continue
            if cut in for_perf:
                for version, perf in perfs():
                    n, done = perf_samples(perf, path)
                    check(n == want, f"{name} cut at {cut}: perf {version} reads {n} of {want} samples: {done}")
        sealed([b for b in batch if b[0] >= first_attr], marks, name, for_perf)


def sealed(batch, marks, name, for_perf):
    """Seals each of the batch; it must be a regular file with all that was whole."""
    if not batch:
        return
    run([PEVREC, "verify", "--seal", "-q", *[path for _, path in batch]], timeout=600)
    found = verify_all([path for _, path in batch])
    for cut, path in batch:
        want = expected(marks, cut)
        check(path in found and found[path]["verdict"] == "whole" and found[path]["samples"] == want,
              f"{name} cut at {cut} and sealed: {want} samples expected, verify says {found.get(path)}")
        if cut in for_perf and want:
            for version, perf in perfs():
                n, done = perf_samples(perf, path)
                check(n == want and not done.code, f"{name} cut at {cut}, sealed: perf {version} reads {n} of {want}: {done}")
                check(not said(done), f"{name} cut at {cut}, sealed: perf {version} says {said(done)}")


def was_sealed(name, data):
    """Cuts of a regular file: its tables are gone, but not what they were made from."""
    start, size = struct.unpack_from("<QQ", data, 40)
    marks = walk(data, start + size)
    points = [p for p in cut_points(marks, len(data), SEALED_CUTS) if p >= start]
    for_perf = set(random.sample(points, PERF_CUTS // 2))
    for batch in copies(data, points):
        sealed(batch, marks, f"{name}, sealed before,", for_perf)


def killed():
    """kill -9 at any moment: while the world is told, while samples come, around the seal."""
    for i in range(60):
        path = f"kill-{i}.data"
        # A session of its own: what it started goes with it.
        p = subprocess.Popen([PEVREC, "record", "-q", "-a", "-F", "5000", "-g", "-o", path, "--", "sleep", "0.3"],
                             stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(random.random() * 0.9)
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        if not os.path.exists(path) or os.path.getsize(path) < 512:
            continue
        with open(path, "rb") as f:
            data = f.read()
        whole = verify_all([path]).get(path)
        if not check(whole and whole["verdict"] in ("whole", "unfinished", "cut"), f"killed: {path}: {whole}"):
            continue
        n, done = perf_samples(perfs()[i % len(perfs())][1], path)
        check(n == whole["samples"], f"killed: perf reads {n} of {whole['samples']} samples: {done}")
        marks = walk(data, len(data))
        if whole["verdict"] != "whole" and marks:
            sealed([(len(data), path)], marks, "killed", {len(data)})


def killed_in_the_seal():
    """The one weak spot: the tables are written, the header is not."""
    if not shutil.which("strace"):
        return
    for call in ("pwrite64", "fsync"):
        for when in (1, 2, 3):
            path = f"seal-{call}-{when}.data"
            run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e",
                 f"inject={call}:signal=KILL:when={when}", PEVREC, "record", "-q", "-e", "cpu-clock", "-o", path, "--",
                 LOAD, "spin", "200"], env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
            if not os.path.exists(path):
                continue
            with open(path, "rb") as f:
                data = f.read()
            marks = walk(data, len(data))
            want = marks[-1][1] if marks else 0
            run([PEVREC, "verify", "--seal", "-q", path])
            found = verify_all([path]).get(path)
            check(found and found["verdict"] == "whole" and found["samples"] == want and want,
                  f"killed at {call} {when}: {want} samples expected, verify says {found}")


def full_disk():
    """What fits stays readable, the rest is told in one sentence."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = run([PEVREC, "record", "-q", "-a", "-F", "20000", "-g", "-o", "full.data", "--", "sleep", "5"],
               preexec_fn=limit)
    check(done.code == 1 and done.stderr.count("\n") == 1 and "full.data" in done.stderr and "File too large" in done.stderr,
          f"full disk: {done}")
    found = verify_all(["full.data"]).get("full.data")
    check(found and found["verdict"] == "unfinished", f"full disk: {found}")
    for version, perf in perfs():
        n, perf_done = perf_samples(perf, "full.data")
        check(found and n == found["samples"], f"full disk: perf {version} reads {n} of {found}: {perf_done}")


def record(*options):
    """A trace as the recorder leaves it while it is open, with load from every side."""
    done = run([PEVREC, "record", "-q", *options, "-o", "-", "--", "sh", "-c",
                "for i in 1 2 3 4 5 6; do ls / >/dev/null; done; seq 20000 | sort -R | sort -n >/dev/null"])
    check(done.code == 0 and done.bytes, f"record: {done}")
    return done.bytes


def main():
    if os.geteuid():
        skip("needs root")
    enter_folder()
    print(f"seed {SEED}")
    random.seed(SEED)
    unfinished("fp", record("-a", "-F", "9000", "-g"))
    unfinished("dwarf", record("-F", "2000", "--call-graph", "dwarf,2048"))
    run([PEVREC, "record", "-q", "-a", "-F", "9000", "-g", "-o", "sealed.data", "--", "sleep", "0.4"])
    with open("sealed.data", "rb") as f:
        was_sealed("fp", f.read())
    killed()
    killed_in_the_seal()
    full_disk()
    finish()


main()
