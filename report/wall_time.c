// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/wall_time.h"

#include "base/checked.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define NS_PER_SEC 1000000000.0

/* The units of systemd.time(7); a month is 30.44 days there, a year 365.25. */
static const struct {
	const char *name;
	double seconds;
} units[] = {
	{ "seconds", 1 },      { "second", 1 },       { "sec", 1 },     { "s", 1 },
	{ "minutes", 60 },     { "minute", 60 },      { "min", 60 },    { "months", 2629800 },
	{ "month", 2629800 },  { "M", 2629800 },      { "msec", 1e-3 }, { "ms", 1e-3 },
	{ "m", 60 },           { "hours", 3600 },     { "hour", 3600 }, { "hr", 3600 },
	{ "h", 3600 },         { "days", 86400 },     { "day", 86400 }, { "d", 86400 },
	{ "weeks", 604800 },   { "week", 604800 },    { "w", 604800 },  { "years", 31557600 },
	{ "year", 31557600 },  { "y", 31557600 },     { "usec", 1e-6 }, { "us", 1e-6 },
	{ "\xc2\xb5s", 1e-6 }, { "\xce\xbcs", 1e-6 }, { "nsec", 1e-9 }, { "ns", 1e-9 },
};

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* A decimal number without sign, exponent or anything else that strtod() takes beside. */
static bool read_number(const char **s, double *ret)
{
	const size_t n = strspn(*s, "0123456789.");
	char *end;

	if (!n || !isdigit((unsigned char)**s))
		return false;
	*ret = strtod(*s, &end);
	if (end != *s + n)
		return false;
	*s = end;
	return true;
}

/* "1h 30min", "90": how long, in seconds; false when it is no time span. */
static bool read_span(const char *s, double *ret)
{
	double sum = 0;

	s = skip_blanks(s);
	if (!*s)
		return false;
	while (*s) {
		double n, unit = 1;
		size_t len;

		if (!read_number(&s, &n))
			return false;
		s = skip_blanks(s);
		len = strcspn(s, " \t0123456789.");
		if (len) {
			size_t i = 0;

			while (i < PEV_ARRAY_SIZE(units) &&
			       (strncmp(units[i].name, s, len) != 0 || units[i].name[len]))
				i++;
			if (i == PEV_ARRAY_SIZE(units))
				return false;
			unit = units[i].seconds;
		}
		sum += n * unit;
		s = skip_blanks(s + len);
	}
	*ret = sum;
	return true;
}

static bool shift(uint64_t now_ns, double seconds, uint64_t *ret)
{
	const double ns = (double)now_ns + seconds * NS_PER_SEC;

	if (!(ns >= 0 && ns < 1.8e19))
		return false;
	*ret = seconds < 0 ? now_ns - (uint64_t)(-seconds * NS_PER_SEC)
			   : now_ns + (uint64_t)(seconds * NS_PER_SEC);
	return true;
}

/* "+5min", "-5min", "5min ago", "5min left". */
static bool parse_relative(const char *s, uint64_t now_ns, uint64_t *ret)
{
	const size_t n = strlen(s);
	char span[128];
	double seconds;

	if (*s == '+' || *s == '-')
		return read_span(s + 1, &seconds) &&
		       shift(now_ns, *s == '-' ? -seconds : seconds, ret);
	if (n >= sizeof(span) || n < 5)
		return false;
	memcpy(span, s, n + 1);
	if (!strcmp(span + n - 4, " ago")) {
		span[n - 4] = 0;
		return read_span(span, &seconds) && shift(now_ns, -seconds, ret);
	}
	if (!strcmp(span + n - 5, " left")) {
		span[n - 5] = 0;
		return read_span(span, &seconds) && shift(now_ns, seconds, ret);
	}
	return false;
}

/* A moment in the making. */
struct moment {
	struct tm tm;
	uint64_t ns; /* below a second */
	bool utc;    /* not local time */
	long east;   /* seconds that ->utc is behind it */
};

/* @digits digits, or fewer but one, whose value is in [min, max]. */
static bool read_field(const char **s, int digits, int min, int max, int *ret)
{
	int v = 0, n = 0;

	for (; n < digits && isdigit((unsigned char)(*s)[n]); n++)
		v = v * 10 + (*s)[n] - '0';
	if (!n || v < min || v > max)
		return false;
	*s += n;
	*ret = v;
	return true;
}

static bool read_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* "2026-11-20", "26-11-20" */
static bool read_date(const char **at, struct tm *tm)
{
	const char *s = *at;
	int year, month, day;

	if (!read_field(&s, 4, 0, 9999, &year) || !read_char(&s, '-') ||
	    !read_field(&s, 2, 1, 12, &month) || !read_char(&s, '-') ||
	    !read_field(&s, 2, 1, 31, &day) || isdigit((unsigned char)*s))
		return false;
	/* As strptime(3) has two digits. */
	if (year < 100)
		year += year < 69 ? 2000 : 1900;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	tm->tm_mday = day;
	tm->tm_hour = tm->tm_min = tm->tm_sec = 0;
	*at = s;
	return true;
}

/* "03:05", "03:05:06", "03:05:06.789" */
static bool read_clock(const char **at, struct moment *m)
{
	const char *s = *at;
	int hour, minute, second = 0;
	uint64_t unit = 100000000;

	if (!read_field(&s, 2, 0, 23, &hour) || !read_char(&s, ':') ||
	    !read_field(&s, 2, 0, 59, &minute))
		return false;
	if (read_char(&s, ':') && !read_field(&s, 2, 0, 60, &second))
		return false;
	if (read_char(&s, '.')) {
		if (!isdigit((unsigned char)*s))
			return false;
		for (; isdigit((unsigned char)*s); s++, unit /= 10)
			m->ns += (uint64_t)(*s - '0') * unit;
	}
	m->tm.tm_hour = hour;
	m->tm.tm_min = minute;
	m->tm.tm_sec = second;
	*at = s;
	return true;
}

/* "Z", " UTC", "+02:00", or nothing. */
static bool read_zone(const char **at, struct moment *m)
{
	const char *s = skip_blanks(*at);
	const bool minus = *s == '-';
	int hours, minutes;

	if (!strncasecmp(s, "UTC", 3)) {
		m->utc = true;
		*at = s + 3;
	} else if (*s == 'Z' || *s == 'z') {
		m->utc = true;
		*at = s + 1;
	} else if (*s == '+' || *s == '-') {
		s++;
		if (!read_field(&s, 2, 0, 23, &hours))
			return false;
		(void)read_char(&s, ':');
		if (!read_field(&s, 2, 0, 59, &minutes))
			return false;
		m->utc = true;
		m->east = (hours * 60L + minutes) * 60 * (minus ? -1 : 1);
		*at = s;
	}
	return true;
}

/* The day of the week says nothing that the date does not; when it is there it must be right. */
static int read_weekday(const char **at)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char *const rest[] = {
		"day", "day", "sday", "nesday", "rsday", "day", "urday"
	};

	for (int i = 0; i < 7; i++) {
		const char *s = *at;

		if (strncasecmp(s, days[i], 3) != 0)
			continue;
		s += 3;
		if (!strncasecmp(s, rest[i], strlen(rest[i])))
			s += strlen(rest[i]);
		(void)read_char(&s, ',');
		if (*s != ' ')
			return -1;
		*at = skip_blanks(s);
		return i;
	}
	return -1;
}

static bool finish(struct moment *m, int weekday, uint64_t *ret)
{
	struct tm tm = m->tm;
	time_t t;

	tm.tm_isdst = -1;
	t = m->utc ? timegm(&tm) - m->east : mktime(&tm);
	/* mktime() turns the 31st of November into another day; that was not meant. */
	if (t < 0 || tm.tm_mday != m->tm.tm_mday || (weekday >= 0 && tm.tm_wday != weekday))
		return false;
	*ret = (uint64_t)t * PEV_NSEC_PER_SEC + m->ns;
	return true;
}

static bool parse_calendar(const char *s, uint64_t now_ns, uint64_t *ret)
{
	static const struct {
		const char *name;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };
	const time_t now = (time_t)(now_ns / PEV_NSEC_PER_SEC);
	const int weekday = read_weekday(&s);
	struct moment m = { .utc = false };
	bool date, clock = false;

	if (!localtime_r(&now, &m.tm))
		return false;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		if (!strcmp(s, words[i].name)) {
			time_t day;

			m.tm.tm_hour = m.tm.tm_min = m.tm.tm_sec = 0;
			m.tm.tm_mday += words[i].days;
			m.tm.tm_isdst = -1;
			day = mktime(&m.tm);
			*ret = (uint64_t)day * PEV_NSEC_PER_SEC;
			return day >= 0;
		}
	date = read_date(&s, &m.tm);
	if (!date || *s == 'T' || *s == ' ') {
		const char *const before = s;

		s = date && *s == 'T' ? s + 1 : skip_blanks(s);
		clock = read_clock(&s, &m);
		if (!clock)
			s = before;
	}
	return (date || clock) && read_zone(&s, &m) && !*skip_blanks(s) && finish(&m, weekday, ret);
}

static bool parse_unix(const char *s, uint64_t *ret)
{
	uint64_t seconds = 0, ns = 0, unit = 100000000;

	if (!isdigit((unsigned char)*s))
		return false;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(seconds, 10, &seconds) ||
		    __builtin_add_overflow(seconds, (uint64_t)(*s - '0'), &seconds))
			return false;
	if (read_char(&s, '.'))
		for (; isdigit((unsigned char)*s); s++, unit /= 10)
			ns += (uint64_t)(*s - '0') * unit;
	return !*s && !__builtin_mul_overflow(seconds, PEV_NSEC_PER_SEC, &seconds) &&
	       !__builtin_add_overflow(seconds, ns, ret);
}

int pev_wall_time_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct pev_err *err)
{
	const char *const s = skip_blanks(text);

	if (!strcmp(s, "now")) {
		*ret_ns = now_ns;
		return 0;
	}
	if (*s == '@' ? parse_unix(s + 1, ret_ns)
		      : parse_relative(s, now_ns, ret_ns) || parse_calendar(s, now_ns, ret_ns))
		return 0;
	return pev_err_set(
		err, -EINVAL,
		"'%s' is no time: try '2026-11-20 03:05', '03:05', 'yesterday', '-10min', "
		"'2h ago' or '@' and seconds since 1970",
		text);
}
