#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# compare.sh UNWIND_COMPARE CC SOURCE_DIR: has perf record some programs with their stacks, and holds
# the unwinder to libdwfl over the samples. Exit 77 = skipped.
set -euo pipefail
compare=$1 cc=$2 source=$3

perf=${PERF:-$(command -v perf || true)}
[ -n "$perf" ] || { echo "skipped: perf is not installed"; exit 77; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/pevrec-test.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export HOME=$dir

# Without looking for build-ids (-B), at which perf 6.1 aborts when somebody else records with
# build-ids at the same time (see mend_mmap2() in perfdata.c).
"$perf" record -q -B -e cpu-clock:u -o probe.data true >probe.log 2>&1 ||
	{ echo "skipped: perf may not record here: $(tail -n 1 probe.log)"; exit 77; }

record() {
	local name=$1
	shift
	"$perf" record -q -B -F 2000 -e cpu-clock:u --call-graph dwarf,8192 -o "$name.data" "$@" \
		>"$name.log" 2>&1 || { cat "$name.log" >&2; exit 1; }
	traces+=("$name.data")
}

traces=()
record compiler "$cc" -D_GNU_SOURCE -O3 -g -c -o fixture.o "$source/fixture.c"
record shell bash -c 'for ((i = 0; i < 30000; i++)); do x=${x:0:100}$((i * 7)); done'
if command -v python3 >/dev/null; then
	record python python3 -c 'import json
for i in range(20):
    json.loads(json.dumps({str(k): [k] * 5 for k in range(2000)}))'
fi
"$compare" "${traces[@]}"
