/* SPDX-License-Identifier: GPL-2.0-only */
/* symbols.h has what the module uses of the kernel although it is not exported to modules. */
#ifndef DJTAP_SYMBOLS_H
#define DJTAP_SYMBOLS_H

#include <linux/mutex.h>
#include <linux/static_call.h>
#include <linux/types.h>

struct module;

/*
 * Each is a static call: its id, what it gives and takes, the kernel's function, that function in later kernels. A
 * static call is a direct one: it may lead to a function whose endbr64 is sealed, which a call by pointer may not.
 * Callers of dj_poke hold dj_text_mutex. dj_function_extent gives 0 where no function has the address.
 */
#define DJ_UNEXPORTED(X) \
	X(dj_poke, void *, (void *to, const void *from, size_t bytes), "text_poke", NULL) \
	X(dj_poke_sync, void, (void), "text_poke_sync", "smp_text_poke_sync_each_cpu") \
	X(dj_pages_ro, int, (unsigned long address, int pages), "set_memory_ro", NULL) \
	X(dj_pages_rw, int, (unsigned long address, int pages), "set_memory_rw", NULL) \
	X(dj_pages_x, int, (unsigned long address, int pages), "set_memory_x", NULL) \
	X(dj_pages_nx, int, (unsigned long address, int pages), "set_memory_nx", NULL) \
	X(dj_forbidden, bool, (unsigned long address), "within_kprobe_blacklist", NULL) \
	X(dj_function_extent, int, (unsigned long address, unsigned long *bytes, unsigned long *offset), \
	  "kallsyms_lookup_size_offset", NULL) \
	X(dj_module_around, struct module *, (unsigned long address), "__module_text_address", NULL)

#define DJ_DECLARE(id, gives, takes, name, later_name) \
	typedef gives id##_t takes; \
	DECLARE_STATIC_CALL(id, id##_t);
DJ_UNEXPORTED(DJ_DECLARE)

extern struct mutex *dj_text_mutex;
extern unsigned long dj_text_begin, dj_text_end;

/* Finds all of them. Gives 0, or -ENOENT with the missing name in the log. Call it before all else. */
int dj_find_symbols(void);

/* Gives the address of a symbol of the kernel; 0: it has none of that name. */
unsigned long dj_symbol(const char *name);

/* The same, of the first of two names that the kernel has; 0 with a line in the log: it has neither. */
unsigned long dj_needed_symbol(const char *name, const char *later_name);

/* Gives memory for code within 2 GB of the kernel's, writable; NULL: there is none. vfree() takes it. */
void *dj_alloc_code(unsigned long bytes);

#endif
