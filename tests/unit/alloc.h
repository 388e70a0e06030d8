/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets one allocation of the code under test fail; link test_alloc. */
#pragma once

#include <stdbool.h>

/* From now on allocation @n fails with ENOMEM, once (1 is the next one); with 0 none does. */
void alloc_fail_at(unsigned int n);

/* Ends it; true when that allocation came and failed. */
bool alloc_fail_end(void);
