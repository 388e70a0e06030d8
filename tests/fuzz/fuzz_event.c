// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The spellings of -e. The input is one, up to its first NUL, and what follows that is a --filter.
 * The PMUs are those of the machine it runs on; there are no tracepoints.
 */
#include "base/cleanup.h"
#include "recorder/event.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* What is taken is whole; what is refused leaves nothing and says why. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pev_event_sources sources = {
		.pmus = PEV_EVENT_SOURCES_DEFAULT.pmus,
		.tracefs = "/dev/null",
	};
	_cleanup_free_ char *spec = malloc(size + 2);
	struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	const char *filter;
	int r;

	if (!spec)
		return 0;
	memcpy(spec, data, size);
	spec[size] = spec[size + 1] = '\0';
	filter = spec + strlen(spec) + 1;

	r = pev_evlist_parse_from(&list, spec, &sources, &err);
	check(r < 0 ? err.code == r && *err.msg && !list.nr : list.nr > 0);
	for (size_t i = 0; i < list.nr; i++) {
		const struct pev_event *const e = &list.events[i];

		check(e->name && e->leader <= i && list.events[e->leader].leader == e->leader);
	}
	(void)pev_evlist_filter(&list, filter, NULL);
	pev_evlist_done(&list);
	return 0;
}
