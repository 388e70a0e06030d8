/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where records that we make ourselves go. */
#pragma once

#include <stddef.h>

/* ->put() takes one or more whole records, @size bytes in all, and copies them. Returns 0 or a
 * negative errno that ends the work. */
struct pev_sink {
	int (*put)(void *userdata, const void *records, size_t size);
	void *userdata;
};
