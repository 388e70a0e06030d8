/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line on standard error while something takes long; nothing when that is no terminal. */
#pragma once

#include <stdint.h>

/* For pev_reader_options, pev_profile_name() and pev_debuginfod_new(); @userdata is not used. */
void progress_read(void *userdata, uint64_t bytes, uint64_t total);
void progress_name(void *userdata, uint64_t done, uint64_t total);
int progress_fetch(void *userdata, const char *what, uint64_t done, uint64_t total);

/* Takes the line away, before something else is said. */
void progress_end(void);
