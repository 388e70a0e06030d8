/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of types in BTF (Documentation/bpf/btf.rst), which is where BPF functions have theirs. */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pev_btf {
	const uint8_t *strings; /* borrowed from the bytes that were indexed */
	size_t strings_size;
	uint32_t *names; /* owned: offset into ->strings by type id; ids start at 1 */
	uint32_t nr;     /* ids below this one are known */
};

/*
 * Indexes the BTF in @bytes, in native byte order, which must live as long as *ret. A kind of type
 * that is newer than this code ends the index early, without an error: what came before it is
 * known. -EBADMSG when it is no BTF, -EPROTONOSUPPORT for another version, -ENODATA when it is cut,
 * -ENOMEM.
 */
int pev_btf_index(const void *bytes, size_t size, struct pev_btf *ret);

/* The name of type @id; NULL when it has none or is not known. */
const char *pev_btf_name(const struct pev_btf *btf, uint32_t id);

void pev_btf_done(struct pev_btf *btf);
