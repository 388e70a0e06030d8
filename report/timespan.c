// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/timespan.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "report/wall_time.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pev_timespan_is_relative(const char *text)
{
	return strchr(text, '%') != NULL;
}

/* "1234", "1234.567": seconds by the clock of the trace. */
static bool read_seconds(const char *s, uint64_t *ret)
{
	uint64_t seconds = 0, ns = 0, unit = 100000000;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(*s - '0'), &seconds))
			return false;
	if (*s == '.')
		for (s++; isdigit((unsigned char)*s) && unit; s++, unit /= 10)
			ns += (uint64_t)(*s - '0') * unit;
	return !*s && !__builtin_mul_overflow(seconds, PEV_NSEC_PER_SEC, &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret);
}

int pev_timespan_moment(const struct pev_timespan *s, const char *text, uint64_t *ret_ns,
			struct pev_err *err)
{
	uint64_t wall_ns;
	int r;

	if (read_seconds(text, ret_ns))
		return 0;
	r = pev_wall_time_parse(text, s->now_ns, &wall_ns, err);
	if (r < 0)
		return r;
	if (!s->clock.has_wall)
		return pev_err_set(
			err, -EINVAL,
			"the trace does not tell what time of day it was recorded (perf "
			"does with -k), so that '%s' means nothing in it: give seconds of "
			"its own clock, or percentages with --time",
			text);
	*ret_ns = pev_clock_from_wall(&s->clock, wall_ns);
	return 0;
}

static int bad(const char *text, struct pev_err *err)
{
	return pev_err_set(
		err, -EINVAL,
		"'%s' is no part of a trace: try '10%%-20%%', '10%%/2', or 'FROM,TO' with "
		"seconds or times of day",
		text);
}

/* The end of a range is part of it; UINT64_MAX is no end. */
static uint64_t behind(uint64_t end_ns)
{
	return end_ns == UINT64_MAX ? end_ns : end_ns + 1;
}

static bool read_percent(const char **s, double *ret)
{
	char *end;

	if (!isdigit((unsigned char)**s) && **s != '.')
		return false;
	*ret = strtod(*s, &end) / 100;
	if (*end != '%')
		return false;
	*s = end + 1;
	return true;
}

/* One of "10%-20%", "10%/2", "10%". */
static bool read_part(const struct pev_timespan *s, const char *text, struct pev_time_range *ret)
{
	const double total = (double)(s->last_ns - s->first_ns);
	double from = 0, to;
	uint64_t since, until;

	if (!read_percent(&text, &to))
		return false;
	if (*text == '-') {
		text++;
		from = to;
		if (!read_percent(&text, &to))
			return false;
	} else if (*text == '/') {
		char *end;
		const long n = strtol(text + 1, &end, 10);

		if (end == text + 1)
			return false;
		text = end;
		from = to * (double)(n - 1);
		to *= (double)n;
	}
	if (*text || !(from >= 0 && from <= to && to <= 1))
		return false;
	since = s->first_ns + (uint64_t)round(from * total);
	until = s->first_ns + (uint64_t)round(to * total);
	/* The sample on the border of two parts is in the second of them only. */
	if (until > since && until != s->last_ns)
		until--;
	*ret = (struct pev_time_range){ since, behind(until) };
	return true;
}

static bool read_end(const char *text, uint64_t *ret)
{
	return !*text || read_seconds(text, ret);
}

/* "FROM,TO" */
static int read_range(const struct pev_timespan *s, char *text, bool seconds,
		      struct pev_time_range *ret, struct pev_err *err)
{
	char *const comma = strchr(text, ',');
	uint64_t since = 0, until = UINT64_MAX;

	if (!comma)
		return bad(text, err);
	*comma = 0;
	if (seconds) {
		if (!read_end(text, &since) || !read_end(comma + 1, &until))
			return bad(text, err);
	} else {
		int r = *text ? pev_timespan_moment(s, text, &since, err) : 0;

		if (r == 0 && comma[1])
			r = pev_timespan_moment(s, comma + 1, &until, err);
		if (r < 0)
			return r;
	}
	if (until == 0)
		until = UINT64_MAX; /* perf's way to say so */
	if (until < since)
		return pev_err_set(err, -EINVAL, "'%s' begins after its end '%s'", text, comma + 1);
	*ret = (struct pev_time_range){ since, behind(until) };
	return 0;
}

/* Whether there is nothing but seconds in it, so that blanks are between ranges. */
static bool is_seconds(const char *text)
{
	return !text[strspn(text, "0123456789., ")];
}

static size_t count_pieces(const char *text, const char *between)
{
	size_t nr = 1;

	while ((text = strpbrk(text, between))) {
		text++;
		nr++;
	}
	return nr;
}

int pev_timespan_parse(const struct pev_timespan *s, const char *text, struct pev_time_range **ret,
		       size_t *ret_nr, struct pev_err *err)
{
	const bool percent = pev_timespan_is_relative(text);
	const char *const between = percent ? "," : is_seconds(text) ? " " : "";
	_cleanup_free_ struct pev_time_range *ranges =
		calloc(count_pieces(text, between), sizeof(*ranges));
	_cleanup_free_ char *copy = strdup(text);
	char *save = NULL;
	size_t nr = 0;

	if (!ranges || !copy)
		return pev_err_set(err, -ENOMEM, "no memory for the times");
	if (percent && !s->first_ns && !s->last_ns)
		return pev_err_set(err, -EINVAL, "the trace has no times that '%s' could be of",
				   text);
	for (char *piece = strtok_r(copy, between, &save); piece;
	     piece = strtok_r(NULL, between, &save)) {
		int r = 0;

		if (!percent)
			r = read_range(s, piece, *between == ' ', &ranges[nr], err);
		else if (!read_part(s, piece, &ranges[nr]))
			r = bad(text, err);
		if (r < 0)
			return r;
		if (!percent && nr && ranges[nr].since_ns < ranges[nr - 1].until_ns)
			return pev_err_set(err, -EINVAL,
					   "'%s': parts have to follow each other without overlap",
					   text);
		nr++;
	}
	if (!nr)
		return bad(text, err);
	*ret = TAKE_PTR(ranges);
	*ret_nr = nr;
	return 0;
}
