# SPDX-License-Identifier: LGPL-2.1-or-later
# The same spelling of -e, given to pevrec and to perf, must become the same events: names, attr
# fields and, for tracepoints, the description that readers need, byte for byte.
self=$(readlink -f "$0")
. "$(dirname "$self")/lib.sh"

need_root
need_program unshare python3

# perf mounts tracefs where it is not; so that the machine stays as it is, both run in a mount
# namespace of their own.
if [ -z "${PEVREC_TEST_UNSHARED:-}" ]; then
	PEVREC_TEST_UNSHARED=1 unshare --mount --propagation private bash "$self"
	exit
fi
[ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing ||
	skip "tracefs cannot be mounted"

# What decides which event it is; exclude_guest is left out, which perf before 6.14 sets and later
# ones do not, and so are the names of perf's own side-band events.
events_of() {
	"$P" evlist -v -i "$1" 2>/dev/null | grep -v '^dummy:[HGu]*:\|^# ' | sed -E '
		s/: size: [0-9]+//; s/, size: [0-9]+//
		s/^([^,]*[^:,]): type/\1, type/; s/^([^,]*): config/\1, config/
		s/:?, \{ sample_period, sample_freq \}: 4000//
		s/, (sample_type|read_format): [^,]*//g
		s/, (disabled|inherit|mmap2?|comm|freq|enable_on_exec|task|sample_id_all|comm_exec|ksymbol|bpf_event|cgroup|text_poke|build_id|use_clockid|exclude_guest|watermark): 1//g
		s/, \{ wakeup_events, wakeup_watermark \}: [0-9]+//; s/, clockid: [0-9]+//
		s/:$//'
}

# The bytes of the feature TRACING_DATA (bit 1), the first of the table behind the data.
tracing_data_of() {
	python3 - "$1" <<-'PYTHON'
	import struct, sys
	d = open(sys.argv[1], 'rb').read()
	data, size = struct.unpack_from('<2Q', d, 40)
	if struct.unpack_from('<Q', d, 72)[0] & 2:
	    offset, n = struct.unpack_from('<2Q', d, data + size)
	    sys.stdout.buffer.write(d[offset:offset + n])
	PYTHON
}

same_events() {
	local spec
	while read -r spec; do
		"$P" record -B -N -q -o theirs -e "$spec" true >log 2>&1 ||
			fail "perf record -e '$spec': $(cat log)"
		# A trace without samples is one all the same.
		"$PEVREC" record -q -o ours -e "$spec" -- true >log 2>&1 || grep -q 'no samples' log ||
			fail "pevrec record -e '$spec': $(cat log)"
		events_of theirs >theirs.txt
		events_of ours >ours.txt
		diff theirs.txt ours.txt || fail "-e '$spec' differs from that of $("$P" --version)"
		tracing_data_of theirs >theirs.bin
		tracing_data_of ours >ours.bin
		cmp theirs.bin ours.bin || fail "the tracepoints of -e '$spec' are described otherwise"
	done <<-'SPELLINGS'
		task-clock:u,page-faults,faults:k,context-switches,cs:uk,migrations:ukh
		minor-faults:G,major-faults:H,alignment-faults:GH
		cpu-clock:I,cpu-clock
		dummy,bpf-output,cgroup-switches,1:2,0x1:0x3:u
		{cpu-clock,cs}
		{cpu-clock,cs}:S
		{cpu-clock:u,cs:k}:h
		{cpu-clock,cs}:k,faults
		cpu-clock/period=100000/,cpu-clock/freq=99,name=xx/u,cpu-clock/period=010000/k
		mem:0x1000,mem:0x1000/8:rw:u
		mem:0x1000/1:w,mem:0x1000:x:u
		sched:sched_switch
		sched:sched_switch:k,sched:sched_w*
		sched:*,syscalls:sys_enter_open*,cs
		{cs,sched:sched_switch}
		raw_syscalls:sys_enter,sched:sched_switch,sched:sched_switch
	SPELLINGS
}

each_perf same_events
