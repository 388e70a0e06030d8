/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What BPF_PROG_INFO and BPF_BTF say of the BPF programs that were loaded, for people. */
#pragma once

#include "format/feature.h"

#include <stdio.h>

/*
 * An entry of BPF_PROG_INFO is
 *
 *	u32 info_len, data_len; u64 arrays; struct bpf_prog_info, info_len bytes of it; u8
 *data[data_len]
 *
 * where each pointer of struct bpf_prog_info that has its bit in arrays became an offset into data
 * (tools/perf/util/bpf-utils.h). An entry of BPF_BTF is u32 id, size; u8 btf[size], as
 * Documentation/bpf/btf.rst tells.
 */

/* "# bpf_prog_info 7: bpf_prog_6deef7357e7b4530_name addr 0x... size 54", a line per function of
 * the program. Stops at the first entry that is damaged. */
void pev_bpf_prog_info_print(const struct pev_features *f, FILE *out);

/* "# btf info of id 12" */
void pev_bpf_btf_print(const struct pev_features *f, FILE *out);
