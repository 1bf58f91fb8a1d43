// SPDX-License-Identifier: GPL-2.0-only
/* Finds what the kernel does not export, by the address of kallsyms_lookup_name that kprobes knows. */
#include "symbols.h"

#include <linux/kprobes.h>
#include <linux/module.h>
#if __has_include(<linux/execmem.h>)	/* since 6.10 */
#include <linux/execmem.h>
#else
#define EXECMEM_MODULE_DATA 0	/* such a kernel has module_alloc instead */
#endif

typedef unsigned long dj_lookup_t(const char *name);
typedef void *dj_alloc_by_size_t(unsigned long bytes);
typedef void *dj_alloc_by_type_t(int type, size_t bytes);

static DEFINE_MUTEX(no_mutex);

#define DJ_DEFINE(id, gives, takes, name, later_name) DEFINE_STATIC_CALL_NULL(id, id##_t);
DJ_UNEXPORTED(DJ_DEFINE)
DEFINE_STATIC_CALL_NULL(dj_lookup, dj_lookup_t);
DEFINE_STATIC_CALL_NULL(dj_alloc_by_size, dj_alloc_by_size_t);
DEFINE_STATIC_CALL_NULL(dj_alloc_by_type, dj_alloc_by_type_t);

struct mutex *dj_text_mutex = &no_mutex;
unsigned long dj_text_begin, dj_text_end;
static bool allocates_by_type;

unsigned long dj_symbol(const char *name)
{
	return static_call(dj_lookup)(name);
}

static int find_lookup(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int error = register_kprobe(&probe);

	if (error)
		return error;
	static_call_update(dj_lookup, (dj_lookup_t *)probe.addr);
	unregister_kprobe(&probe);
	return 0;
}

unsigned long dj_needed_symbol(const char *name, const char *later_name)
{
	unsigned long address = dj_symbol(name);

	if (!address && later_name)
		address = dj_symbol(later_name);
	if (!address)
		pr_err("djtap: this kernel has no %s\n", name);
	return address;
}

#define DJ_FIND(id, gives, takes, name, later_name) ({		\
	unsigned long address_ = dj_needed_symbol(name, later_name);	\
	if (address_)						\
		static_call_update(id, (id##_t *)address_);	\
	!address_;						\
})

static int find_alloc(void)
{
	unsigned long by_size = dj_symbol("module_alloc");

	if (by_size) {
		static_call_update(dj_alloc_by_size, (dj_alloc_by_size_t *)by_size);
		return 0;
	}
	allocates_by_type = true;
	return DJ_FIND(dj_alloc_by_type,,, "execmem_alloc", NULL);
}

int dj_find_symbols(void)
{
	int missing, error = find_lookup();

	if (error) {
		pr_err("djtap: kprobes do not find kallsyms_lookup_name: %d\n", error);
		return error;
	}
	missing = find_alloc();
#define DJ_MISSING(...) missing += DJ_FIND(__VA_ARGS__);
	DJ_UNEXPORTED(DJ_MISSING)
	dj_text_mutex = (struct mutex *)dj_needed_symbol("text_mutex", NULL);
	dj_text_begin = dj_needed_symbol("_stext", NULL);
	dj_text_end = dj_needed_symbol("_etext", NULL);
	return missing || !dj_text_mutex || !dj_text_begin || !dj_text_end ? -ENOENT : 0;
}

/* The type is a module's data, which lies beside its text: from 6.13 on, memory for text may be read-only at once. */
void *dj_alloc_code(unsigned long bytes)
{
	if (allocates_by_type)
		return static_call(dj_alloc_by_type)(EXECMEM_MODULE_DATA, bytes);
	return static_call(dj_alloc_by_size)(bytes);
}
