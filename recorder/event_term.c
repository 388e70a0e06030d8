// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/event_term.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "recorder/event_names.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

bool pev_term_number(const char *text, uint64_t *ret)
{
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *const digits = hex ? text + 2 : text;
	uint64_t v;
	char *end;

	/* strtoull() would take signs and blanks. */
	if (!(hex ? isxdigit((unsigned char)*digits) : isdigit((unsigned char)*digits)))
		return false;
	errno = 0;
	v = strtoull(digits, &end, hex ? 16 : 10);
	if (errno || *end)
		return false;
	*ret = v;
	return true;
}

int pev_term_not_a_number(const struct pev_term *term, struct pev_err *err)
{
	return pev_err_set(err, -EINVAL,
			   "the value of %s=%s is not a number of 64 bits: write digits, or "
			   "hexadecimal ones behind 0x",
			   term->key, term->value);
}

/* The slash that ends the terms whose last one is the path beginning at @path, or, with a comma
 * behind the path, that comma. NULL when there is neither. */
static char *path_end(char *path)
{
	char *p = path + strcspn(path, ",{}");

	if (p > path && p[-1] == '/')
		return p - 1;
	if (*p == ',')
		return p;
	while (p > path)
		if (*--p == '/')
			return p;
	return NULL;
}

char *pev_terms_end(char *text)
{
	bool at_key = true;

	for (char *p = text; *p; p++) {
		if (at_key && !strncmp(p, "path=", 5) && !strchr("'\"", p[5]))
			p = path_end(p + 5);
		else if (*p == '\'' || *p == '"')
			p = strchr(p + 1, *p);
		if (!p || *p == '/')
			return p;
		at_key = *p == ',';
	}
	return NULL;
}

static int split_one(char *text, struct pev_term *ret, struct pev_err *err)
{
	char *const equals = strchr(text, '=');
	struct pev_term term = { .key = text };
	char *value;
	size_t n;

	if (equals) {
		*equals = '\0';
		value = equals + 1;
		n = strlen(value);
		if (!n)
			return pev_err_set(
				err, -EINVAL,
				"the term '%s=' has no value: give one, or leave '=' out", text);
		if (*value == '\'' || *value == '"') {
			if (n < 2 || value[n - 1] != *value)
				return pev_err_set(err, -EINVAL,
						   "the quoted value of '%s' does not end with its "
						   "quote: put quotes around the whole value",
						   text);
			value[n - 1] = '\0';
			value++;
		}
		term.value = value;
	}
	if (!*text)
		return pev_err_set(err, -EINVAL,
				   "a term is empty: put NAME or NAME=VALUE between the commas");
	*ret = term;
	return 0;
}

/* The comma that ends the term beginning at @text, or the end of all. */
static char *term_end(char *text)
{
	for (; *text && *text != ','; text++)
		if (*text == '\'' || *text == '"') {
			char *const twin = strchr(text + 1, *text);

			text = twin ? twin : text;
		}
	return text;
}

int pev_terms_split(char *text, struct pev_terms *ret, struct pev_err *err)
{
	bool last = !*text;

	ret->nr = 0;
	while (!last) {
		char *const end = term_end(text);
		int r;

		last = !*end;
		*end = '\0';
		if (ret->nr == PEV_TERMS_MAX)
			return pev_err_set(err, -E2BIG,
					   "there are more than %d terms: leave some out",
					   PEV_TERMS_MAX);
		r = split_one(text, &ret->terms[ret->nr], err);
		if (r < 0)
			return r;
		ret->nr++;
		text = end + 1;
	}
	return 0;
}

const char *pev_terms_get(const struct pev_terms *terms, const char *key)
{
	for (size_t i = 0; i < terms->nr; i++)
		if (!strcmp(terms->terms[i].key, key) && terms->terms[i].value)
			return terms->terms[i].value;
	return NULL;
}

/* 1 when @term is a field of the PMU, which is then filled; 0 when it is none. */
static int apply_field(const struct pev_term *term, const struct pev_pmu *pmu,
		       struct pev_event *event, struct pev_err *err)
{
	struct pev_pmu_field field;
	uint64_t v = 1, max, *word;
	int r;

	r = pev_pmu_field(pmu, term->key, &field);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return pev_err_set(err, r, "cannot make sense of %s/format/%s: %s", pmu->dir,
				   term->key, pev_errno_str(r));
	if (term->value && !pev_term_number(term->value, &v))
		return pev_term_not_a_number(term, err);
	max = UINT64_MAX >> (64 - __builtin_popcountll(field.mask));
	if (v > max)
		return pev_err_set(err, -EINVAL,
				   "%s=%s is too big: that field of PMU %s goes up to 0x%llx",
				   term->key, term->value, pmu->name, (unsigned long long)max);
	word = pev_attr_config(&event->attr, field.word);
	*word = (*word & ~field.mask) | pev_pmu_deposit(v, field.mask);
	return 1;
}

/* One term of what an alias stands for. "?" leaves the value to the person. */
static int apply_alias_term(const struct pev_term *term, const struct pev_terms *terms,
			    const struct pev_pmu *pmu, const char *name, struct pev_event *event,
			    struct pev_err *err)
{
	int r;

	if (term->value && !strcmp(term->value, "?")) {
		if (pev_terms_get(terms, term->key))
			return 0;
		return pev_err_set(err, -EINVAL,
				   "event '%s' of PMU %s needs a value for %s: write %s/%s,%s=.../",
				   name, pmu->name, term->key, pmu->name, name, term->key);
	}
	if (pev_term_is_general(term->key, pmu)) {
		r = pev_term_general(term, pmu, event, err);
	} else {
		r = apply_field(term, pmu, event, err);
		if (r == 0)
			r = pev_err_set(err, -EBADMSG, "the PMU has no field '%s'", term->key);
	}
	if (r < 0) {
		(void)pev_err_wrap(err, "cannot make sense of %s/events/%s", pmu->dir, name);
		return r;
	}
	return 0;
}

/* Lays the terms that the PMU's event @name stands for over @event, and returns 1; 0 when there is
 * no such event. */
static int apply_alias(const char *name, const struct pev_terms *terms, const struct pev_pmu *pmu,
		       struct pev_event *event, struct pev_err *err)
{
	_cleanup_free_ char *text = NULL, *unit = NULL;
	struct pev_terms own;
	double scale = 1.0;
	int r;

	r = pev_pmu_alias(pmu, name, &text);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = pev_pmu_alias_unit(pmu, name, &unit, &scale);
	if (r < 0)
		return pev_err_set(err, r, "cannot read %s/events/%s: %s", pmu->dir, name,
				   pev_errno_str(r));
	r = pev_terms_split(text, &own, err);
	if (r < 0) {
		(void)pev_err_wrap(err, "cannot make sense of %s/events/%s", pmu->dir, name);
		return r;
	}
	for (size_t i = 0; i < own.nr; i++) {
		r = apply_alias_term(&own.terms[i], terms, pmu, name, event, err);
		if (r < 0)
			return r;
	}
	free(event->unit);
	event->unit = TAKE_PTR(unit);
	event->scale = scale;
	return 1;
}

/* "cpu_core/cycles/": the CPU's own counters know the generic names too. Where there are two kinds
 * of CPUs the upper half of the config tells them apart (perf_event_open(2), extended type). */
static bool apply_generic(const char *name, const struct pev_pmu *pmu, struct pev_event *event)
{
	struct pev_named_event named;

	if (!pmu->core || pev_named_event_find(name, &named) < 0 || named.type == PEV_TYPE_SOFTWARE)
		return false;
	event->attr.type = named.type;
	event->attr.config = named.config | (pmu->one_of_many ? (uint64_t)pmu->type << 32 : 0);
	return true;
}

bool pev_term_raw(const char *text, uint64_t *ret)
{
	const char *const digits = text + 1;
	const size_t n = text[0] == 'r' ? strspn(digits, "0123456789abcdefABCDEF") : 0;

	if (!n || n > 16 || digits[n])
		return false;
	*ret = strtoull(digits, NULL, 16);
	return true;
}

/* A term without a value may name an event: of the PMU, of every CPU, or by its number. Returns 1
 * when it does, and 0 when it is something else. */
static int apply_name(const struct pev_term *term, const struct pev_terms *terms,
		      const struct pev_pmu *pmu, struct pev_event *event, struct pev_err *err)
{
	struct pev_pmu_field field;
	int r;

	if (term->value || pev_term_is_general(term->key, pmu) ||
	    pev_pmu_field(pmu, term->key, &field) != -ENOENT)
		return 0;
	r = apply_alias(term->key, terms, pmu, event, err);
	if (r != 0)
		return r;
	return apply_generic(term->key, pmu, event) || pev_term_raw(term->key, &event->attr.config);
}

static int unknown_term(const char *key, const struct pev_pmu *pmu, struct pev_err *err)
{
	struct pev_near near = pev_near(key);
	char fields[256], otherwise[320], hint[320];

	pev_term_offer_general(pmu, &near);
	if (!pmu)
		return pev_err_set(err, -EINVAL, "unknown term '%s': %s", key,
				   pev_near_phrase(&near,
						   "there are name, period, freq, time, inherit, "
						   "no-inherit, max-stack, call-graph, stack-size",
						   hint, sizeof(hint)));
	pev_pmu_offer_fields(pmu, &near);
	pev_pmu_offer_events(pmu, &near);
	if (pmu->core)
		pev_named_event_offer(&near);
	(void)snprintf(otherwise, sizeof(otherwise), "its fields are %s",
		       pev_pmu_field_names(pmu, fields, sizeof(fields)));
	return pev_err_set(err, -ENOENT, "PMU %s has no event and no field '%s': %s", pmu->name,
			   key,
			   pev_near_phrase(&near, *fields ? otherwise : "it has none at all", hint,
					   sizeof(hint)));
}

int pev_terms_apply(const struct pev_terms *terms, const struct pev_pmu *pmu, const char *alias,
		    struct pev_event *event, struct pev_err *err)
{
	bool done[PEV_TERMS_MAX] = { false };
	int r;

	if (alias) {
		r = apply_alias(alias, terms, pmu, event, err);
		if (r == 0)
			r = pev_err_set(err, -ENOENT, "PMU %s has no event '%s'", pmu->name, alias);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; pmu && i < terms->nr; i++) {
		r = apply_name(&terms->terms[i], terms, pmu, event, err);
		if (r < 0)
			return r;
		done[i] = r;
	}
	for (size_t i = 0; i < terms->nr; i++) {
		const struct pev_term *const t = &terms->terms[i];

		if (done[i])
			continue;
		if (pev_term_is_general(t->key, pmu)) {
			r = pev_term_general(t, pmu, event, err);
		} else {
			r = pmu ? apply_field(t, pmu, event, err) : 0;
			if (r == 0)
				r = unknown_term(t->key, pmu, err);
		}
		if (r < 0)
			return r;
	}
	return 0;
}
