/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feature sections put together by hand, in either byte order: what the reader and the writer of
 * features are held to. */
#pragma once

#include "base/buf.h"
#include "format/feature.h"

#include <stdbool.h>

struct maker {
	struct pev_buf *buf;
	bool swap; /* write what a machine of the other byte order would */
};

void make_u16(struct maker *m, uint16_t v);
void make_u32(struct maker *m, uint32_t v);
void make_u64(struct maker *m, uint64_t v);
void make_str(struct maker *m, const char *s); /* u32 length, padded to 64 */
void make_attr_bytes(struct maker *m, const struct pev_attr *attr, size_t size);

/* One section, and what it must come to. */
struct feature_case {
	const char *name;
	enum pev_feat feat;
	void (*make)(struct maker *m);
	const char *printed; /* the lines of `perf report --header-only -I`, NULL: not looked at */
	bool native_only;    /* cannot be read from the other byte order */
	bool lossy;          /* is written in another layout than the one it was read from */
	bool open_ended;     /* any cut of it is a section too */
};

extern const struct feature_case feature_cases[];
extern const size_t nr_feature_cases;

/* What a few of the cases stand on: NRCPUS with 3 CPUs, EVENT_DESC with 3 events. */
void make_ground(struct pev_features *f);
