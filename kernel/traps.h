/* SPDX-License-Identifier: GPL-2.0-only */
/* traps.h leads a CPU that arrives at an int3 of a session to the detour that belongs there. */
#ifndef DJTAP_TRAPS_H
#define DJTAP_TRAPS_H

#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/types.h>

#include "verify.h"

struct dj_trap {
	u64 address;	/* of the int3; 0: the slot is free */
	u64 detour;	/* 0: forgotten */
};

/* A table of them, by address: open addressing, at most half full. */
struct dj_traps {
	struct list_head link;
	struct dj_trap *slots;
	u32 bits;
};

int dj_traps_begin(void);	/* 0 or -errno; behind dj_find_symbols(), before the first table */
void dj_traps_end(void);	/* after the last */

/*
 * Whether a function, by its begin, runs between an int3 and the tables, though kprobes allow probes there: they do not come this
 * way. An int3 in it would lead to itself until the stack ends.
 */
bool dj_leads_to_traps(u64 function);

/* Makes a table with room for `count` traps. Gives 0 or -ENOMEM. */
int dj_traps_alloc(struct dj_traps *traps, u32 count);
/* Adds a trap, before dj_traps_publish(). */
void dj_traps_add(struct dj_traps *traps, u64 address, u64 detour);
/* From now on CPUs find these traps. Tables come and go one at a time: the caller has a lock. */
void dj_traps_publish(struct dj_traps *traps);
/* Takes them away, waits until no CPU looks into the table, and frees it. No int3 of it is in the text. */
void dj_traps_withdraw(struct dj_traps *traps);
/* CPUs do not find the traps of this text any more: it goes, with its int3. */
void dj_traps_forget(struct dj_traps *traps, const struct dj_range *text);

#endif
