// SPDX-License-Identifier: LGPL-2.1-or-later
#include "event_text.h"

#include "base/checked.h"

#include <inttypes.h>

static void put_hex(struct pev_buf *b, const char *name, uint64_t v)
{
	if (v)
		pev_buf_printf(b, " %s=%" PRIx64, name, v);
}

static void put_word(struct pev_buf *b, const char *name, const char *v)
{
	if (v)
		pev_buf_printf(b, " %s=%s", name, v);
}

static void put_flags(struct pev_buf *b, const struct pev_event *e)
{
	static const struct {
		uint64_t flag;
		const char *text;
	} flags[] = {
		{ PEV_ATTR_EXCLUDE_USER, " -u" }, { PEV_ATTR_EXCLUDE_KERNEL, " -k" },
		{ PEV_ATTR_EXCLUDE_HV, " -h" },   { PEV_ATTR_EXCLUDE_IDLE, " -i" },
		{ PEV_ATTR_EXCLUDE_HOST, " -H" }, { PEV_ATTR_EXCLUDE_GUEST, " -G" },
		{ PEV_ATTR_PINNED, " D" },        { PEV_ATTR_EXCLUSIVE, " e" },
	};
	const unsigned precise =
		(unsigned)((e->attr.flags & PEV_ATTR_PRECISE_IP_MASK) >> PEV_ATTR_PRECISE_IP_SHIFT);

	for (size_t i = 0; i < PEV_ARRAY_SIZE(flags); i++)
		if (e->attr.flags & flags[i].flag)
			pev_buf_printf(b, "%s", flags[i].text);
	if (precise)
		pev_buf_printf(b, " p%u", precise);
	if (e->precise_max)
		pev_buf_printf(b, " P");
	if (e->sample_read)
		pev_buf_printf(b, " S");
}

static void put_event(struct pev_buf *b, const struct pev_event *e, size_t index)
{
	const struct pev_attr *const a = &e->attr;

	pev_buf_printf(b, "%s%s %u:%" PRIx64, index ? "; " : "", e->name, a->type, a->config);
	put_hex(b, "c1", a->config1);
	put_hex(b, "c2", a->config2);
	put_hex(b, "c3", a->config3);
	put_hex(b, "c4", a->config4);
	put_hex(b, "bp", a->bp_type);
	put_flags(b, e);
	if (a->sample_period)
		pev_buf_printf(b, " %s=%" PRIu64 "%s", a->flags & PEV_ATTR_FREQ ? "freq" : "period",
			       a->sample_period, e->has_period ? "!" : "");
	put_hex(b, "st", a->sample_type);
	if (a->size != PEV_ATTR_SIZE_VER7)
		pev_buf_printf(b, " size=%u", a->size);
	if (a->sample_max_stack)
		pev_buf_printf(b, " max-stack=%u", a->sample_max_stack);
	if (e->leader != index)
		pev_buf_printf(b, " <%zu", e->leader);
	put_word(b, "group", e->group_name);
	put_word(b, "filter", e->filter);
	put_word(b, "pmu", e->pmu);
	put_word(b, "cpus", e->cpus);
	put_word(b, "path", e->path);
	put_word(b, "unit", e->unit);
	if (e->scale < 1.0 || e->scale > 1.0)
		pev_buf_printf(b, " scale=%g", e->scale);
	if (e->want_inherit)
		pev_buf_printf(b, " inherit=%d", e->want_inherit == PEV_CHOICE_YES);
	if (e->has_callgraph)
		pev_buf_printf(b, " callgraph=%d", (int)e->callgraph);
	if (e->stack_bytes)
		pev_buf_printf(b, " stack=%u", e->stack_bytes);
}

void event_text(const struct pev_evlist *list, struct pev_buf *ret)
{
	for (size_t i = 0; i < list->nr; i++)
		put_event(ret, &list->events[i], i);
	pev_buf_u8(ret, 0);
}
