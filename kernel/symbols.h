/* SPDX-License-Identifier: GPL-2.0-only */
/* symbols.h has what the module uses of the kernel although it is not exported to modules. */
#ifndef DJTAP_SYMBOLS_H
#define DJTAP_SYMBOLS_H

#include <linux/mutex.h>
#include <linux/static_call.h>
#include <linux/types.h>

typedef void *dj_poke_t(void *to, const void *from, size_t bytes);
typedef void dj_sync_t(void);
typedef int dj_pages_t(unsigned long address, int pages);
typedef bool dj_forbidden_t(unsigned long address);
typedef int dj_extent_t(unsigned long address, unsigned long *bytes, unsigned long *offset);
typedef void *dj_alloc_by_size_t(unsigned long bytes);
typedef void *dj_alloc_by_type_t(int type, size_t bytes);

/* A static call is a direct one: it may lead to a function whose endbr64 is sealed, which a call by pointer may not. */
DECLARE_STATIC_CALL(dj_poke, dj_poke_t);		/* text_poke; hold dj_text_mutex */
DECLARE_STATIC_CALL(dj_poke_sync, dj_sync_t);		/* each CPU sees new text */
DECLARE_STATIC_CALL(dj_pages_ro, dj_pages_t);
DECLARE_STATIC_CALL(dj_pages_rw, dj_pages_t);
DECLARE_STATIC_CALL(dj_pages_x, dj_pages_t);
DECLARE_STATIC_CALL(dj_pages_nx, dj_pages_t);
DECLARE_STATIC_CALL(dj_forbidden, dj_forbidden_t);	/* within_kprobe_blacklist */
DECLARE_STATIC_CALL(dj_function_extent, dj_extent_t);	/* kallsyms_lookup_size_offset: 0 if none has it */

extern struct mutex *dj_text_mutex;
extern unsigned long dj_text_begin, dj_text_end;

/* Finds all of them. Gives 0, or -ENOENT with the missing name in the log. Call it before all else. */
int dj_find_symbols(void);

/* Gives the address of a symbol of the kernel; 0: it has none of that name. */
unsigned long dj_symbol(const char *name);

/* Gives memory for code within 2 GB of the kernel's, writable; NULL: there is none. vfree() takes it. */
void *dj_alloc_code(unsigned long bytes);

#endif
