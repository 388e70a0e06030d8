// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolver_world.h"

#include <stdlib.h>
#include <sys/mman.h>

void world_write(const struct world *w, const char *name, const char *text)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	(void)fputs(text, f);
}

static const char *const kallsyms = "ffffffff81000000 T _text\n"
				    "ffffffff81000000 T first\n"
				    "ffffffff81001000 t second\n"
				    "ffffffff82000000 T start_up\n"
				    "ffffffff82000100 D data_behind\n"
				    "ffffffffc0000000 t entry\t[ext4]\n"
				    "ffffffffc0000800 t other\t[ext4]\n";

int world_setup(void **state)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	(void)snprintf(w->dir, sizeof(w->dir), "/tmp/pevrec-resolver-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	world_write(w, "kallsyms", kallsyms);
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *const w = *state;
	char command[128];

	pev_chain_done(&w->chain);
	(void)pev_resolver_free(w->r);
	(void)snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

/* Starts with @options and what every test has: its own kallsyms, its own /tmp. */
void world_start(struct world *w, struct pev_resolver_options options)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/kallsyms", w->dir);
	options.kallsyms = path;
	options.jit_dir = w->dir;
	assert_int_equal(pev_resolver_new(&options, &w->r, NULL), 0);
}

void world_see(struct world *w, struct pev_record rec)
{
	assert_int_equal(pev_resolver_see(w->r, 0, &rec, NULL), 0);
}

struct pev_record world_mmap2(uint64_t start_addr, uint64_t len, uint64_t pgoff, const char *name)
{
	return (struct pev_record){
		.hdr = { .type = PEV_REC_MMAP2, .misc = PEV_MISC_USER },
		.mmap = { .pid = PID,
			  .tid = PID,
			  .start = start_addr,
			  .len = len,
			  .pgoff = pgoff,
			  .prot = PROT_READ | PROT_EXEC,
			  .filename = name },
	};
}

struct pev_record world_kernel_map(uint64_t start_addr, uint64_t len, uint64_t pgoff,
				   const char *name)
{
	return (struct pev_record){
		.hdr = { .type = PEV_REC_MMAP, .misc = PEV_MISC_KERNEL },
		.mmap = { .pid = UINT32_MAX,
			  .start = start_addr,
			  .len = len,
			  .pgoff = pgoff,
			  .filename = name },
	};
}

struct pev_u64s world_words(const uint64_t *v, size_t nr)
{
	return (struct pev_u64s){ .p = (const uint8_t *)v, .nr = nr };
}

const struct pev_attr world_fp_attr = { .sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_TID |
						       PEV_SAMPLE_CALLCHAIN };

void world_chain(struct world *w, const struct pev_attr *attr, const uint64_t *ips, size_t nr)
{
	const struct pev_record rec = {
		.hdr = { .type = PEV_REC_SAMPLE, .misc = PEV_MISC_USER },
		.id = { .pid = PID, .tid = PID },
		.sample = { .ip = nr > 1 ? ips[1] : 0, .callchain = world_words(ips, nr) },
	};

	assert_int_equal(pev_resolver_chain(w->r, 0, attr, &rec, &w->chain, NULL), 0);
}

/* What is at @address, as "name+offset (dso)" with "; " between inlined functions. */
const char *world_name(struct world *w, uint32_t pid, uint8_t mode, uint64_t address)
{
	static char text[1024];
	const struct pev_frame *f;
	struct pev_code code;
	int n, at = 0;

	assert_int_equal(pev_resolver_at(w->r, 0, pid, mode, address, &code, NULL), 0);
	n = pev_resolver_name(w->r, &code, &f, NULL);
	assert_true(n >= 1);
	for (int i = 0; i < n; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s+%u (%s)", i ? "; " : "",
			       f[i].name ? f[i].name : "?", (unsigned int)f[i].offset,
			       f[i].inlined ? "inlined" : f[i].dso);
	return text;
}

const char *world_user_name(struct world *w, uint64_t address)
{
	return world_name(w, PID, PEV_MISC_USER, address);
}

const char *world_kernel_name(struct world *w, uint64_t address)
{
	return world_name(w, PID, PEV_MISC_KERNEL, address);
}
