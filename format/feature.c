// SPDX-License-Identifier: LGPL-2.1-or-later
/* The model of the header features: its memory, and the names of the features. */
#include "base/checked.h"
#include "format/feature_part.h"

#include <stdlib.h>
#include <string.h>

/* Each allocation of a model, in a list that is only walked to free it. */
struct pev_features_block {
	struct pev_features_block *next;
	uint64_t bytes[]; /* u64: aligned for every field of the model */
};

static const char *const feat_names[PEV_FEAT_MAX] = {
	[PEV_FEAT_TRACING_DATA] = "TRACING_DATA",
	[PEV_FEAT_BUILD_ID] = "BUILD_ID",
	[PEV_FEAT_HOSTNAME] = "HOSTNAME",
	[PEV_FEAT_OSRELEASE] = "OSRELEASE",
	[PEV_FEAT_VERSION] = "VERSION",
	[PEV_FEAT_ARCH] = "ARCH",
	[PEV_FEAT_NRCPUS] = "NRCPUS",
	[PEV_FEAT_CPUDESC] = "CPUDESC",
	[PEV_FEAT_CPUID] = "CPUID",
	[PEV_FEAT_TOTAL_MEM] = "TOTAL_MEM",
	[PEV_FEAT_CMDLINE] = "CMDLINE",
	[PEV_FEAT_EVENT_DESC] = "EVENT_DESC",
	[PEV_FEAT_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[PEV_FEAT_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[PEV_FEAT_BRANCH_STACK] = "BRANCH_STACK",
	[PEV_FEAT_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[PEV_FEAT_GROUP_DESC] = "GROUP_DESC",
	[PEV_FEAT_AUXTRACE] = "AUXTRACE",
	[PEV_FEAT_STAT] = "STAT",
	[PEV_FEAT_CACHE] = "CACHE",
	[PEV_FEAT_SAMPLE_TIME] = "SAMPLE_TIME",
	[PEV_FEAT_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[PEV_FEAT_CLOCKID] = "CLOCKID",
	[PEV_FEAT_DIR_FORMAT] = "DIR_FORMAT",
	[PEV_FEAT_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[PEV_FEAT_BPF_BTF] = "BPF_BTF",
	[PEV_FEAT_COMPRESSED] = "COMPRESSED",
	[PEV_FEAT_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[PEV_FEAT_CLOCK_DATA] = "CLOCK_DATA",
	[PEV_FEAT_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[PEV_FEAT_PMU_CAPS] = "PMU_CAPS",
	[PEV_FEAT_CPU_DOMAIN_INFO] = "CPU_DOMAIN_INFO",
	[PEV_FEAT_E_MACHINE] = "E_MACHINE",
	[PEV_FEAT_CLN_SIZE] = "CLN_SIZE",
};

const char *pev_feat_name(enum pev_feat feat)
{
	return (unsigned int)feat < PEV_FEAT_MAX ? feat_names[feat] : NULL;
}

void pev_features_rewind(struct pev_features *f, struct pev_features_block *mark)
{
	while (f->owned != mark) {
		struct pev_features_block *const b = f->owned;

		f->owned = b->next;
		free(b);
	}
}

void pev_features_done(struct pev_features *f)
{
	pev_features_rewind(f, NULL);
	*f = (struct pev_features){ 0 };
}

void *pev_features_alloc(struct pev_features *f, size_t nr, size_t size)
{
	struct pev_features_block *b;
	size_t bytes;

	if (!pev_mul_size(nr, size, &bytes) || !pev_add_size(bytes, sizeof(*b), &bytes))
		return NULL;
	b = calloc(1, bytes);
	if (!b)
		return NULL;
	b->next = f->owned;
	f->owned = b;
	return b->bytes;
}

void *pev_features_copy(struct pev_features *f, const void *bytes, size_t n)
{
	void *const copy = pev_features_alloc(f, n, 1);

	if (copy && n)
		memcpy(copy, bytes, n);
	return copy;
}

char *pev_features_str(struct pev_features *f, const char *s, size_t n)
{
	char *const copy = pev_features_alloc(f, n + 1, 1);

	if (copy)
		memcpy(copy, s, n);
	return copy;
}
