/* SPDX-License-Identifier: GPL-2.0-only */
/* verify.h says which places may be written, and with which bytes. It is compiled for tests in user space, too. */
#ifndef DJTAP_VERIFY_H
#define DJTAP_VERIFY_H

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <stddef.h>
#include <string.h>
#endif
#include "device_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dj_range {
	__u64 begin, end;
};

#define DJ_FIXED_BYTES 6	/* of the longest fixed place */

/* What the places of one text are checked against. */
struct dj_facts {
	struct dj_range text;		/* the kernel's own, or a module's */
	struct dj_range code;		/* the sealed code block; empty before */
	const struct dj_range *fixed;	/* bytes that must stay where they are, DJ_FIXED_BYTES at most each */
	size_t fixed_count;		/* ascending by begin */
};

/* What the kernel says of one place. */
struct dj_place {
	struct dj_range function;	/* that has the address; empty: none */
	int forbidden;			/* whether kprobes are */
};

/* Gives how many bytes a place has: the instructions in the detour, and the jump. */
__u32 dj_extent(const struct djtap_site *site);

/*
 * Checks a site against all but the text's bytes. Writes to `bytes` the DJTAP_WINDOW bytes that the text is to
 * have; those behind dj_extent() are the site's `original`. copies: of the whole call. Gives DJTAP_ARMED if it
 * may be armed. Reads nothing but its arguments.
 */
enum djtap_answer dj_verify(const struct djtap_site *site, const __u64 *copies, __u32 copy_count,
			    const struct dj_facts *facts, const struct dj_place *place, __u8 *bytes);

#ifdef __cplusplus
}
#endif

#endif
