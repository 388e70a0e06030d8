// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A base without a colon is looked up as a generic name ("cycles"), as a PMU when terms follow
 * ("cpu/.../"), as an event in the events/ of any PMU ("mem-loads") and as a raw number ("r1a8"),
 * in this order. With a colon it is a name and its modifiers ("cycles:u"), a type and its config
 * ("1:2"), a breakpoint ("mem:...") or else a tracepoint.
 */
#include "recorder/event_resolve.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "recorder/event_modifier.h"
#include "recorder/event_names.h"
#include "recorder/event_term.h"
#include "recorder/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One call of pev_resolve(). */
struct job {
	struct pev_resolver *resolver;
	struct pev_evlist *list;
	struct pev_err *err;
	const char *name;  /* of the spelling */
	const char *base;  /* without what follows as modifiers */
	const char *terms; /* as written; NULL when there are none */
	const char *modifiers;
};

void pev_resolver_done(struct pev_resolver *resolver)
{
	pev_pmus_done(&resolver->pmus);
	free(resolver->tracefs);
	*resolver = (struct pev_resolver){ 0 };
}

static int no_memory(const struct job *j)
{
	return pev_err_set(j->err, -ENOMEM, "no memory for event '%s'", j->name);
}

/* Names the event in front of what was said. The code must not come from ->err, which may be
 * NULL. */
static int in_event(const struct job *j, int code)
{
	(void)pev_err_wrap(j->err, "event '%s'", j->name);
	return code;
}

static int need_pmus(const struct job *j)
{
	struct pev_resolver *const resolver = j->resolver;
	int r;

	if (resolver->has_pmus)
		return 0;
	r = pev_pmus_read(resolver->sources.pmus, &resolver->pmus, j->err);
	/* Without sysfs only the generic events are left. */
	if (r < 0 && r != -ENOENT)
		return r;
	resolver->has_pmus = true;
	return 0;
}

static int need_tracefs(const struct job *j)
{
	struct pev_resolver *const resolver = j->resolver;

	if (resolver->tracefs)
		return 0;
	if (!resolver->sources.tracefs) {
		const int r = pev_tracefs_find(&resolver->tracefs, j->err);

		return r < 0 ? in_event(j, r) : 0;
	}
	resolver->tracefs = strdup(resolver->sources.tracefs);
	return resolver->tracefs ? 0 : no_memory(j);
}

/* What "cycles" is called where it means one event for each kind of CPU: "cpu_core/cycles/". */
static char *qualified_name(const struct job *j, const char *pmu)
{
	const bool terms = j->terms && *j->terms;
	char *name;

	if (asprintf(&name, "%s/%s%s%s/%s", pmu, j->base, terms ? "," : "", terms ? j->terms : "",
		     j->modifiers) < 0)
		return NULL;
	return name;
}

static bool is_pmu(const struct pev_pmu *pmu, const char *name)
{
	return pmu && !strcmp(pmu->name, name);
}

/* A probe without a place would be opened, somewhere. */
static int check_probe(const struct job *j, const struct pev_pmu *pmu,
		       const struct pev_terms *terms, const struct pev_event *e)
{
	if (is_pmu(pmu, "uprobe") && (!e->path || !pev_terms_get(terms, "offset")))
		return pev_err_set(j->err, -EINVAL,
				   "event '%s' does not say where to probe: write "
				   "uprobe/path=FILE,offset=0x.../, with the offset in the file",
				   j->name);
	if (is_pmu(pmu, "kprobe") && !e->path && !pev_terms_get(terms, "addr"))
		return pev_err_set(j->err, -EINVAL,
				   "event '%s' does not say where to probe: write "
				   "kprobe/func=NAME/ or kprobe/addr=0x.../",
				   j->name);
	return 0;
}

/* Lays terms and modifiers over the new event @e and gives it its name. */
static int finish(const struct job *j, const struct pev_pmu *pmu, const char *alias,
		  struct pev_event *e)
{
	_cleanup_free_ char *cut = NULL;
	struct pev_terms terms = { .nr = 0 };
	int r;

	if (j->terms) {
		cut = strdup(j->terms);
		if (!cut)
			return no_memory(j);
		r = pev_terms_split(cut, &terms, j->err);
		if (r < 0)
			return in_event(j, r);
	}
	r = pev_terms_apply(&terms, pmu, alias, e, j->err);
	if (r == 0)
		r = pev_modifiers_apply(j->modifiers, false, e, j->err);
	if (r < 0)
		return in_event(j, r);
	r = check_probe(j, pmu, &terms, e);
	if (r < 0)
		return r;
	if (e->name)
		return 0;
	e->name = pmu && pmu->one_of_many && strcmp(j->base, pmu->name)
			  ? qualified_name(j, pmu->name)
			  : strdup(j->name);
	return e->name ? 0 : no_memory(j);
}

/* A new event that counts on the CPUs of @pmu. */
static struct pev_event *add_on(const struct job *j, const struct pev_pmu *pmu)
{
	struct pev_event *const e = pev_evlist_add(j->list);

	if (!e)
		return NULL;
	e->attr.type = pmu->type;
	e->pmu = strdup(pmu->name);
	e->cpus = pmu->cpus ? strdup(pmu->cpus) : NULL;
	return e->pmu && (!pmu->cpus || e->cpus) ? e : NULL;
}

static int add_plain(const struct job *j, uint32_t type, uint64_t config)
{
	struct pev_event *const e = pev_evlist_add(j->list);

	if (!e)
		return no_memory(j);
	e->attr.type = type;
	e->attr.config = config;
	if (type == PEV_TYPE_SOFTWARE && config == PEV_SW_BPF_OUTPUT) {
		e->attr.sample_period = 1;
		e->attr.sample_type = PEV_SAMPLE_RAW | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU;
	}
	return finish(j, NULL, NULL, e);
}

/* A hardware, cache or raw event: one for each kind of CPU. */
static int add_hardware(const struct job *j, uint32_t type, uint64_t config)
{
	bool many = false;
	int r;

	r = need_pmus(j);
	if (r < 0)
		return r;
	for (size_t i = 0; i < j->resolver->pmus.nr; i++) {
		const struct pev_pmu *const pmu = &j->resolver->pmus.pmus[i];
		struct pev_event *e;

		if (!pmu->one_of_many)
			continue;
		many = true;
		e = add_on(j, pmu);
		if (!e)
			return no_memory(j);
		e->attr.config = config;
		if (type != PEV_TYPE_RAW) {
			e->attr.type = type;
			e->attr.config |= (uint64_t)pmu->type << 32;
		}
		r = finish(j, pmu, NULL, e);
		if (r < 0)
			return r;
	}
	return many ? 0 : add_plain(j, type, config);
}

/* Tracepoints and breakpoints have a PMU too, but no one can read a number there. */
static int refuse_number(const struct job *j)
{
	return pev_err_set(j->err, -EINVAL,
			   "event '%s' names a tracepoint or breakpoint by its number: write "
			   "SYSTEM:NAME for the one and mem:ADDRESS for the other",
			   j->name);
}

static bool needs_a_name(uint64_t type)
{
	return type == PEV_TYPE_TRACEPOINT || type == PEV_TYPE_BREAKPOINT;
}

static int add_pmu_event(const struct job *j, const struct pev_pmu *pmu, const char *alias)
{
	struct pev_event *e;

	if (needs_a_name(pmu->type))
		return refuse_number(j);
	e = add_on(j, pmu);
	if (!e)
		return no_memory(j);
	if (is_pmu(pmu, "uprobe") || is_pmu(pmu, "kprobe"))
		e->attr.sample_period = 1;
	return finish(j, pmu, alias, e);
}

/* "PMU/terms/". Returns 1, or 0 when no PMU is meant. */
static int add_pmus(const struct job *j)
{
	const struct pev_pmus *const pmus = &j->resolver->pmus;
	int found = 0;

	for (size_t i = 0; i < pmus->nr; i++)
		if (!strcmp(j->base, pmus->pmus[i].name)) {
			const int r = add_pmu_event(j, &pmus->pmus[i], NULL);

			return r < 0 ? r : 1;
		}
	for (size_t i = 0; i < pmus->nr; i++) {
		int r;

		if (!pev_pmu_matches(j->base, pmus->pmus[i].name))
			continue;
		r = add_pmu_event(j, &pmus->pmus[i], NULL);
		if (r < 0)
			return r;
		found = 1;
	}
	return found;
}

/* An event that some PMU's events/ has. Returns 1, or 0 when none has it. */
static int add_aliases(const struct job *j)
{
	const struct pev_pmus *const pmus = &j->resolver->pmus;
	int found = 0;

	for (size_t i = 0; i < pmus->nr; i++) {
		int r;

		if (!pev_pmu_has_event(&pmus->pmus[i], j->base))
			continue;
		r = add_pmu_event(j, &pmus->pmus[i], j->base);
		if (r < 0)
			return r;
		found = 1;
	}
	return found;
}

/* Names that mean something, but not here. */
static const struct {
	const char *name;
	int code;
	const char *why;
} elsewhere[] = {
	{ "cpu", -ENOENT,
	  "this machine shows no counters of a CPU 'cpu' (a virtual machine without a PMU?): use "
	  "cpu-clock, or look for another name in /sys/bus/event_source/devices" },
	{ "uprobe", -ENOENT, "this kernel is built without uprobes (CONFIG_UPROBE_EVENTS)" },
	{ "kprobe", -ENOENT, "this kernel is built without kprobes (CONFIG_KPROBE_EVENTS)" },
	{ "duration_time", -EINVAL, "it is a figure of perf stat and takes no samples" },
	{ "user_time", -EINVAL, "it is a figure of perf stat and takes no samples" },
	{ "system_time", -EINVAL, "it is a figure of perf stat and takes no samples" },
};

static int unknown(const struct job *j)
{
	const struct pev_pmus *const pmus = &j->resolver->pmus;
	struct pev_near near = pev_near(j->base);
	char hint[320];

	pev_named_event_offer(&near);
	for (size_t i = 0; i < pmus->nr; i++) {
		if (!j->terms && !strcmp(pmus->pmus[i].name, j->base))
			return pev_err_set(j->err, -EINVAL,
					   "'%s' is a PMU, not an event: write %s/EVENT/ with one "
					   "of %s/events",
					   j->base, j->base, pmus->pmus[i].dir);
		pev_pmu_offer_events(&pmus->pmus[i], &near);
		if (j->terms)
			pev_near_offer(&near, pmus->pmus[i].name);
	}
	for (size_t i = 0; i < PEV_ARRAY_SIZE(elsewhere); i++)
		if (!strcmp(j->base, elsewhere[i].name))
			return pev_err_set(j->err, elsewhere[i].code, "event '%s': %s", j->name,
					   elsewhere[i].why);
	return pev_err_set(j->err, -ENOENT, "unknown %s '%s': %s",
			   j->terms ? "PMU or event" : "event", j->base,
			   pev_near_phrase(&near,
					   j->terms ? "ls /sys/bus/event_source/devices shows the "
						      "PMUs of this machine"
						    : "perf list shows what there is; an event of "
						      "the CPU maker's manual is written as "
						      "cpu/event=0x..,umask=0x../ or rNNNN",
					   hint, sizeof(hint)));
}

/* A base without a colon. Returns 1, or 0 when nothing has that name. */
static int add_named(const struct job *j)
{
	struct pev_named_event named;
	uint64_t config;
	int r;

	r = pev_named_event_find(j->base, &named);
	if (r == -EINVAL)
		return pev_err_set(j->err, r,
				   "event '%s' does not exist: that cache is not asked for this "
				   "operation; perf list cache shows those that are",
				   j->base);
	if (r == 0) {
		r = named.type == PEV_TYPE_SOFTWARE ? add_plain(j, named.type, named.config)
						    : add_hardware(j, named.type, named.config);
		return r < 0 ? r : 1;
	}
	r = need_pmus(j);
	if (r < 0)
		return r;
	r = j->terms ? add_pmus(j) : 0;
	if (r == 0)
		r = add_aliases(j);
	if (r != 0 || !pev_term_raw(j->base, &config))
		return r;
	r = add_hardware(j, PEV_TYPE_RAW, config);
	return r < 0 ? r : 1;
}

static int add_tracepoint(void *userdata, const char *system, const char *name, uint64_t id)
{
	const struct job *const j = userdata;
	struct pev_event *const e = pev_evlist_add(j->list);

	if (!e || asprintf(&e->name, "%s:%s", system, name) < 0)
		return no_memory(j);
	e->attr.type = PEV_TYPE_TRACEPOINT;
	e->attr.config = id;
	e->attr.sample_period = 1;
	e->attr.sample_type = PEV_SAMPLE_RAW | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU;
	return finish(j, NULL, NULL, e);
}

/* @base is "SYSTEM:NAME", or "SYSTEM:NAME:MODIFIERS" where no terms follow. */
static int add_tracepoints(struct job *j, char *base)
{
	const struct pev_tracepoint_visitor visitor = { add_tracepoint, j };
	char *const name = strchr(base, ':') + 1;
	char *const colon = strchr(name, ':');
	int r;

	*(name - 1) = '\0';
	if (colon) {
		*colon = '\0';
		if (!*j->modifiers)
			j->modifiers = colon + 1;
	}
	if (!*name || strchr(base, '/') || strchr(name, '/'))
		return pev_err_set(j->err, -EINVAL,
				   "event '%s' is no tracepoint: write SYSTEM:NAME, as in "
				   "sched:sched_switch",
				   j->name);
	r = need_tracefs(j);
	if (r < 0)
		return r;
	return pev_tracepoint_each(j->resolver->tracefs, base, name, &visitor, j->err);
}

/* attr.bp_type (linux/hw_breakpoint.h). */
enum {
	BP_READ = 1,
	BP_WRITE = 2,
	BP_EXECUTE = 4,
};

static bool breakpoint_access(const char *text, uint32_t *ret)
{
	uint32_t access = 0;

	for (; *text; text++) {
		const uint32_t bit = *text == 'r'   ? BP_READ
				     : *text == 'w' ? BP_WRITE
				     : *text == 'x' ? BP_EXECUTE
						    : 0;

		if (!bit || (access & bit))
			return false;
		access |= bit;
	}
	*ret = access;
	return access != 0;
}

/* @base is "mem:ADDR[/LEN][:ACCESS][:MODIFIERS]"; without ACCESS it is "rw", 4 bytes long, and code
 * is as long as the kernel wants it, sizeof(long). */
static int add_breakpoint(struct job *j, char *base)
{
	char *address = base + strlen("mem:"), *rest = strchr(address, ':');
	char *const slash = strchr(address, '/');
	uint64_t bytes = 0, where;
	struct pev_event *e;
	uint32_t access = BP_READ | BP_WRITE;

	if (rest)
		*rest++ = '\0';
	if (slash)
		*slash = '\0';
	if (!pev_term_number(address, &where))
		return pev_err_set(j->err, -EINVAL,
				   "event '%s': the address '%s' is not a number: write "
				   "mem:0xADDRESS[/BYTES][:rwx]; nm PROGRAM shows the addresses",
				   j->name, address);
	if (slash && (!pev_term_number(slash + 1, &bytes) || !bytes || bytes > 8))
		return pev_err_set(j->err, -EINVAL,
				   "event '%s': a breakpoint watches 1 to 8 bytes, not '%s'",
				   j->name, slash + 1);
	if (rest && *rest) {
		char *const colon = strchr(rest, ':');

		if (colon)
			*colon = '\0';
		if (breakpoint_access(rest, &access))
			rest = colon ? colon + 1 : rest + strlen(rest);
		else if (colon || !pev_modifiers_possible(rest))
			return pev_err_set(j->err, -EINVAL,
					   "event '%s': a breakpoint waits for r (read), w (write) "
					   "or x (execution), not for '%s'",
					   j->name, rest);
		if (*rest)
			j->modifiers = rest;
	}
	e = pev_evlist_add(j->list);
	/* Every perf up to 7.2 cuts the name at the slash, too. */
	if (!e || !(e->name = strndup(j->name, strcspn(j->name, "/"))))
		return no_memory(j);
	e->attr.type = PEV_TYPE_BREAKPOINT;
	e->attr.bp_type = access;
	e->attr.config1 = where;
	e->attr.config2 = bytes ? bytes : access == BP_EXECUTE ? sizeof(long) : 4;
	e->attr.sample_period = 1;
	return finish(j, NULL, NULL, e);
}

/* "TYPE:CONFIG[:MODIFIERS]", both numbers. False when @base is not of this form. */
static bool split_numbers(char *base, uint64_t *ret_type, uint64_t *ret_config,
			  const char **ret_modifiers)
{
	char *const config = strchr(base, ':') + 1;
	char *const colon = strchr(config, ':');
	bool ok;

	config[-1] = '\0';
	if (colon)
		*colon = '\0';
	ok = pev_term_number(base, ret_type) && *ret_type <= UINT32_MAX &&
	     pev_term_number(config, ret_config);
	config[-1] = ':';
	if (ok)
		*ret_modifiers = colon ? colon + 1 : "";
	else if (colon)
		*colon = ':';
	return ok;
}

/* "WORD:BEHIND": an event with its modifiers, or a tracepoint. */
static int add_word_and_behind(struct job *j, char *base, char *behind)
{
	const bool maybe_modifiers = pev_modifiers_possible(behind);
	struct pev_named_event named;
	int r;

	behind[-1] = '\0';
	if (maybe_modifiers || pev_named_event_find(base, &named) != -ENOENT) {
		j->modifiers = behind;
		r = add_named(j);
		if (r != 0)
			return r;
		j->modifiers = "";
	}
	behind[-1] = ':';
	r = add_tracepoints(j, base);
	/* "cylces:u" is more likely a typing error than a tracepoint. */
	return r < 0 && r != -ENOMEM && maybe_modifiers ? unknown(j) : r;
}

int pev_resolve(struct pev_resolver *resolver, const struct pev_spelling *spelling,
		struct pev_evlist *list, struct pev_err *err)
{
	_cleanup_free_ char *base = strdup(spelling->base);
	struct job j = {
		.resolver = resolver,
		.list = list,
		.err = err,
		.name = spelling->name,
		.base = base,
		.terms = spelling->terms,
		.modifiers = spelling->modifiers,
	};
	uint64_t type, config;
	char *colon;
	int r;

	if (!base)
		return no_memory(&j);
	if (!strncmp(base, "mem:", 4))
		return add_breakpoint(&j, base);
	colon = strchr(base, ':');
	if (colon == base)
		return pev_err_set(err, -EINVAL,
				   "event '%s' has no name before its colon: write EVENT:MODIFIERS "
				   "or SYSTEM:TRACEPOINT",
				   j.name);
	if (!colon) {
		r = add_named(&j);
		if (r == 0)
			r = unknown(&j);
	} else if (j.terms) {
		r = add_tracepoints(&j, base);
	} else if (!split_numbers(base, &type, &config, &j.modifiers)) {
		r = add_word_and_behind(&j, base, colon + 1);
	} else {
		r = needs_a_name(type) ? refuse_number(&j) : add_plain(&j, (uint32_t)type, config);
	}
	return r < 0 ? r : 0;
}

int pev_resolver_cpu_kind(const struct pev_resolver *resolver, const struct pev_event *event)
{
	for (size_t i = 0; event->pmu && i < resolver->pmus.nr; i++) {
		const struct pev_pmu *const pmu = &resolver->pmus.pmus[i];

		if (pmu->one_of_many && !strcmp(pmu->name, event->pmu))
			return (int)i;
	}
	return -1;
}
