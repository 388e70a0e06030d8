#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# How long the existing world takes to tell, beside perf record, with many processes alive.
#
# usage: tests/bench/snapshot.sh [BUILD-DIRECTORY [PROCESSES [MAPPINGS [PERF...]]]]
#
# Defaults: build 2000 100 perf. In turns, five times: bench_snapshot into a file, and each PERF
# from the last event it opens to the enabling of its events, which is its synthesis (read off with
# strace, which with --seccomp-bpf slows nothing but the two system calls that it shows).
set -euo pipefail

build=${1:-build}
processes=${2:-2000}
mappings=${3:-100}
shift $(($# < 3 ? $# : 3))
[ $# -gt 0 ] || set -- perf
dir=$(mktemp -d)
coproc CROWD { exec "$build/tests/bench/many_procs" "$processes" "$mappings"; }
crowd=$CROWD_PID
trap 'kill "$crowd" 2>/dev/null || true; rm -rf "$dir"' EXIT
read -r ready <&"${CROWD[0]}"
[ "$ready" = ready ]

# Prints the milliseconds between the last perf_event_open and the last enabling.
perf_ms() {
	strace --seccomp-bpf -f -ttt -o "$dir/strace" -e trace=perf_event_open,ioctl \
		"$1" record -q -a -e dummy -o "$dir/perf.data" -- true >/dev/null 2>&1
	awk '/perf_event_open\(/ { open = $2 } /PERF_EVENT_IOC_ENABLE/ { enable = $2 }
	     END { printf "%.0f", (enable - open) * 1000 }' "$dir/strace"
}

for turn in 1 2 3 4 5; do
	"$build/tests/bench/bench_snapshot" -r 1 "$dir/snapshot.data" | sed -n 's/^written/pevrec/p'
	for perf in "$@"; do
		echo "$perf $(perf_ms "$perf") ms: $(stat -c %s "$dir/perf.data") bytes"
	done
done
