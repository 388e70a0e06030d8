/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the feature layer share among themselves; others use format/feature.h. */
#pragma once

#include "format/feature.h"

#include <string.h>

/* Frees what the model came to own after @mark, which is what ->owned was then. */
void pev_features_rewind(struct pev_features *f, struct pev_features_block *mark);

/* Where the field of @feat lies in the model; 0 when it is not one string. */
static inline size_t pev_feat_str_offset(enum pev_feat feat)
{
	switch (feat) {
	case PEV_FEAT_HOSTNAME:
		return offsetof(struct pev_features, hostname);
	case PEV_FEAT_OSRELEASE:
		return offsetof(struct pev_features, osrelease);
	case PEV_FEAT_VERSION:
		return offsetof(struct pev_features, version);
	case PEV_FEAT_ARCH:
		return offsetof(struct pev_features, arch);
	case PEV_FEAT_CPUDESC:
		return offsetof(struct pev_features, cpudesc);
	case PEV_FEAT_CPUID:
		return offsetof(struct pev_features, cpuid);
	default:
		return 0;
	}
}

static inline const char *pev_feat_str_get(const struct pev_features *f, size_t offset)
{
	const char *s;

	memcpy(&s, (const char *)f + offset, sizeof(s));
	return s;
}

static inline void pev_feat_str_set(struct pev_features *f, size_t offset, const char *s)
{
	memcpy((char *)f + offset, &s, sizeof(s));
}
