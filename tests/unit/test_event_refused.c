// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is said of spellings that mean nothing: each names the event, says why and what to do. */
#include "test.h"

#include "base/cleanup.h"
#include "fake_machine.h"
#include "recorder/tracepoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define _cleanup_evlist_  _cleanup_(pev_evlist_done)
#define _cleanup_machine_ _cleanup_(fake_machine_done)

#define LIST_OR_RAW                                                             \
	"perf list shows what there is; an event of the CPU maker's manual is " \
	"written as cpu/event=0x..,umask=0x../ or rNNNN"
#define MODIFIERS "there are u k h G H p P I S D and e, see perf-list(1)"
#define TERMS                                                                  \
	"there are name, period, freq, time, inherit, no-inherit, max-stack, " \
	"call-graph, stack-size"
#define FIELDS     "acr_mask, any, cmask, event, fourth, inv, ldlat, odd, split, third, umask"
#define NOT_NUMBER "is not a number of 64 bits: write digits, or hexadecimal ones behind 0x"
#define EMPTY_TERM "a term is empty: put NAME or NAME=VALUE between the commas"
#define ONE_SLASH  "lacks the slash that ends its terms: write PMU/TERM,TERM/MODIFIERS"

struct refusal {
	const char *spec;
	int code;
	const char *msg; /* "%" stands for the folder of the fake machine */
};

/* Puts @dir for the first "%" of @msg. */
static void spell_out(const char *msg, const char *dir, char *buf, size_t size)
{
	const char *const at = strchr(msg, '%');

	if (at)
		(void)snprintf(buf, size, "%.*s%s%s", (int)(at - msg), msg, dir, at + 1);
	else
		(void)snprintf(buf, size, "%s", msg);
}

static void check(const struct fake_machine *m, const struct refusal *refusals, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		_cleanup_evlist_ struct pev_evlist list = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		char msg[1024];

		spell_out(refusals[i].msg, m->dir, msg, sizeof(msg));
		if (pev_evlist_parse_from(&list, refusals[i].spec, &m->sources, &err) >= 0)
			fail_msg("'%s' is taken", refusals[i].spec);
		if (err.code != refusals[i].code || strcmp(err.msg, msg))
			fail_msg("'%s' is refused with %d\n%s\nand not %d\n%s", refusals[i].spec,
				 err.code, err.msg, refusals[i].code, msg);
		/* The code does not depend on somebody listening. */
		assert_int_equal(pev_evlist_parse_from(&list, refusals[i].spec, &m->sources, NULL),
				 refusals[i].code);
		assert_int_equal(list.nr, 0);
	}
}

static void test_names(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "cylces", -ENOENT, "unknown event 'cylces': did you mean 'cycles'?" },
		{ "cylces:u", -ENOENT, "unknown event 'cylces': did you mean 'cycles'?" },
		{ "instr", -ENOENT,
		  "unknown event 'instr': did you mean 'instructions' or 'branch-instructions'?" },
		{ "L1-dcache-loades", -ENOENT,
		  "unknown event 'L1-dcache-loades': did you mean 'L1-dcache-loads', "
		  "'L1-icache-loads' or 'L1-dcache-stores'?" },
		{ "tsk", -ENOENT, "unknown event 'tsk': did you mean 'tsc'?" },
		{ "inst_retired.any", -ENOENT, "unknown event 'inst_retired.any': " LIST_OR_RAW },
		{ "x", -ENOENT, "unknown event 'x': " LIST_OR_RAW },
		{ "rg", -ENOENT, "unknown event 'rg': " LIST_OR_RAW },
		{ "r11112222333344445", -ENOENT,
		  "unknown event 'r11112222333344445': " LIST_OR_RAW },
		{ "..", -ENOENT, "unknown event '..': " LIST_OR_RAW },
		{ "L1-dcache-loads-loads", -ENOENT,
		  "unknown event 'L1-dcache-loads-loads': did you mean 'L1-dcache-loads' or "
		  "'L1-dcache-load-misses'?" },
		{ "iTLB-stores", -EINVAL,
		  "event 'iTLB-stores' does not exist: that cache is not asked for this operation; "
		  "perf list cache shows those that are" },
		{ "duration_time", -EINVAL,
		  "event 'duration_time': it is a figure of perf stat and takes no samples" },
		{ "msr", -EINVAL,
		  "'msr' is a PMU, not an event: write msr/EVENT/ with one of %/pmus/msr/events" },
		{ ":u", -EINVAL,
		  "event ':u' has no name before its colon: write EVENT:MODIFIERS or "
		  "SYSTEM:TRACEPOINT" },
		{ "2:372", -EINVAL,
		  "event '2:372' names a tracepoint or breakpoint by its number: write SYSTEM:NAME "
		  "for the one and mem:ADDRESS for the other" },
		{ "breakpoint/config1=3/", -EINVAL,
		  "event 'breakpoint/config1=3/' names a tracepoint or breakpoint by its number: "
		  "write SYSTEM:NAME for the one and mem:ADDRESS for the other" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
}

static void test_lists_and_groups(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "", -EINVAL,
		  "in '' an event is missing at the end: put one there, or take the comma or brace "
		  "away" },
		{ "cs,", -EINVAL,
		  "in 'cs,' an event is missing at the end: put one there, or take the comma or "
		  "brace away" },
		{ "cycles,,cs", -EINVAL,
		  "in 'cycles,,cs' an event is missing before ',cs': put one there, or take the "
		  "comma or brace away" },
		{ "{}", -EINVAL,
		  "in '{}' an event is missing before '}': put one there, or take the comma or "
		  "brace away" },
		{ "cycles,{cs", -EINVAL, "in 'cycles,{cs' the group is not closed: add a '}'" },
		{ "cs}", -EINVAL,
		  "in 'cs}' there is a '}' too many before '}': events are separated by commas and "
		  "grouped by one pair of braces" },
		{ "{cs,{cycles}}", -EINVAL,
		  "in '{cs,{cycles}}' there is a group in a group: the kernel has only one level, "
		  "so write {a,b,c}" },
		{ "{cs}x", -EINVAL,
		  "in '{cs}x' the group is followed by 'x': only a comma, or ':' and modifiers, "
		  "can "
		  "stand there" },
		{ "{cs}/u", -EINVAL,
		  "in '{cs}/u' the group is followed by '/u': only a comma, or ':' and modifiers, "
		  "can stand there" },
		{ "{cs:pp,faults}:pp", -EINVAL,
		  "event 'cs:pp' in a group: precise_ip goes up to 3 (ppp), but the modifiers ask "
		  "for 4: leave some p out, or write P for the best there is" },
		{ "{cycles,cs:D}", -EINVAL,
		  "event 'cs:D' does not lead its group, so the kernel will not pin it (D) or "
		  "count "
		  "it alone (e): put that behind the brace, as in {...}:D" },
		{ "cycles:x", -EINVAL, "event 'cycles:x': unknown modifier 'x': " MODIFIERS },
		{ "cycles:pp:k", -EINVAL, "event 'cycles:pp:k': unknown modifier ':': " MODIFIERS },
		{ "cycles:uu", -EINVAL,
		  "event 'cycles:uu': the modifier 'u' is given twice: leave one out" },
		{ "{cs}:PP", -EINVAL,
		  "event 'cs' in a group: the modifier 'P' is given twice: leave one out" },
		{ "cycles:W", -EINVAL,
		  "event 'cycles:W': the modifier 'W' (weak group) is not known: leave the braces "
		  "out, so that each event counts by itself" },
		{ "cycles:b", -EINVAL,
		  "event 'cycles:b': the modifier 'b' counts inside a BPF program and cannot "
		  "sample: leave it out" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
}

static void test_terms(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "cs/", -EINVAL, "event 'cs/' " ONE_SLASH },
		{ "cs/period=1", -EINVAL, "event 'cs/period=1' " ONE_SLASH },
		{ "cs/name='x/", -EINVAL, "event 'cs/name='x/' " ONE_SLASH },
		{ "cs/period=1/u/x", -EINVAL,
		  "event 'cs/period=1/u' has a third slash behind it: put all its terms between "
		  "the "
		  "first two, and a path that holds slashes in quotes" },
		{ "cs/period=/", -EINVAL,
		  "event 'cs/period=/': the term 'period=' has no value: give one, or leave '=' "
		  "out" },
		{ "cs/=3/", -EINVAL, "event 'cs/=3/': " EMPTY_TERM },
		{ "cs/period=1,/", -EINVAL, "event 'cs/period=1,/': " EMPTY_TERM },
		{ "cs/,/", -EINVAL, "event 'cs/,/': " EMPTY_TERM },
		{ "cs/name='x'y/", -EINVAL,
		  "event 'cs/name='x'y/': the quoted value of 'name' does not end with its quote: "
		  "put quotes around the whole value" },
		{ "cs/name=''/", -EINVAL,
		  "event 'cs/name=''/': the name is empty: give one, or leave name= out" },
		{ "cs/inherit=1/", -EINVAL,
		  "event 'cs/inherit=1/': the term 'inherit' takes no value: leave '=1' out" },
		{ "cs/call-graph/", -EINVAL,
		  "event 'cs/call-graph/': the term 'call-graph' needs a value: call-graph=..." },
		{ "cs/call-graph=foo/", -EINVAL,
		  "event 'cs/call-graph=foo/': call-graph=foo is none of no, fp, dwarf and lbr" },
		{ "cs/max-stack=0/", -EINVAL,
		  "event 'cs/max-stack=0/': max-stack=0 is not from 1 to 65535 frames" },
		{ "cs/stack-size=65529/", -EINVAL,
		  "event 'cs/stack-size=65529/': stack-size=65529 is not from 8 to 65528 bytes" },
		{ "cs/time=0/", -EINVAL,
		  "event 'cs/time=0/': time=0 cannot be honoured, since every sample carries its "
		  "time: leave it out" },
		{ "cs/period=0/", -EINVAL,
		  "event 'cs/period=0/': period=0 takes no samples: give at least 1 and less than "
		  "2^63" },
		{ "cs/period=-1/", -EINVAL,
		  "event 'cs/period=-1/': the value of period=-1 " NOT_NUMBER },
		{ "cs/period=0x1ffffffffffffffff/", -EINVAL,
		  "event 'cs/period=0x1ffffffffffffffff/': the value of "
		  "period=0x1ffffffffffffffff " NOT_NUMBER },
		{ "cs/config=1/", -EINVAL, "event 'cs/config=1/': unknown term 'config': " TERMS },
		{ "cs/fred=1/", -EINVAL,
		  "event 'cs/fred=1/': unknown term 'fred': did you mean 'freq'?" },
		{ "cs/percore/", -EINVAL,
		  "event 'cs/percore/': the term 'percore' cannot be honoured: it adds up the "
		  "counts of perf stat: leave it out" },
		{ "sched:sched_switch/name=x/", -EINVAL,
		  "event 'sched:sched_switch/name=x/': a tracepoint cannot be renamed, since "
		  "readers of the trace find its fields by its name: leave name= out" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
}

static void test_pmus(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "cpuu/cycles/", -ENOENT, "unknown PMU or event 'cpuu': did you mean 'cpu'?" },
		{ "foo/bar/", -ENOENT,
		  "unknown PMU or event 'foo': ls /sys/bus/event_source/devices shows the PMUs of "
		  "this machine" },
		{ "memloads", -ENOENT, "unknown event 'memloads': did you mean 'mem-loads'?" },
		{ "cpu/cycels/", -ENOENT,
		  "event 'cpu/cycels/': PMU cpu has no event and no field 'cycels': did you mean "
		  "'cycles'?" },
		{ "cpu/umaks=1/", -ENOENT,
		  "event 'cpu/umaks=1/': PMU cpu has no event and no field 'umaks': did you mean "
		  "'umask' or 'cmask'?" },
		{ "cpu/foo=1/", -ENOENT,
		  "event 'cpu/foo=1/': PMU cpu has no event and no field 'foo': its fields "
		  "are " FIELDS },
		{ "software/foo/", -ENOENT,
		  "event 'software/foo/': PMU software has no event and no field 'foo': it has "
		  "none "
		  "at all" },
		{ "cpu/event=0x100/", -EINVAL,
		  "event 'cpu/event=0x100/': event=0x100 is too big: that field of PMU cpu goes up "
		  "to 0xff" },
		{ "cpu/event=x/", -EINVAL,
		  "event 'cpu/event=x/': the value of event=x " NOT_NUMBER },
		{ "cpu/param/", -EINVAL,
		  "event 'cpu/param/': event 'param' of PMU cpu needs a value for event: write "
		  "cpu/param,event=.../" },
		{ "param", -EINVAL,
		  "event 'param': event 'param' of PMU cpu needs a value for event: write "
		  "cpu/param,event=.../" },
		{ "cpu/odd=1/", -EBADMSG,
		  "event 'cpu/odd=1/': cannot make sense of %/pmus/cpu/format/odd: Bad message" },
		{ "cpu/wrong/", -EBADMSG,
		  "event 'cpu/wrong/': cannot make sense of %/pmus/cpu/events/wrong: the PMU has "
		  "no "
		  "field 'nothing'" },
		{ "cpu/topdown-total-slots.scale/", -ENOENT,
		  "event 'cpu/topdown-total-slots.scale/': PMU cpu has no event and no field "
		  "'topdown-total-slots.scale': did you mean 'topdown-total-slots'?" },
		{ "cpu/aux-output/", -EINVAL,
		  "event 'cpu/aux-output/': the term 'aux-output' cannot be honoured: AUX areas "
		  "are "
		  "not recorded: leave it out" },
		{ "cpu/path=x,event=1/", -ENOENT,
		  "event 'cpu/path=x,event=1/': PMU cpu has no event and no field 'path': its "
		  "fields are " FIELDS },
		{ "kprobe/retprobe/", -EINVAL,
		  "event 'kprobe/retprobe/' does not say where to probe: write kprobe/func=NAME/ "
		  "or "
		  "kprobe/addr=0x.../" },
		{ "uprobe/path=/dev/null,retprobe/", -EINVAL,
		  "event 'uprobe/path=/dev/null,retprobe/' does not say where to probe: write "
		  "uprobe/path=FILE,offset=0x.../, with the offset in the file" },
		{ "uprobe/path=/no/such/file,offset=1/", -ENOENT,
		  "event 'uprobe/path=/no/such/file,offset=1/': cannot probe '/no/such/file': No "
		  "such file or directory: give the path of a program or library, in quotes if it "
		  "holds a comma" },
		{ "uprobe/path=relative", -EINVAL, "event 'uprobe/path=relative' " ONE_SLASH },
	};

	(void)state;
	fake_machine_init(&m, FAKE_INTEL);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
}

static void test_machines_without(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "cpu/cycles/", -ENOENT,
		  "event 'cpu/cycles/': this machine shows no counters of a CPU 'cpu' (a virtual "
		  "machine without a PMU?): use cpu-clock, or look for another name in "
		  "/sys/bus/event_source/devices" },
		{ "kprobe/func=f/", -ENOENT,
		  "event 'kprobe/func=f/': this kernel is built without kprobes "
		  "(CONFIG_KPROBE_EVENTS)" },
	};
	static const struct refusal without_sysfs[] = {
		{ "tsc", -ENOENT, "unknown event 'tsc': " LIST_OR_RAW },
		{ "msr/tsc/", -ENOENT,
		  "unknown PMU or event 'msr': ls /sys/bus/event_source/devices shows the PMUs of "
		  "this machine" },
	};
	_cleanup_evlist_ struct pev_evlist list = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
	m.sources.pmus = "/no/sysfs/here";
	check(&m, without_sysfs, PEV_ARRAY_SIZE(without_sysfs));
	assert_int_equal(pev_evlist_parse_from(&list, "cycles,cs:u,r1a", &m.sources, NULL), 0);
	assert_int_equal(list.nr, 3);
}

static void test_tracepoints_and_breakpoints(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct refusal refusals[] = {
		{ "shed:sched_switch", -ENOENT,
		  "unknown tracepoint 'shed:sched_switch': there is no system 'shed' in "
		  "%/tracefs/events: did you mean 'sched'?" },
		{ "nowhere:at_all", -ENOENT,
		  "unknown tracepoint 'nowhere:at_all': there is no system 'nowhere' in "
		  "%/tracefs/events: perf list shows the tracepoints and events there are" },
		{ "sched:sched_swich", -ENOENT,
		  "unknown tracepoint 'sched:sched_swich': there is none of that name in "
		  "%/tracefs/events/sched: did you mean 'sched_switch'?" },
		{ "sched:nope*", -ENOENT,
		  "unknown tracepoint 'sched:nope*': there is none of that name in "
		  "%/tracefs/events/sched: ls that directory shows those there are" },
		{ "sched:no_id", -ENOENT,
		  "unknown tracepoint 'sched:no_id': there is none of that name in "
		  "%/tracefs/events/sched: ls that directory shows those there are" },
		{ "sched:..", -ENOENT,
		  "unknown tracepoint 'sched:..': there is none of that name in "
		  "%/tracefs/events/sched: ls that directory shows those there are" },
		{ ":sched_switch", -EINVAL,
		  "event ':sched_switch' has no name before its colon: write EVENT:MODIFIERS or "
		  "SYSTEM:TRACEPOINT" },
		{ "sched:sched_switch:q", -EINVAL,
		  "event 'sched:sched_switch:q': unknown modifier 'q': " MODIFIERS },
		{ "mem:main", -EINVAL,
		  "event 'mem:main': the address 'main' is not a number: write "
		  "mem:0xADDRESS[/BYTES][:rwx]; nm PROGRAM shows the addresses" },
		{ "mem:", -EINVAL,
		  "event 'mem:': the address '' is not a number: write "
		  "mem:0xADDRESS[/BYTES][:rwx]; "
		  "nm PROGRAM shows the addresses" },
		{ "mem:0x10/9", -EINVAL,
		  "event 'mem:0x10/9': a breakpoint watches 1 to 8 bytes, not '9'" },
		{ "mem:0x10/0:r", -EINVAL,
		  "event 'mem:0x10/0:r': a breakpoint watches 1 to 8 bytes, not '0'" },
		{ "mem:0x10:ww", -EINVAL,
		  "event 'mem:0x10:ww': a breakpoint waits for r (read), w (write) or x "
		  "(execution), not for 'ww'" },
		{ "mem:0x10:rw:q", -EINVAL,
		  "event 'mem:0x10:rw:q': unknown modifier 'q': " MODIFIERS },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, refusals, PEV_ARRAY_SIZE(refusals));
}

static void test_no_tracefs(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	m.sources.tracefs = "/no/tracefs";
	assert_int_equal(pev_evlist_parse_from(&list, "sched:sched_switch", &m.sources, &err),
			 -ENOENT);
	assert_err(&err, -ENOENT,
		   "cannot read /no/tracefs/events: No such file or directory: see that tracefs is "
		   "mounted there");
	(void)pev_tracefs_refused("/t/x", -EACCES, &err);
	assert_err(&err, -EACCES,
		   "cannot read /t/x: Permission denied: tracefs is for root; be root, or have "
		   "CAP_DAC_READ_SEARCH");
}

static void test_absurd_length(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_free_ char *spec = malloc(70000);
	char terms[512] = "cs/";
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	assert_non_null(spec);
	memset(spec, 'a', 69999);
	spec[69999] = '\0';
	assert_int_equal(pev_evlist_parse_from(&list, spec, &m.sources, &err), -E2BIG);
	assert_err(&err, -E2BIG,
		   "the list of events is longer than 65536 bytes: use globs, as in 'sched:*', or "
		   "fewer events");
	spec[65536] = '\0';
	assert_int_equal(pev_evlist_parse_from(&list, spec, &m.sources, &err), -ENOENT);
	for (int i = 0; i < 65; i++)
		(void)strcat(terms, "time,");
	(void)strcat(terms, "time/");
	assert_int_equal(pev_evlist_parse_from(&list, terms, &m.sources, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "there are more than 64 terms: leave some out"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lists_and_groups),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_pmus),
		cmocka_unit_test(test_machines_without),
		cmocka_unit_test(test_tracepoints_and_breakpoints),
		cmocka_unit_test(test_no_tracefs),
		cmocka_unit_test(test_absurd_length),
	};

	return cmocka_run_group_tests_name("event_refused", tests, NULL, NULL);
}
