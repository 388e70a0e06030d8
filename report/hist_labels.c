// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions are told apart as perf does it: by file and by where they begin, so that two of the
 * same name are two; what is inlined by its name and the function it is in; and what has no name by
 * its address.
 */
#include "report/hist_part.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/index.h"
#include "unwind/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All that a frame can be told apart by; parts that are not asked for are 0. Compared as bytes. */
struct identity {
	const void *module;
	uint64_t start;      /* of the function; the address where there is none */
	const char *inlined; /* the name of what is inlined */
	const char *dso;
	const char *file;
	uint32_t line;
	uint32_t nameless;
};

struct identities {
	struct identity *v;
	uint32_t nr, cap;
	struct pev_index index;
};

static void identities_done(struct identities *ids)
{
	free(ids->v);
	pev_index_done(&ids->index);
}

static int number(struct identities *ids, const struct identity *id, uint32_t *ret)
{
	const uint64_t hash = pev_hash_bytes(id, sizeof(*id), 0);
	struct pev_probe at = pev_index_probe(&ids->index, hash);
	int r;

	while (pev_index_next(&ids->index, &at))
		if (!memcmp(&ids->v[at.found], id, sizeof(*id))) {
			*ret = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(ids->v, ids->nr, ids->cap);
	if (r == 0)
		r = pev_index_add(&ids->index, hash, ids->nr);
	if (r < 0)
		return r;
	ids->v[ids->nr] = *id;
	*ret = ids->nr++;
	return 0;
}

static struct identity function_of(const struct pev_code *code, const struct pev_frame *frame)
{
	struct identity id = { .module = frame->module };

	id.start = code->address;
	if (!frame->name)
		id.nameless = 1;
	else
		id.start -= frame->offset;
	if (frame->inlined)
		id.inlined = frame->name;
	return id;
}

/* The one copy of a name; those of files come with the folders they are in or not. */
static const char *intern(struct pev_strings *names, const char *name)
{
	return pev_strings_put(names, name, strlen(name));
}

/* The part of an identity that one field looks at. */
static int add_field(struct identity *id, enum pev_field field, const struct pev_code *code,
		     const struct pev_frame *frame, struct pev_strings *names)
{
	const struct identity function = function_of(code, frame);

	switch (field) {
	case PEV_FIELD_DSO:
		id->dso = intern(names, pev_frame_short_dso(frame));
		return id->dso ? 0 : -ENOMEM;
	case PEV_FIELD_SYM:
		id->module = function.module;
		id->start = function.start;
		id->inlined = function.inlined;
		id->nameless = function.nameless;
		return 0;
	case PEV_FIELD_SRCLINE:
		/* Without a line the address is shown. */
		if (frame->file) {
			id->line = frame->line;
		} else {
			id->module = frame->module;
			id->start = code->address;
		}
		break;
	case PEV_FIELD_SRCFILE:
		break;
	default:
		return 0;
	}
	if (frame->file) {
		id->file = intern(names, basename(frame->file));
		if (!id->file)
			return -ENOMEM;
	}
	return 0;
}

/* What the fields of the rows tell frames apart by. */
static int row_of(const struct pev_fields *fields, const struct pev_code *code,
		  const struct pev_frame *frame, struct pev_strings *names, struct identity *ret)
{
	int r = 0;

	*ret = (struct identity){ 0 };
	for (size_t i = 0; i < fields->nr && r == 0; i++)
		r = add_field(ret, fields->v[i], code, frame, names);
	return r;
}

/* Numberings in the making. */
struct numbering {
	struct identities rows, functions, pairs;
	struct pev_strings names; /* of files */
};

static void numbering_done(struct numbering *n)
{
	identities_done(&n->rows);
	identities_done(&n->functions);
	identities_done(&n->pairs);
	pev_strings_done(&n->names);
}

static int label_frame(struct hist_labels *l, struct numbering *n, const struct pev_profile_data *d,
		       const struct pev_fields *fields, uint32_t c, uint32_t f)
{
	const struct pev_code *const code = &d->codes[c].code;
	const struct pev_frame *const frame = &d->codes[c].frames[f];
	const struct identity function = function_of(code, frame);
	struct identity row, pair = { 0 };
	uint32_t label, row_number, function_number;
	int r;

	r = row_of(fields, code, frame, &n->names, &row);
	if (r == 0)
		r = number(&n->rows, &row, &row_number);
	if (r == 0)
		r = number(&n->functions, &function, &function_number);
	if (r < 0)
		return r;
	pair.start = (uint64_t)row_number << 32 | function_number;
	r = number(&n->pairs, &pair, &label);
	if (r < 0)
		return r;
	l->labels.of[l->labels.first[c] + f] = label;
	l->row_of[label] = row_number;
	l->function_of[label] = function_number;
	l->function_start[function_number] = function.start;
	l->row_code[row_number] = c;
	l->row_frame[row_number] = f;
	l->self_of[c] = row_number; /* the last frame is the one that is really there */
	return 0;
}

int hist_labels_make(struct hist_labels *l, const struct pev_profile_data *d,
		     const struct pev_fields *fields)
{
	_cleanup_(numbering_done) struct numbering n = { 0 };
	uint64_t nr = 0;
	int r = 0;

	for (uint32_t c = 0; c < d->nr_codes; c++)
		nr += d->codes[c].nr_frames;
	if (nr >= UINT32_MAX)
		return -E2BIG;
	/* There are not more labels and rows than frames. */
	l->labels.first = calloc(d->nr_codes + 1ULL, sizeof(*l->labels.first));
	l->labels.of = calloc(nr + 1, sizeof(*l->labels.of));
	l->self_of = calloc(d->nr_codes + 1ULL, sizeof(*l->self_of));
	l->row_of = calloc(nr + 1, sizeof(*l->row_of));
	l->function_of = calloc(nr + 1, sizeof(*l->function_of));
	l->function_start = calloc(nr + 1, sizeof(*l->function_start));
	l->row_code = calloc(nr + 1, sizeof(*l->row_code));
	l->row_frame = calloc(nr + 1, sizeof(*l->row_frame));
	if (!l->labels.first || !l->labels.of || !l->self_of || !l->row_of || !l->function_of ||
	    !l->function_start || !l->row_code || !l->row_frame)
		return -ENOMEM;
	for (uint32_t c = 0; c < d->nr_codes && r == 0; c++) {
		l->labels.first[c + 1] = l->labels.first[c] + d->codes[c].nr_frames;
		for (uint32_t f = 0; f < d->codes[c].nr_frames && r == 0; f++)
			r = label_frame(l, &n, d, fields, c, f);
	}
	l->labels.nr = n.pairs.nr;
	l->nr_rows = n.rows.nr;
	return r;
}

void hist_labels_done(struct hist_labels *l)
{
	pev_labels_done(&l->labels);
	free(l->row_of);
	free(l->function_of);
	free(l->function_start);
	free(l->self_of);
	free(l->row_code);
	free(l->row_frame);
}
