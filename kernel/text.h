/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h writes verified places into the kernel's text, and puts the old bytes back. */
#ifndef DJTAP_TEXT_H
#define DJTAP_TEXT_H

#include <linux/list.h>

#include "verify.h"

/*
 * Arms the sites of one call, and appends them to the list `sets`. Gives 0 or -errno as DJTAP_ARM does; after an
 * error nothing of them is in the text. The caller holds the session's lock, and may sleep.
 */
int dj_arm(struct list_head *sets, const struct dj_facts *facts, struct djtap_arm *arm);

/* Forgets the places in a text that is going: they count as out, and nothing is written there. */
void dj_forget(struct list_head *sets, const struct dj_range *text);

/*
 * Puts the old bytes of all sets back where the text still has the new ones. Gives the number of places where it
 * has not. When that is 0, no CPU is in a detour, and the list is empty. answers: in the caller, or NULL.
 */
u32 dj_disarm(struct list_head *sets, u8 __user *answers, u32 answer_count);

#endif
