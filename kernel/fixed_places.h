/* SPDX-License-Identifier: GPL-2.0-only */
/* fixed_places.h: modules' texts, and the instructions that the kernel finds by their address: no detour has them. */
#ifndef DJTAP_FIXED_PLACES_H
#define DJTAP_FIXED_PLACES_H

#include <linux/module.h>

#include "verify.h"

/*
 * Reads the four tables of such places, of a module or (NULL) of the kernel itself: exceptions, static keys, static
 * calls, bugs. Gives an array of `count` ranges, ascending, for vfree(); NULL: memory is short, or a table is missing or
 * cannot be read.
 */
struct dj_range *dj_fixed_places(const struct module *module, size_t *count);

/*
 * Gives the module that has the address in its text; NULL: none, it is this one, or it has not started or is going.
 * It stays while its going can be awaited: a module's notifier takes the lock that the caller has.
 */
struct module *dj_module_at(unsigned long address);
/* Gives a module's text, without that of its start, which is freed. */
struct dj_range dj_module_text(const struct module *module);

#endif
