/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a fuzz target defines; its name and shape are libFuzzer's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Reads @size bytes at @data as the target's format does; must not crash, leak or hang. Returns 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
