/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings of traces as JSON. */
#pragma once

#include <jansson.h>

/* A JSON string of @s, whose bytes that are no UTF-8 become U+FFFD; null for NULL. NULL without
 * memory. */
json_t *pev_json_text(const char *s);
