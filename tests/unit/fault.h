/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lets system calls of the code under test fail; link test_fault. */
#pragma once

enum fault_call {
	FAULT_WRITE,
	FAULT_PWRITE,
	FAULT_FSYNC,
	FAULT_FTRUNCATE,
	FAULT_RENAME,
	FAULT_CALLS
};

/* From now on the @nth call of that kind (1: the next) fails with @error. Before it, a write or
 * pwrite that has @some bytes or more to write writes those @some. */
void fault_at(enum fault_call call, unsigned int nth, int error, unsigned int some);

/* No fault any more; how often each call came since the last fault_at() or fault_end(). */
void fault_end(unsigned int ret_calls[FAULT_CALLS]);
