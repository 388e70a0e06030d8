/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON (RFC 8259) as it is streamed out: what fails shows in ferror() of the stream. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * @s as a string, with its quotes. Bytes that are no UTF-8 become U+FFFD; "<" is escaped, too, so
 * that the text can stand in an HTML script element.
 */
void pev_json_string(const char *s, FILE *out);

/* @n bytes as base64 (RFC 4648), without quotes. */
void pev_json_base64(const uint8_t *bytes, size_t n, FILE *out);
