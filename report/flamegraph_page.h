/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The page of the flame graph, before and behind its data; made by report/flamegraph/join.cmake. */
#pragma once

#include <stddef.h>

extern const unsigned char pev_flamegraph_head[], pev_flamegraph_tail[];
extern const size_t pev_flamegraph_head_size, pev_flamegraph_tail_size;
