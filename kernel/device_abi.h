/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* device_abi.h is what djtap and its kernel module say to each other over /dev/djtap. */
/*
 * An open file is a session: HELLO, ALLOC_CODE, WRITE, SEAL, then ARM (several times), COUNTS, DISARM. djtap
 * decides what is written. The module verifies each place, makes the new bytes itself, and puts the old ones
 * back when the file is closed. All calls give 0, or -1 with errno; what they do not name is EINVAL:
 *
 *	open	EPERM	without CAP_SYS_ADMIN in the first user namespace, or where the kernel is locked down
 *		EBUSY	another session is open, or has left places to which another tool has written
 *	ioctl	EFAULT	an address of the caller is wrong
 *		ENOMEM	memory is short
 *		EBUSY	the call came at the wrong time: code before it is sealed, or a second code block
 *		EINTR	a fatal signal came; nothing of this call is in the text
 */
#ifndef DJTAP_DEVICE_ABI_H
#define DJTAP_DEVICE_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DJTAP_DEVICE "/dev/djtap"
#define DJTAP_ABI 1
#define DJTAP_COUNTERS 256u		/* words that detours count in, on each CPU */
#define DJTAP_MAX_CODE (64u << 20)	/* bytes of a code block */
#define DJTAP_MAX_SITES (1u << 18)	/* of a call of ARM */
#define DJTAP_MAX_TRAPS (1u << 20)	/* its sites, their guards; and copies */
#define DJTAP_MAX_SETS 64u		/* calls of ARM in a session */
#define DJTAP_WINDOW 32u		/* bytes that a place has at most */

struct djtap_hello {
	__u32 abi;			/* DJTAP_ABI of the module */
	__u32 counters;			/* DJTAP_COUNTERS of the module */
	__u64 counter_offset;		/* `incq %gs:counter_offset + 8 * n` counts in word n */
	__u64 text_begin, text_end;	/* the kernel's own text; places can lie in modules', too */
};

struct djtap_code {
	__u64 bytes;			/* in: up to DJTAP_MAX_CODE; out: as whole pages */
	__u64 address;			/* out: all of it is int3 */
};

struct djtap_write {
	__u64 offset, bytes;		/* in the code block */
	__u64 from;			/* address in the caller */
};

enum djtap_form {
	DJTAP_INT3,			/* the first byte becomes int3 */
	DJTAP_JUMP,			/* the first bytes become `jmp detour` */
};

/* A place in the text of the kernel or of a module, and what leads there instead. */
struct djtap_site {
	__u64 address;
	__u64 detour;			/* in the code block: the way from `address` */
	__u32 guards;			/* bit i, not 0: the byte at address + i is int3 afterwards */
	__u32 first_copy;		/* of djtap_arm.copies: the ways from its guards, in ascending order */
	__u8 length;			/* of the instructions that are in the detour, in bytes */
	__u8 form;			/* djtap_form */
	__u8 prefixes;			/* bytes 0x2e in front of the jump */
	__u8 reserved[5];		/* 0 */
	__u8 original[DJTAP_WINDOW];	/* old bytes, as many as the place has; then 0 */
};

/* What became of a place. The names are in verify.c. */
enum djtap_answer {
	DJTAP_ARMED,
	DJTAP_BAD_FORM,			/* its numbers contradict each other */
	DJTAP_NOT_TEXT,			/* outside of the kernel's text and that of its live modules; in djtap's */
	DJTAP_FORBIDDEN,		/* kprobes are forbidden there */
	DJTAP_TWO_FUNCTIONS,		/* the bytes are not in one function */
	DJTAP_FIXED_PLACE,		/* the kernel finds an instruction there by its address */
	DJTAP_BAD_DETOUR,		/* the detour, or the way from a guard, is not in the sealed code block */
	DJTAP_BAD_JUMP,			/* the jump's bytes are not those that guards and kept bytes need */
	DJTAP_OVERLAPS,			/* it has bytes of another place, or its address is below the last one */
	DJTAP_OTHER_BYTES,		/* the text has not the old bytes: another tool has written there */
	DJTAP_LEFT_INT3,		/* another tool came in between: a trap leads to the detour, not a jump */
	DJTAP_KEPT,			/* another tool has written over it: it cannot be taken out */
	DJTAP_REMOVED,			/* the old bytes are back */
	DJTAP_GONE,			/* the text went, with the module of the kernel that had it */
};

struct djtap_arm {
	__u64 sites;			/* address of djtap_site[site_count], ascending by address */
	__u64 copies;			/* address of __u64[copy_count] */
	__u64 answers;			/* address of __u8[site_count] */
	__u32 site_count, copy_count;
	__u32 armed;			/* out */
	__u32 reserved;			/* 0 */
};

struct djtap_disarm {
	__u64 answers;			/* address of __u8[answer_count]: the places of all ARMs, in their order; or 0 */
	__u32 answer_count;
	__u32 kept;			/* out: places that could not be taken out; call again later */
};

struct djtap_counts {
	__u64 to;			/* address of __u64[count]: sums over all CPUs */
	__u32 first, count;
};

#define DJTAP_HELLO _IOR('j', 0, struct djtap_hello)
#define DJTAP_ALLOC_CODE _IOWR('j', 1, struct djtap_code)
#define DJTAP_WRITE _IOW('j', 2, struct djtap_write)
#define DJTAP_SEAL _IO('j', 3)
#define DJTAP_ARM _IOWR('j', 4, struct djtap_arm)
#define DJTAP_DISARM _IOWR('j', 5, struct djtap_disarm)
#define DJTAP_COUNTS _IOW('j', 6, struct djtap_counts)

#endif
