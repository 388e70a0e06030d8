// SPDX-License-Identifier: LGPL-2.1-or-later
/* What each spelling of -e becomes. The names and numbers of plain, hybrid and PMU events were
 * compared with perf 6.1, 6.12 and 7.2 over the same trees. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "event_text.h"
#include "fake_machine.h"
#include "recorder/pmu.h"

#include <errno.h>
#include <string.h>

#define _cleanup_evlist_  _cleanup_(pev_evlist_done)
#define _cleanup_machine_ _cleanup_(fake_machine_done)

struct spelling {
	const char *spec;
	const char *text; /* event_text() of it */
};

static void check(const struct fake_machine *m, const struct spelling *spellings, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		_cleanup_evlist_ struct pev_evlist list = { 0 };
		_cleanup_buf_ struct pev_buf text = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		const int r = pev_evlist_parse_from(&list, spellings[i].spec, &m->sources, &err);

		if (r < 0)
			fail_msg("'%s' is refused: %s", spellings[i].spec, err.msg);
		event_text(&list, &text);
		if (strcmp((const char *)text.data, spellings[i].text))
			fail_msg("'%s' became\n%s\nand not\n%s", spellings[i].spec,
				 (const char *)text.data, spellings[i].text);
	}
}

static void test_generic_names(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "cycles", "cycles 0:0" },
		{ "cpu-cycles", "cpu-cycles 0:0" },
		{ "instructions", "instructions 0:1" },
		{ "cache-references", "cache-references 0:2" },
		{ "cache-misses", "cache-misses 0:3" },
		{ "branches", "branches 0:4" },
		{ "branch-instructions", "branch-instructions 0:4" },
		{ "branch-misses", "branch-misses 0:5" },
		{ "bus-cycles", "bus-cycles 0:6" },
		{ "stalled-cycles-frontend", "stalled-cycles-frontend 0:7" },
		{ "idle-cycles-frontend", "idle-cycles-frontend 0:7" },
		{ "stalled-cycles-backend", "stalled-cycles-backend 0:8" },
		{ "idle-cycles-backend", "idle-cycles-backend 0:8" },
		{ "ref-cycles", "ref-cycles 0:9" },
		{ "cpu-clock", "cpu-clock 1:0" },
		{ "task-clock", "task-clock 1:1" },
		{ "page-faults", "page-faults 1:2" },
		{ "faults", "faults 1:2" },
		{ "context-switches", "context-switches 1:3" },
		{ "cs", "cs 1:3" },
		{ "cpu-migrations", "cpu-migrations 1:4" },
		{ "migrations", "migrations 1:4" },
		{ "minor-faults", "minor-faults 1:5" },
		{ "major-faults", "major-faults 1:6" },
		{ "alignment-faults", "alignment-faults 1:7" },
		{ "emulation-faults", "emulation-faults 1:8" },
		{ "dummy", "dummy 1:9" },
		{ "bpf-output", "bpf-output 1:a period=1 st=484" },
		{ "cgroup-switches", "cgroup-switches 1:b" },
		{ "CYCLES", "CYCLES 0:0" },
		{ "Cpu-Clock:u", "Cpu-Clock:u 1:0 -k -h" },
		{ "r1a", "r1a 4:1a" },
		{ "rFFFFFFFFFFFFFFFF:k", "rFFFFFFFFFFFFFFFF:k 4:ffffffffffffffff -u -h" },
		{ "1:2", "1:2 1:2" },
		{ "0x1:0x3:u", "0x1:0x3:u 1:3 -k -h" },
		{ "4:0x1a", "4:0x1a 4:1a" },
		{ " cycles , cs ", "cycles 0:0; cs 1:3" },
		{ "cycles,cycles", "cycles 0:0; cycles 0:0" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_cache_names(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "L1-dcache-loads", "L1-dcache-loads 3:0" },
		{ "L1-dcache-load-misses", "L1-dcache-load-misses 3:10000" },
		{ "L1-dcache-load-misses:u", "L1-dcache-load-misses:u 3:10000 -k -h" },
		{ "L1-dcache-stores", "L1-dcache-stores 3:100" },
		{ "L1-dcache-store-misses", "L1-dcache-store-misses 3:10100" },
		{ "L1-dcache-prefetches", "L1-dcache-prefetches 3:200" },
		{ "L1-dcache-prefetch-misses", "L1-dcache-prefetch-misses 3:10200" },
		{ "L1-dcache-misses", "L1-dcache-misses 3:10000" },
		{ "L1-dcache-misses-loads", "L1-dcache-misses-loads 3:10000" },
		{ "L1-dcache", "L1-dcache 3:0" },
		{ "l1-dcache-loads", "l1-dcache-loads 3:0" },
		{ "l1d-loads", "l1d-loads 3:0" },
		{ "l1-d-write-ops", "l1-d-write-ops 3:100" },
		{ "L1-data-speculative-read-miss", "L1-data-speculative-read-miss 3:10200" },
		{ "L1-icache-load-misses", "L1-icache-load-misses 3:10001" },
		{ "L1-instruction-read-access", "L1-instruction-read-access 3:1" },
		{ "LLC-loads", "LLC-loads 3:2" },
		{ "LLC", "LLC 3:2" },
		{ "L2-Reference", "L2-Reference 3:2" },
		{ "LLC-prefetch-miss", "LLC-prefetch-miss 3:10202" },
		{ "dTLB-store-misses", "dTLB-store-misses 3:10103" },
		{ "Data-TLB-refs", "Data-TLB-refs 3:3" },
		{ "iTLB-loads", "iTLB-loads 3:4" },
		{ "i-tlb-load-misses", "i-tlb-load-misses 3:10004" },
		{ "branch-loads", "branch-loads 3:5" },
		{ "branch-load-misses", "branch-load-misses 3:10005" },
		{ "bpc-read", "bpc-read 3:5" },
		{ "node-stores", "node-stores 3:106" },
		{ "node-prefetch-misses", "node-prefetch-misses 3:10206" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_modifiers_and_groups(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "cycles:u", "cycles:u 0:0 -k -h" },
		{ "cycles:k", "cycles:k 0:0 -u -h" },
		{ "cycles:h", "cycles:h 0:0 -u -k" },
		{ "cycles:uk", "cycles:uk 0:0 -h" },
		{ "cycles:ukh", "cycles:ukh 0:0" },
		{ "cycles:G", "cycles:G 0:0 -H" },
		{ "cycles:H", "cycles:H 0:0 -G" },
		{ "cycles:GH", "cycles:GH 0:0" },
		{ "cycles:HG", "cycles:HG 0:0" },
		{ "cycles:p", "cycles:p 0:0 p1" },
		{ "cycles:pp", "cycles:pp 0:0 p2" },
		{ "cycles:uppp", "cycles:uppp 0:0 -k -h p3" },
		{ "cycles:P", "cycles:P 0:0 p3 P" },
		{ "cycles:pP", "cycles:pP 0:0 p3 P" },
		{ "cycles:I", "cycles:I 0:0 -i" },
		{ "cycles:D", "cycles:D 0:0 D" },
		{ "cycles:e", "cycles:e 0:0 e" },
		{ "cycles:S", "cycles:S 0:0 S" },
		{ "cycles:", "cycles: 0:0" },
		{ "cycles//u", "cycles//u 0:0 -k -h" },
		{ "{cycles,instructions}", "cycles 0:0; instructions 0:1 <0" },
		{ "{cycles}", "cycles 0:0" },
		{ "{ cycles , cs } : u", "cycles 0:0 -k -h; cs 1:3 -k -h <0" },
		{ "{cycles:u,cs:k}:u", "cycles:u 0:0 -k -h; cs:k 1:3 -h <0" },
		{ "{cycles:u,cs:k}:h", "cycles:u 0:0 -k; cs:k 1:3 -u <0" },
		{ "{cycles:p,cs}:p", "cycles:p 0:0 p2; cs 1:3 p1 <0" },
		{ "{cycles:P,cs}:p", "cycles:P 0:0 p3 P; cs 1:3 p1 <0" },
		{ "{cycles,cs}:D", "cycles 0:0 D; cs 1:3 <0" },
		{ "{cycles,cs}:Se", "cycles 0:0 e S; cs 1:3 S <0" },
		{ "foo{cycles:k,cs}:H", "cycles:k 0:0 -u -h -G group=foo; cs 1:3 -G <0" },
		{ "foo:{cycles,cs}", "cycles 0:0 group=foo; cs 1:3 <0" },
		{ "cs,{cycles,faults},{branches,dummy}:u,cpu-clock",
		  "cs 1:3; cycles 0:0; faults 1:2 <1; branches 0:4 -k -h; dummy 1:9 -k -h <3; "
		  "cpu-clock 1:0" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_breakpoints_and_tracepoints(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "mem:0x1000", "mem:0x1000 5:0 c1=1000 c2=4 bp=3 period=1" },
		{ "mem:4096:w", "mem:4096:w 5:0 c1=1000 c2=4 bp=2 period=1" },
		{ "mem:0x1000/8:rw", "mem:0x1000 5:0 c1=1000 c2=8 bp=3 period=1" },
		{ "mem:0x1000/1:r:u", "mem:0x1000 5:0 c1=1000 c2=1 bp=1 -k -h period=1" },
		{ "mem:0x1000:x", "mem:0x1000:x 5:0 c1=1000 c2=8 bp=4 period=1" },
		{ "mem:0x1000:rwx", "mem:0x1000:rwx 5:0 c1=1000 c2=4 bp=7 period=1" },
		{ "mem:0x1000:u", "mem:0x1000:u 5:0 c1=1000 c2=4 bp=3 -k -h period=1" },
		{ "mem:0x1000/8:w/period=3/k", "mem:0x1000 5:0 c1=1000 c2=8 bp=2 -u -h period=3!" },
		{ "mem:0x1000/8:w,cs", "mem:0x1000 5:0 c1=1000 c2=8 bp=2 period=1; cs 1:3" },
		{ "sched:sched_switch", "sched:sched_switch 2:174 period=1 st=484" },
		{ "sched:sched_switch:u", "sched:sched_switch 2:174 -k -h period=1 st=484" },
		{ "sched:*switch", "sched:sched_switch 2:174 period=1 st=484" },
		{ "sch*:sched_switch:k", "sched:sched_switch 2:174 -u -h period=1 st=484" },
		{ "*:sys_enter_*", "syscalls:sys_enter_openat 2:30e period=1 st=484" },
		{ "sched:sched_switch/call-graph=no/",
		  "sched:sched_switch 2:174 period=1 st=484 callgraph=0" },
		{ "sched:sched_switch/period=3/u",
		  "sched:sched_switch 2:174 -k -h period=3! st=484" },
		{ "{sched:sched_switch,cs}",
		  "sched:sched_switch 2:174 period=1 st=484; cs 1:3 <0" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

/* The path of a uprobe is made absolute, so what is expected is made from it. */
static void test_uprobes(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct {
		const char *before; /* the path */
		const char *behind;
		const char *text; /* between the name and " path=" */
	} probes[] = {
		{ "uprobe/path=", ",offset=0x10/", "8:0 c2=10 period=1 pmu=uprobe" },
		{ "uprobe/offset=16,path=", "/", "8:0 c2=10 period=1 pmu=uprobe" },
		{ "uprobe/offset=16,path='", "'/u", "8:0 c2=10 -k -h period=1 pmu=uprobe" },
		{ "uprobe/path=\"", "\",offset=1/", "8:0 c2=1 period=1 pmu=uprobe" },
		{ "uprobe/offset=16,path=", ",retprobe/", "8:1 c2=10 period=1 pmu=uprobe" },
		{ "uprobe/path=", ",offset=1,ref_ctr_offset=2/",
		  "8:200000000 c2=1 period=1 pmu=uprobe" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	fake_machine_put(&m, "bin/target", "\177ELF");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(probes); i++) {
		char spec[128], text[256];
		const struct spelling s = { spec, text };

		(void)snprintf(spec, sizeof(spec), "%s%s/bin/target%s", probes[i].before, m.dir,
			       probes[i].behind);
		(void)snprintf(text, sizeof(text), "%s %s path=%s/bin/target", spec, probes[i].text,
			       m.dir);
		check(&m, &s, 1);
	}
}

static void test_pmu_events(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "cpu/cpu-cycles/", "cpu/cpu-cycles/ 4:3c pmu=cpu" },
		{ "cpu/cycles/", "cpu/cycles/ 0:0 pmu=cpu" },
		{ "cpu/L1-dcache-loads/u", "cpu/L1-dcache-loads/u 3:0 -k -h pmu=cpu" },
		{ "cpu/event=0x3c,umask=1/u", "cpu/event=0x3c,umask=1/u 4:13c -k -h pmu=cpu" },
		{ "cpu/event=60/:u", "cpu/event=60/:u 4:3c -k -h pmu=cpu" },
		{ "cpu/mem-loads/P", "cpu/mem-loads/P 4:1cd c1=3 p3 P pmu=cpu" },
		{ "cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/ 4:1cd c1=1e pmu=cpu" },
		{ "cpu/ldlat=30,mem-loads/", "cpu/ldlat=30,mem-loads/ 4:1cd c1=1e pmu=cpu" },
		{ "mem-loads", "mem-loads 4:1cd c1=3 pmu=cpu" },
		{ "mem-loads:u", "mem-loads:u 4:1cd c1=3 -k -h pmu=cpu" },
		{ "mem-loads/ldlat=5,period=7/pp",
		  "mem-loads/ldlat=5,period=7/pp 4:1cd c1=5 p2 period=7! pmu=cpu" },
		{ "cpu/r1a/", "cpu/r1a/ 4:1a pmu=cpu" },
		{ "cpu//", "cpu// 4:0 pmu=cpu" },
		{ "cpu/config=0x12,config1=3,config2=4/",
		  "cpu/config=0x12,config1=3,config2=4/ 4:12 c1=3 c2=4 pmu=cpu" },
		{ "cpu/config3=1/", "cpu/config3=1/ 4:0 c3=1 size=136 pmu=cpu" },
		{ "cpu/third=2,acr_mask=3/",
		  "cpu/third=2,acr_mask=3/ 4:0 c2=3 c3=2 size=136 pmu=cpu" },
		{ "cpu/fourth/", "cpu/fourth/ 4:0 c4=100 size=144 pmu=cpu" },
		{ "cpu/split=0xfff/", "cpu/split=0xfff/ 4:f000000ff pmu=cpu" },
		{ "cpu/any/", "cpu/any/ 4:200000 pmu=cpu" },
		{ "cpu/event=1,event=2/", "cpu/event=1,event=2/ 4:2 pmu=cpu" },
		{ "cpu/param,event=3/", "cpu/param,event=3/ 4:203 pmu=cpu" },
		{ "cpu/name=x,event=1/", "x 4:1 pmu=cpu" },
		{ "cpu/cycles,name='a:b,c/d'/", "a:b,c/d 0:0 pmu=cpu" },
		{ "{cpu/cpu-cycles/,cycles}:S", "cpu/cpu-cycles/ 4:3c S pmu=cpu; cycles 0:0 S <0" },
		{ "cpu/topdown-total-slots/", "cpu/topdown-total-slots/ 4:100 pmu=cpu scale=2" },
		{ "data_reads",
		  "data_reads 20:1 pmu=uncore_imc_0 cpus=0,64 unit=MiB scale=6.10352e-05; "
		  "data_reads 21:1 pmu=uncore_imc_1 cpus=0,64" },
		{ "imc/data_reads/",
		  "imc/data_reads/ 20:1 pmu=uncore_imc_0 cpus=0,64 unit=MiB scale=6.10352e-05; "
		  "imc/data_reads/ 21:1 pmu=uncore_imc_1 cpus=0,64" },
		{ "imc_1/event=2/", "imc_1/event=2/ 21:2 pmu=uncore_imc_1 cpus=0,64" },
		{ "uncore_imc/event=2/", "uncore_imc/event=2/ 20:2 pmu=uncore_imc_0 cpus=0,64; "
					 "uncore_imc/event=2/ 21:2 pmu=uncore_imc_1 cpus=0,64" },
		{ "uncore_*_1/event=2/", "uncore_*_1/event=2/ 21:2 pmu=uncore_imc_1 cpus=0,64" },
		{ "tsc", "tsc 9:0 pmu=msr" },
		{ "msr/tsc/", "msr/tsc/ 9:0 pmu=msr" },
		{ "kprobe/func=do_exit,offset=4/",
		  "kprobe/func=do_exit,offset=4/ 6:0 c2=4 period=1 pmu=kprobe path=do_exit" },
		{ "kprobe/addr=0xff00,retprobe/",
		  "kprobe/addr=0xff00,retprobe/ 6:1 c2=ff00 period=1 pmu=kprobe" },
		{ "software/config=3/", "software/config=3/ 1:3 pmu=software" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_INTEL);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_general_terms(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "cycles/period=1000/", "cycles/period=1000/ 0:0 period=1000!" },
		{ "cycles/period=010/", "cycles/period=010/ 0:0 period=10!" },
		{ "cycles/period/", "cycles/period/ 0:0 period=1!" },
		{ "cycles/freq=99,period=7/", "cycles/freq=99,period=7/ 0:0 period=7!" },
		{ "cpu-clock/freq=99,name=xx/u", "xx 1:0 -k -h freq=99!" },
		{ "cs/time=1,no-inherit/", "cs/time=1,no-inherit/ 1:3 inherit=0" },
		{ "cs/inherit/", "cs/inherit/ 1:3 inherit=1" },
		{ "cs/max-stack=10/", "cs/max-stack=10/ 1:3 max-stack=10" },
		{ "cs/call-graph=fp/", "cs/call-graph=fp/ 1:3 callgraph=1" },
		{ "cs/call-graph=dwarf,stack-size=4097/",
		  "cs/call-graph=dwarf,stack-size=4097/ 1:3 callgraph=2 stack=4104" },
		{ "cs/call-graph=lbr/", "cs/call-graph=lbr/ 1:3 callgraph=3" },
		{ "L1-dcache-loads/period=5/:k",
		  "L1-dcache-loads/period=5/:k 3:0 -u -h period=5!" },
		{ "r1a/period=5/", "r1a/period=5/ 4:1a period=5!" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_two_kinds_of_cpus(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	static const struct spelling spellings[] = {
		{ "cycles", "cpu_atom/cycles/ 0:a00000000 pmu=cpu_atom cpus=16-23; "
			    "cpu_core/cycles/ 0:400000000 pmu=cpu_core cpus=0-15" },
		{ "cycles:u", "cpu_atom/cycles/u 0:a00000000 -k -h pmu=cpu_atom cpus=16-23; "
			      "cpu_core/cycles/u 0:400000000 -k -h pmu=cpu_core cpus=0-15" },
		{ "LLC-loads", "cpu_atom/LLC-loads/ 3:a00000002 pmu=cpu_atom cpus=16-23; "
			       "cpu_core/LLC-loads/ 3:400000002 pmu=cpu_core cpus=0-15" },
		{ "r1a", "cpu_atom/r1a/ 10:1a pmu=cpu_atom cpus=16-23; "
			 "cpu_core/r1a/ 4:1a pmu=cpu_core cpus=0-15" },
		{ "cycles/period=9/u",
		  "cpu_atom/cycles,period=9/u 0:a00000000 -k -h period=9! pmu=cpu_atom cpus=16-23; "
		  "cpu_core/cycles,period=9/u 0:400000000 -k -h period=9! pmu=cpu_core cpus=0-15" },
		{ "mem-loads", "cpu_atom/mem-loads/ 10:1cd c1=3 pmu=cpu_atom cpus=16-23; "
			       "cpu_core/mem-loads/ 4:1cd c1=3 pmu=cpu_core cpus=0-15" },
		{ "cpu_core/cycles/", "cpu_core/cycles/ 0:400000000 pmu=cpu_core cpus=0-15" },
		{ "cpu_atom/cpu-cycles/u",
		  "cpu_atom/cpu-cycles/u 10:3c -k -h pmu=cpu_atom cpus=16-23" },
		{ "cs", "cs 1:3" },
		{ "{cs,faults}", "cs 1:3; faults 1:2 <0" },
		{ "cs,{cycles,instructions}",
		  "cs 1:3; cpu_atom/cycles/ 0:a00000000 pmu=cpu_atom cpus=16-23; "
		  "cpu_atom/instructions/ 0:a00000001 <1 pmu=cpu_atom cpus=16-23; "
		  "cpu_core/cycles/ 0:400000000 pmu=cpu_core cpus=0-15; "
		  "cpu_core/instructions/ 0:400000001 <3 pmu=cpu_core cpus=0-15" },
		{ "g:{cycles,cs}:DS",
		  "cpu_atom/cycles/ 0:a00000000 D S group=g pmu=cpu_atom cpus=16-23; cs 1:3 S <0; "
		  "cpu_core/cycles/ 0:400000000 D S group=g pmu=cpu_core cpus=0-15" },
		{ "{cs,cpu_core/cycles/}",
		  "cs 1:3; cpu_core/cycles/ 0:400000000 <0 pmu=cpu_core cpus=0-15" },
	};

	(void)state;
	fake_machine_init(&m, FAKE_HYBRID);
	check(&m, spellings, PEV_ARRAY_SIZE(spellings));
}

static void test_list_grows_and_stays(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	_cleanup_buf_ struct pev_buf text = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			pev_evlist_parse_from(&list, "{cycles,cs},faults,dummy", &m.sources, NULL),
			0);
	assert_int_equal(list.nr, 12);
	assert_int_equal(list.last, 8);
	assert_int_equal(list.events[8].leader, 8);
	assert_int_equal(list.events[9].leader, 8);
	assert_int_equal(list.events[11].leader, 11);
	/* What fails late leaves nothing behind. */
	assert_int_equal(pev_evlist_parse_from(&list, "cs,{cycles,nope}", &m.sources, NULL),
			 -ENOENT);
	assert_int_equal(list.nr, 12);
	assert_int_equal(list.last, 8);
	pev_evlist_truncate(&list, 1);
	event_text(&list, &text);
	assert_string_equal((const char *)text.data, "cycles 0:0");
}

static void test_filters(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	assert_int_equal(pev_evlist_filter(&list, "a > 1", &err), -EINVAL);
	assert_int_equal(pev_evlist_parse_from(&list, "sched:sched_wakeup", &m.sources, &err), 0);
	assert_int_equal(pev_evlist_parse_from(&list, "cs,sched:sched_switch", &m.sources, &err),
			 0);
	assert_int_equal(pev_evlist_filter(&list, "prev_pid > 0", &err), 0);
	assert_null(list.events[0].filter);
	assert_null(list.events[1].filter);
	assert_string_equal(list.events[2].filter, "prev_pid > 0");
	assert_int_equal(pev_evlist_filter(&list, "next_pid > 0", &err), 0);
	assert_string_equal(list.events[2].filter, "(prev_pid > 0) && (next_pid > 0)");
	assert_int_equal(pev_evlist_filter(&list, " ", &err), -EINVAL);
	assert_err(&err, -EINVAL,
		   "the filter behind 'cs' is empty: give a condition over the fields of the "
		   "tracepoint, or leave --filter out");
	assert_int_equal(pev_evlist_parse_from(&list, "cs", &m.sources, &err), 0);
	assert_int_equal(pev_evlist_filter(&list, "a > 1", &err), -EINVAL);
	assert_err(&err, -EINVAL,
		   "filter 'a > 1' has no tracepoint to filter: put --filter right behind the -e "
		   "that names one, as in -e sched:sched_switch --filter 'prev_pid > 0'");
}

static void test_formats_of_fields(void **state)
{
	static const struct {
		const char *text;
		unsigned word;
		uint64_t mask;
	} good[] = {
		{ "config:0-7", 0, 0xff },      { "config:0-63", 0, UINT64_MAX },
		{ "config:63", 0, 1ULL << 63 }, { "config1:0-7,32-35", 1, 0xf000000ffULL },
		{ "config4:1,3", 4, 0xa },
	};
	static const char *const bad[] = {
		"",          "config",        "config:",
		"config5:0", "config:64",     "config:7-0",
		"config:0-", "config:0,",     "config:0 ",
		"konfig:0",  "config:-1",     "config:0-64",
		"config:x",  "config1:0-7-9", "config:18446744073709551616",
	};
	struct pev_pmu_field f;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(good); i++) {
		assert_int_equal(pev_pmu_field_parse(good[i].text, &f), 0);
		assert_int_equal(f.word, good[i].word);
		assert_int_equal(f.mask, good[i].mask);
	}
	for (size_t i = 0; i < PEV_ARRAY_SIZE(bad); i++)
		assert_int_equal(pev_pmu_field_parse(bad[i], &f), -EBADMSG);
	assert_int_equal(pev_pmu_deposit(0xfff, 0xf000000ffULL), 0xf000000ffULL);
	assert_int_equal(pev_pmu_deposit(0x105, 0xf000000ffULL), 0x100000005ULL);
	assert_int_equal(pev_pmu_deposit(UINT64_MAX, 0), 0);
}

static const char everything[] =
	"cycles:uP,g:{cpu/mem-loads,ldlat=30/pp,instructions:k}:S,mem:0x1000/8:rw:u,"
	"sched:sched_*:k,L1-dcache-load-misses/period=5,name='a,b'/H,r1a,imc/data_reads/,"
	"kprobe/func=f,offset=1/,1:2,cs/call-graph=dwarf,stack-size=64/";

/* Parsing must end, leave the list whole and say something. */
static void parse_anything(const struct fake_machine *m, const char *spec)
{
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	const int r = pev_evlist_parse_from(&list, spec, &m->sources, &err);

	if (r < 0) {
		assert_int_equal(err.code, r);
		assert_true(err.msg[0]);
		assert_int_equal(list.nr, 0);
	} else {
		assert_true(list.nr > 0);
	}
	for (size_t i = 0; i < list.nr; i++) {
		assert_non_null(list.events[i].name);
		assert_true(list.events[i].leader <= i);
	}
}

static void test_every_prefix_and_bit_flip(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	char spec[sizeof(everything)];

	(void)state;
	fake_machine_init(&m, FAKE_INTEL);
	for (size_t n = 0; n < sizeof(everything); n++) {
		memcpy(spec, everything, n);
		spec[n] = '\0';
		parse_anything(&m, spec);
	}
	for (size_t bit = 0; bit < 8 * (sizeof(everything) - 1); bit++) {
		memcpy(spec, everything, sizeof(everything));
		spec[bit / 8] = (char)(spec[bit / 8] ^ (1 << bit % 8));
		parse_anything(&m, spec);
	}
}

static void test_every_allocation_fails(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	bool failed = true;

	(void)state;
	fake_machine_init(&m, FAKE_INTEL);
	for (unsigned n = 1; failed; n++) {
		_cleanup_evlist_ struct pev_evlist list = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		int r;

		alloc_fail_at(n);
		r = pev_evlist_parse_from(&list, everything, &m.sources, &err);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic_names),
		cmocka_unit_test(test_cache_names),
		cmocka_unit_test(test_modifiers_and_groups),
		cmocka_unit_test(test_breakpoints_and_tracepoints),
		cmocka_unit_test(test_uprobes),
		cmocka_unit_test(test_pmu_events),
		cmocka_unit_test(test_general_terms),
		cmocka_unit_test(test_two_kinds_of_cpus),
		cmocka_unit_test(test_list_grows_and_stays),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_formats_of_fields),
		cmocka_unit_test(test_every_prefix_and_bit_flip),
		cmocka_unit_test(test_every_allocation_fails),
	};

	return cmocka_run_group_tests_name("event_parse", tests, NULL, NULL);
}
