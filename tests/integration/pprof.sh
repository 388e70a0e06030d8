# SPDX-License-Identifier: LGPL-2.1-or-later
# The pprof export, in the eyes of go tool pprof.
. "${BASH_SOURCE%/*}/lib.sh"

need_program go python3
"$PEVREC" record -e cpu-clock -F 499 -g -o one.data -- \
	python3 -c 'import time
until = time.monotonic() + 1
while time.monotonic() < until: sorted(range(1000))' 2>log || skip "nothing can be recorded: $(cat log)"
recorded=$(grep -oE '[0-9]+ samples' log | cut -d' ' -f1)
"$PEVREC" export --format pprof -o one.pb.gz one.data

export PPROF_TMPDIR=$TEST_DIR
go tool pprof -symbolize=none -raw one.pb.gz >raw
# A sample is "count nanoseconds: locations" and then its labels.
counted=$(awk '/^Locations/ { exit } $2 ~ /:$/ && $1 ~ /^[0-9]+$/ { n += $1 } END { print n }' raw)
[ "$counted" = "$recorded" ] || fail "pprof has $counted samples, $recorded were recorded"
grep -q '^samples/count cpu/nanoseconds\[dflt\]' raw || fail "the types of values: $(sed -n 1,6p raw)"
grep -q "comm:\[python3\]" raw || fail "no label of the thread's name"
for label in cpu pid tid; do
	grep -qE "\b$label:\[[0-9]+\]" raw || fail "no labels of $label"
done

go tool pprof -symbolize=none -top one.pb.gz >top
grep -q '^Type: cpu' top && grep -q '^Duration: ' top || fail "no head: $(cat top)"
grep -qE '^Showing nodes accounting for .*ms' top || fail "no times: $(cat top)"
"$PEVREC" export --format folded -o folded one.data
name=$(sed -E 's/ [0-9]+$//; s/.*;//' folded | grep -E '^[A-Za-z_]\w+$' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
go tool pprof -symbolize=none -peek "^$name\$" one.pb.gz >peek
grep -q "| *$name" peek || fail "$name is not in: $(cat peek)"
sed -n '/^Mappings/,$p' raw | grep -qE ' [0-9a-f]{40} .*\[FN\]' ||
	fail "no mapping has a build-id: $(sed -n '/^Mappings/,$p' raw)"
