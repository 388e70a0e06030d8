/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Split DWARF in one package file (.dwp) next to the program (private to unwind/inlines.c). */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_dwp;
struct pev_image;

/*
 * libdw reads packages from 0.191 on; Debian 12 has 0.188, which reads .dwo files only. So the
 * package is taken apart here.
 *
 * Opens PATH.dwp for the @image at PATH, or PATH without ".debug"; *ret is NULL when there is none
 * that can be used. @image is borrowed. -ENOMEM.
 */
int pev_dwp_open(struct pev_image *image, struct pev_dwp **ret);

/* NULL is fine; returns NULL. */
struct pev_dwp *pev_dwp_free(struct pev_dwp *dwp);

/*
 * The DIE of the split unit number @id (DW_AT_dwo_id), whose skeleton is @skeleton. False when the
 * package does not have it. The DIE is good until the units are closed.
 */
bool pev_dwp_unit(struct pev_dwp *dwp, Dwarf_Die *skeleton, uint64_t id, Dwarf_Die *ret);

/*
 * dwarf_ranges() for a DIE @die of a split unit: lists of ranges start from the DW_AT_low_pc of the
 * skeleton, and libdw does not know the skeleton of this unit.
 */
ptrdiff_t pev_dwp_ranges(Dwarf_Die *die, Dwarf_Addr skeleton_low, ptrdiff_t offset,
			 Dwarf_Addr *base, Dwarf_Addr *ret_lo, Dwarf_Addr *ret_hi);

/* Closes what pev_dwp_unit() opened; NULL is fine. */
void pev_dwp_close_units(struct pev_dwp *dwp);
