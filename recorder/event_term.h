/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands between the slashes of an event: "event=0x3c,umask=1,name=mine,period=1000". */
#pragma once

#include "recorder/event.h"
#include "recorder/pmu.h"

/* "KEY" or "KEY=VALUE"; both borrow from the text that was split. */
struct pev_term {
	const char *key;
	const char *value; /* NULL when there is no "=" */
};

#define PEV_TERMS_MAX 64

struct pev_terms {
	struct pev_term terms[PEV_TERMS_MAX];
	size_t nr;
};

/*
 * Finds the slash that ends the terms beginning at @text: the first one outside quotes, but for
 * the value of path=, which may hold slashes and runs up to a comma or, where none comes before the
 * next brace or the end, up to the last slash. NULL when there is none.
 */
char *pev_terms_end(char *text);

/* Splits @text, which is cut up in place, at its commas; quotes around a value are taken off.
 * -EINVAL for a term without a key or a quote without its twin, -E2BIG for too many. */
int pev_terms_split(char *text, struct pev_terms *ret, struct pev_err *err);

/* The value that @key was given, NULL when it was given none. */
const char *pev_terms_get(const struct pev_terms *terms, const char *key);

/*
 * Lays @terms over @event. Terms that the PMU knows (fields of its format/, names of its events/)
 * are looked up in @pmu, which is NULL for an event of no PMU; the general ones of perf-record(1)
 * do not need it. @alias is an event of the PMU that is meant even though it is not among the
 * terms, or NULL. Aliases come first, so that a term beside them can change a field of theirs.
 * Sets ->name (name=), and ->unit and ->scale of an alias.
 */
int pev_terms_apply(const struct pev_terms *terms, const struct pev_pmu *pmu, const char *alias,
		    struct pev_event *event, struct pev_err *err);

/* Reads a decimal number, or a hexadecimal one behind 0x, that is all there is. */
bool pev_term_number(const char *text, uint64_t *ret);

/* Reads "r1a8", the number of a raw event: 1 to 16 hexadecimal digits behind an r. */
bool pev_term_raw(const char *text, uint64_t *ret);

/* Refuses "KEY=VALUE" whose value should have been a number; returns -EINVAL. */
int pev_term_not_a_number(const struct pev_term *term, struct pev_err *err);

/*
 * The general terms (event_term_general.c). pev_term_is_general() says whether @key is one where
 * the PMU is @pmu (NULL: none), pev_term_general() lays it over @event or refuses it with the
 * reason, pev_term_offer_general() lets those compete that are not refused.
 */
bool pev_term_is_general(const char *key, const struct pev_pmu *pmu);
int pev_term_general(const struct pev_term *term, const struct pev_pmu *pmu,
		     struct pev_event *event, struct pev_err *err);
void pev_term_offer_general(const struct pev_pmu *pmu, struct pev_near *near);

/* attr.config, config1, ... config4 by number; attr.size grows to cover it. */
uint64_t *pev_attr_config(struct pev_attr *attr, unsigned word);
