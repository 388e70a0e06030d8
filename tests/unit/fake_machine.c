// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fake_machine.h"

#include "test.h"

#include "base/cleanup.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file {
	const char *path;
	const char *text;
};

static const struct file everywhere[] = {
	{ "pmus/breakpoint/type", "5\n" },
	{ "pmus/software/type", "1\n" },
	{ "pmus/tracepoint/type", "2\n" },
	{ "pmus/msr/type", "9\n" },
	{ "pmus/msr/format/event", "config:0-63\n" },
	{ "pmus/msr/events/tsc", "event=0x00\n" },
	{ "pmus/uprobe/type", "8\n" },
	{ "pmus/uprobe/format/retprobe", "config:0\n" },
	{ "pmus/uprobe/format/ref_ctr_offset", "config:32-63\n" },
	{ "pmus/broken/type", "not a number\n" },
	{ "tracefs/events/enable", "0\n" },
	{ "tracefs/events/header_page", "page\n" },
	{ "tracefs/events/header_event", "event\n" },
	{ "tracefs/events/ftrace/print/id", "5\n" },
	{ "tracefs/events/ftrace/print/format", "name: print\n" },
	{ "tracefs/events/sched/enable", "0\n" },
	{ "tracefs/events/sched/sched_switch/id", "372\n" },
	{ "tracefs/events/sched/sched_switch/format", "name: sched_switch\n" },
	{ "tracefs/events/sched/sched_wakeup/id", "374\n" },
	{ "tracefs/events/sched/sched_wakeup/format", "name: sched_wakeup\n" },
	{ "tracefs/events/sched/no_id/format", "name: no_id\n" },
	{ "tracefs/events/syscalls/sys_enter_openat/id", "782\n" },
	{ "tracefs/events/syscalls/sys_enter_openat/format", "name: sys_enter_openat\n" },
	{ "tracefs/printk_formats", "0x1 : \"one\"\n" },
};

static const struct file intel[] = {
	{ "pmus/uncore_imc_0/type", "20\n" },
	{ "pmus/uncore_imc_0/cpumask", "0,64\n" },
	{ "pmus/uncore_imc_0/format/event", "config:0-7\n" },
	{ "pmus/uncore_imc_0/events/data_reads", "event=0x1\n" },
	{ "pmus/uncore_imc_0/events/data_reads.unit", "MiB\n" },
	{ "pmus/uncore_imc_0/events/data_reads.scale", "6.103515625e-5\n" },
	{ "pmus/uncore_imc_1/type", "21\n" },
	{ "pmus/uncore_imc_1/cpumask", "0,64\n" },
	{ "pmus/uncore_imc_1/format/event", "config:0-7\n" },
	{ "pmus/uncore_imc_1/events/data_reads", "event=0x1\n" },
	{ "pmus/kprobe/type", "6\n" },
	{ "pmus/kprobe/format/retprobe", "config:0\n" },
};

/* A PMU of an Intel CPU, below pmus/NAME/. */
static const struct file core[] = {
	{ "format/event", "config:0-7\n" },
	{ "format/umask", "config:8-15\n" },
	{ "format/any", "config:21\n" },
	{ "format/inv", "config:23\n" },
	{ "format/cmask", "config:24-31\n" },
	{ "format/ldlat", "config1:0-15\n" },
	{ "format/split", "config:0-7,32-35\n" },
	{ "format/acr_mask", "config2:0-63\n" },
	{ "format/third", "config3:0-63\n" },
	{ "format/fourth", "config4:8\n" },
	{ "format/odd", "config9:0\n" },
	{ "events/cpu-cycles", "event=0x3c\n" },
	{ "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ "events/param", "event=?,umask=0x2\n" },
	{ "events/wrong", "nothing=1\n" },
	{ "events/topdown-total-slots", "event=0x00,umask=0x01\n" },
	{ "events/topdown-total-slots.scale", "2\n" },
};

void fake_machine_put(const struct fake_machine *m, const char *path, const char *text)
{
	_cleanup_fclose_ FILE *f = NULL;
	char whole[160];

	(void)snprintf(whole, sizeof(whole), "%s/%s", m->dir, path);
	for (char *slash = whole + strlen(m->dir); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(whole, 0755);
		*slash = '/';
	}
	f = fopen(whole, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static void put_all(const struct fake_machine *m, const char *prefix, const struct file *files,
		    size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s%s", prefix, files[i].path);
		fake_machine_put(m, path, files[i].text);
	}
}

static void put_core(const struct fake_machine *m, const char *name, const char *type,
		     const char *cpus)
{
	char prefix[64];
	const struct file own[] = { { "type", type }, { "cpus", cpus } };

	(void)snprintf(prefix, sizeof(prefix), "pmus/%s/", name);
	put_all(m, prefix, core, PEV_ARRAY_SIZE(core));
	put_all(m, prefix, own, cpus ? 2 : 1);
}

void fake_machine_init(struct fake_machine *m, enum fake_kind kind)
{
	*m = (struct fake_machine){ .dir = "/tmp/pevrec-machine-XXXXXX" };
	assert_non_null(mkdtemp(m->dir));
	(void)snprintf(m->pmus, sizeof(m->pmus), "%s/pmus", m->dir);
	(void)snprintf(m->tracefs, sizeof(m->tracefs), "%s/tracefs", m->dir);
	m->sources = (struct pev_event_sources){ .pmus = m->pmus, .tracefs = m->tracefs };
	put_all(m, "", everywhere, PEV_ARRAY_SIZE(everywhere));
	if (kind == FAKE_INTEL) {
		put_all(m, "", intel, PEV_ARRAY_SIZE(intel));
		put_core(m, "cpu", "4\n", NULL);
	} else if (kind == FAKE_HYBRID) {
		put_core(m, "cpu_core", "4\n", "0-15\n");
		put_core(m, "cpu_atom", "10\n", "16-23\n");
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void fake_machine_done(struct fake_machine *m)
{
	(void)nftw(m->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
