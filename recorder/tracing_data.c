// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The layout is that of trace-cmd's files, version 0.6 (tools/perf/util/trace-event-info.c writes
 * it, trace-event-read.c reads it; there is no other specification). Integers are in the byte order
 * of the machine, strings end with a NUL, and a <file> is a size of 64 bits and the file's text:
 *
 *   027 010 104 "tracing"       ten bytes
 *   "0.6"
 *   u8   byte order             0 little, 1 big
 *   u8   size of a long
 *   u32  size of a page
 *   "header_page"  <events/header_page>
 *   "header_event" <events/header_event>
 *   u32  number of ftrace's own events, and a <events/ftrace/NAME/format> for each
 *   u32  number of systems, and for each:
 *        NAME
 *        u32  number of events, and a <events/SYSTEM/NAME/format> for each
 *   u32  0                      size of kallsyms, which no reader uses
 *   u32  size of printk_formats, and its text
 *   u64  size of saved_cmdlines, and its text
 *
 * Systems and events come in the order of their directories, as perf finds them.
 */
#include "recorder/tracing_data.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/dirlist.h"
#include "recorder/tracepoint.h"

#include <endian.h>
#include <stdbool.h>
#include <stdio.h>

#define FILE_BYTES_MAX (64U << 20)

struct builder {
	const struct pev_evlist *list;
	struct pev_buf *buf;
	struct pev_err *err;
	const char *tracefs;
};

static int no_memory(const struct builder *b)
{
	return pev_err_set(b->err, -ENOMEM, "no memory for the description of the tracepoints");
}

/* Puts TRACEFS/@name behind its size, which is @size_bytes wide. A file that may miss counts as
 * empty then: not every kernel has all of them. */
static int put_file(const struct builder *b, const char *name, size_t size_bytes, bool may_miss)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/%s", b->tracefs, name) < 0)
		return no_memory(b);
	r = pev_read_path(path, FILE_BYTES_MAX, &text);
	if (r < 0 && !(r == -ENOENT && may_miss))
		return pev_tracefs_refused(path, r, b->err);
	if (size_bytes == sizeof(uint32_t))
		pev_buf_u32(b->buf, (uint32_t)text.size);
	else
		pev_buf_u64(b->buf, text.size);
	pev_buf_put(b->buf, text.data, text.size);
	return 0;
}

/* Whether the list has a tracepoint of @system, and of this @name unless that is NULL. */
static bool wanted(const struct builder *b, const char *system, const char *name)
{
	const size_t n = strlen(system);

	for (size_t i = 0; i < b->list->nr; i++) {
		const struct pev_event *const e = &b->list->events[i];

		if (e->attr.type == PEV_TYPE_TRACEPOINT && !strncmp(e->name, system, n) &&
		    e->name[n] == ':' && (!name || !strcmp(e->name + n + 1, name)))
			return true;
	}
	return false;
}

/* Overwrites the four bytes at @at, which hold the place of a number that was not known yet. */
static void set_count(const struct builder *b, size_t at, uint32_t count)
{
	if (pev_buf_status(b->buf) == 0)
		memcpy(b->buf->data + at, &count, sizeof(count));
}

/* The number of @system's wanted events, and their formats. */
static int put_formats(const struct builder *b, const char *system)
{
	_cleanup_dirlist_ struct pev_dirlist names = { 0 };
	_cleanup_free_ char *dir = NULL;
	const size_t at = b->buf->size;
	uint32_t count = 0;
	int r;

	if (asprintf(&dir, "%s/events/%s", b->tracefs, system) < 0)
		return no_memory(b);
	r = pev_dirlist_read(dir, 1, &names);
	if (r < 0)
		return pev_tracefs_refused(dir, r, b->err);
	pev_buf_u32(b->buf, 0);
	for (int i = 0; i < names.nr; i++) {
		_cleanup_free_ char *format = NULL;

		if (!wanted(b, system, names.entries[i]->d_name))
			continue;
		if (asprintf(&format, "events/%s/%s/format", system, names.entries[i]->d_name) < 0)
			return no_memory(b);
		r = put_file(b, format, sizeof(uint64_t), false);
		if (r < 0)
			return r;
		count++;
	}
	set_count(b, at, count);
	return 0;
}

static int put_systems(const struct builder *b)
{
	_cleanup_dirlist_ struct pev_dirlist systems = { 0 };
	_cleanup_free_ char *dir = NULL;
	const size_t at = b->buf->size;
	uint32_t count = 0;
	int r;

	if (asprintf(&dir, "%s/events", b->tracefs) < 0)
		return no_memory(b);
	r = pev_dirlist_read(dir, 1, &systems);
	if (r < 0)
		return pev_tracefs_refused(dir, r, b->err);
	pev_buf_u32(b->buf, 0);
	for (int i = 0; i < systems.nr; i++) {
		const char *const system = systems.entries[i]->d_name;

		if (!strcmp(system, "ftrace") || !wanted(b, system, NULL))
			continue;
		pev_buf_put(b->buf, system, strlen(system) + 1);
		r = put_formats(b, system);
		if (r < 0)
			return r;
		count++;
	}
	set_count(b, at, count);
	return 0;
}

/* A tracepoint that went away, with its module, must not go missing silently. Returns how many
 * tracepoints the list has. */
static int check(const struct builder *b)
{
	int nr = 0;

	for (size_t i = 0; i < b->list->nr; i++) {
		const struct pev_event *const e = &b->list->events[i];
		const char *const colon = strchr(e->name, ':');
		_cleanup_free_ char *system = NULL, *path = NULL;

		if (e->attr.type != PEV_TYPE_TRACEPOINT)
			continue;
		if (!colon)
			return pev_err_set(
				b->err, -EINVAL,
				"tracepoint '%s' is not named SYSTEM:NAME, so its format "
				"cannot be found",
				e->name);
		system = strndup(e->name, (size_t)(colon - e->name));
		path = system ? pev_tracepoint_format_path(b->tracefs, system, colon + 1) : NULL;
		if (!path)
			return no_memory(b);
		if (access(path, R_OK) < 0)
			return pev_tracefs_refused(path, -errno, b->err);
		nr++;
	}
	return nr;
}

int pev_tracing_data_build_from(const char *tracefs, const struct pev_evlist *list,
				struct pev_buf *ret, struct pev_err *err)
{
	static const char magic[] = "\027\010\104tracing"
				    "0.6";
	const struct builder b = { .list = list, .buf = ret, .err = err, .tracefs = tracefs };
	int r;

	r = check(&b);
	if (r <= 0)
		return r;
	pev_buf_put(ret, magic, sizeof(magic));
	pev_buf_u8(ret, __BYTE_ORDER == __BIG_ENDIAN);
	pev_buf_u8(ret, sizeof(long));
	pev_buf_u32(ret, (uint32_t)sysconf(_SC_PAGESIZE));

	pev_buf_put(ret, "header_page", sizeof("header_page"));
	r = put_file(&b, "events/header_page", sizeof(uint64_t), false);
	if (r < 0)
		return r;
	pev_buf_put(ret, "header_event", sizeof("header_event"));
	r = put_file(&b, "events/header_event", sizeof(uint64_t), false);
	if (r < 0)
		return r;
	r = put_formats(&b, "ftrace");
	if (r < 0)
		return r;
	r = put_systems(&b);
	if (r < 0)
		return r;
	pev_buf_u32(ret, 0);
	r = put_file(&b, "printk_formats", sizeof(uint32_t), true);
	if (r < 0)
		return r;
	r = put_file(&b, "saved_cmdlines", sizeof(uint64_t), true);
	if (r < 0)
		return r;
	return pev_buf_status(ret) < 0 ? no_memory(&b) : 0;
}

int pev_tracing_data_build(const struct pev_evlist *list, struct pev_buf *ret, struct pev_err *err)
{
	_cleanup_free_ char *tracefs = NULL;
	bool any = false;
	int r;

	for (size_t i = 0; i < list->nr; i++)
		any = any || list->events[i].attr.type == PEV_TYPE_TRACEPOINT;
	if (!any)
		return 0;
	r = pev_tracefs_find(&tracefs, err);
	if (r < 0)
		return r;
	return pev_tracing_data_build_from(tracefs, list, ret, err);
}
