/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf.data files put together by hand, as perf of all ages and machines of the other byte order
 * write them. */
#pragma once

#include "feature_make.h"

#include <stdbool.h>

struct form {
	const char *name;
	bool pipe, swap, v1;
	uint32_t attr_size;   /* of the attr in the file */
	uint64_t header_size; /* 0: 104 */
	bool no_size;         /* data.size is 0 */
	unsigned int events;  /* 0: one */
};

/* Some are looked for by where they are. */
enum {
	FORM_PERF_6_1 = 1,
	FORM_KILLED = 12,
	FORM_PIPE = 18,
};
extern const struct form trace_forms[];
extern const size_t nr_trace_forms;

#define IDS_PER_EVENT 2

/* What all their events are, but for ->size; ->config is the number of the event. */
extern const struct pev_attr form_attr;
uint64_t form_id(unsigned int event, unsigned int i);

/* Records of such an event. */
void form_hdr(struct maker *m, uint32_t type, uint16_t misc, size_t size);
void form_sample(struct maker *m, uint64_t ip, uint64_t id);
void form_comm(struct maker *m, uint64_t id);

void form_pipe_head(struct maker *m, const struct form *form);

/* A whole file around @data, in place of what *ret held: header, ids, attrs, data, and HOSTNAME as
 * the only feature. */
void make_form(const struct form *form, const struct pev_buf *data, struct pev_buf *ret);
