# SPDX-License-Identifier: LGPL-2.1-or-later
# Parts of traces as traces: perf sees in them what it sees in the whole with the same filter.
. "${BASH_SOURCE%/*}/lib.sh"

load='import time
until = time.monotonic() + 1
while time.monotonic() < until: sorted(range(1000))'
for i in 1 2; do
	"$PEVREC" record -e cpu-clock -F 499 -g -o $i.data -- python3 -c "$load" 2>log ||
		skip "nothing can be recorded: $(cat log)"
done
fields=comm,tid,pid,time,cpu,event,ip,sym,dso,period

# same_as WHOLE PART [PERF-OPTION...]: perf says the same of both, with the options for the whole.
same_as() {
	local whole=$1 part=$2
	shift 2
	"$P" script -F $fields "$@" -i "$whole" >whole.txt 2>/dev/null
	"$P" script -F $fields -i "$part" >part.txt 2>complaints
	[ -s whole.txt ] || fail "perf script $* has nothing of $whole"
	[ ! -s complaints ] || fail "perf complains about $part: $(cat complaints)"
	cmp whole.txt part.txt || fail "$part is not what perf script $* has of $whole"
}

pid=$(( $("$PEVREC" export --format speedscope 1.data | jq '.profiles[0].name | capture("pid (?<p>[0-9]+)").p | tonumber') ))
"$PEVREC" export --format perfdata -o all.data 1.data
"$PEVREC" export --format perfdata -o time.data --time 20%-40% 1.data
"$PEVREC" export --format perfdata -o pid.data --pid $pid 1.data
"$PEVREC" export --format perfdata -o comm.data --comm python3 1.data
"$PEVREC" export --format perfdata 1.data >pipe.data
[ "$("$PEVREC" export --format folded pipe.data)" = "$("$PEVREC" export --format folded 1.data)" ] ||
	fail "a part in pipe mode has other samples"
"$PEVREC" verify all.data time.data pid.data comm.data

all_parts() {
	same_as 1.data all.data
	same_as 1.data time.data --time 20%-40%
	same_as 1.data pid.data --pid "$pid"
	same_as 1.data comm.data --comm python3
	same_as 1.data pipe.data
}
each_perf all_parts

# Several traces of the same events become one with both samples.
"$PEVREC" export --format perfdata -o both.data 1.data 2.data
"$PEVREC" export --format folded both.data >both.folded
"$PEVREC" export --format folded 1.data 2.data >two.folded
cmp both.folded two.folded || fail "two traces in one have other samples"

# A failure leaves no file behind.
printf 'PERFILE2 and nothing' >bad.data
! "$PEVREC" export --format perfdata -o bad.out bad.data 2>complaints || fail "that was no trace"
[ -s complaints ] || fail "nothing was said about it"
[ -z "$(ls bad.out* 2>/dev/null)" ] || fail "something was left behind"

# Nor does a signal, however much was written: the pipe has a trace in it, and no end.
for format in perfdata pprof; do
	mkfifo $format.pipe
	exec 9<>$format.pipe
	cat pipe.data >&9 &
	"$PEVREC" export --format $format -o stopped -i - <$format.pipe 9<&- &
	export=$!
	wait_for 20 compgen -G 'stopped*' >/dev/null
	kill -TERM $export
	! wait $export || fail "$format: a signal is no success"
	[ -z "$(ls stopped* 2>/dev/null)" ] || fail "$format: a signal left $(ls stopped*)"
	exec 9>&-
done
