/* SPDX-License-Identifier: GPL-2.0-only */
/* fixed_places.h: instructions that the kernel finds by their address, so that a detour must not have them. */
#ifndef DJTAP_FIXED_PLACES_H
#define DJTAP_FIXED_PLACES_H

#include "verify.h"

/*
 * Reads the kernel's four tables of such places: exceptions, static keys, static calls, bugs. Gives an array of
 * `count` ranges, ascending, for vfree(); NULL: memory is short, or a table is missing.
 */
struct dj_range *dj_fixed_places(size_t *count);

#endif
