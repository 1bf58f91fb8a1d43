// SPDX-License-Identifier: GPL-2.0-only
/* Reads the tables in which the kernel keeps addresses of its instructions. Each begins with a distance to one. */
#include "fixed_places.h"

#include <asm/bug.h>
#include <linux/bug.h>
#include <linux/extable.h>
#include <linux/jump_label.h>
#include <linux/sort.h>
#include <linux/static_call_types.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "symbols.h"

struct table {
	const char *begin, *end;	/* symbols of the kernel's own */
	size_t entries, count;		/* members of struct module: a pointer, a 32-bit number */
	unsigned int entry_bytes, place_bytes;
};

#define OF_MODULE(entries, count) offsetof(struct module, entries), offsetof(struct module, count)

/* An instruction of the exception table may be of any length: its first byte stands for it. */
static const struct table tables[] = {
	{ "__start___ex_table", "__stop___ex_table", OF_MODULE(extable, num_exentries),
	  sizeof(struct exception_table_entry), 1 },
	{ "__start___jump_table", "__stop___jump_table", OF_MODULE(jump_entries, num_jump_entries),
	  sizeof(struct jump_entry), 5 },
	{ "__start_static_call_sites", "__stop_static_call_sites", OF_MODULE(static_call_sites, num_static_call_sites),
	  sizeof(struct static_call_site), 5 },
	{ "__start___bug_table", "__stop___bug_table", OF_MODULE(bug_table, num_bugs), sizeof(struct bug_entry), 2 },
};

/*
 * Gives the length of a place. Static keys have a jump or nop of two or five bytes, static calls a branch or nop of
 * five bytes, or (6.3) a conditional jump of six.
 */
static unsigned int place_bytes(const struct table *table, unsigned long address)
{
	u8 code[2];

	if (table->place_bytes != 5 || copy_from_kernel_nofault(code, (void *)address, sizeof(code)))
		return table->place_bytes;
	if (code[0] == 0xeb || (code[0] == 0x66 && code[1] == 0x90))
		return 2;
	return code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 6 : 5;
}

/* Appends the places of a table. Gives false where it cannot be read: then no place is known to be free. */
static bool read_table(const struct table *table, const struct dj_range *found, struct dj_range *places, size_t *count)
{
	unsigned long at;
	s32 distance;

	for (at = found->begin; at + table->entry_bytes <= found->end; at += table->entry_bytes) {
		if (copy_from_kernel_nofault(&distance, (void *)at, sizeof(distance)))
			return false;
		places[*count].begin = at + distance;
		places[(*count)++].end = at + distance + place_bytes(table, at + distance);
	}
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct dj_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

struct module *dj_module_at(unsigned long address)
{
	struct module *module;

	preempt_disable();
	module = static_call(dj_module_around)(address);
	if (module && (module == THIS_MODULE || module->state != MODULE_STATE_LIVE))
		module = NULL;
	preempt_enable();
	return module;
}

struct dj_range dj_module_text(const struct module *module)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	unsigned long begin = (unsigned long)module->core_layout.base, bytes = module->core_layout.text_size;
#else
	unsigned long begin = (unsigned long)module->mem[MOD_TEXT].base, bytes = module->mem[MOD_TEXT].size;
#endif

	return (struct dj_range){ begin, begin + bytes };
}

static bool find_table(const struct table *table, const struct module *module, struct dj_range *found)
{
	if (module) {
		found->begin = *(unsigned long *)((void *)module + table->entries);
		found->end = found->begin + *(u32 *)((void *)module + table->count) * table->entry_bytes;
		return true;
	}
	found->begin = dj_needed_symbol(table->begin, NULL);
	found->end = dj_needed_symbol(table->end, NULL);
	return found->begin && found->end >= found->begin;
}

struct dj_range *dj_fixed_places(const struct module *module, size_t *count)
{
	struct dj_range found[ARRAY_SIZE(tables)], *places;
	size_t i, most = 1;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!find_table(&tables[i], module, &found[i]))
			return NULL;
		most += (found[i].end - found[i].begin) / tables[i].entry_bytes;
	}
	places = vmalloc(array_size(most, sizeof(*places)));
	if (!places)
		return NULL;
	*count = 0;
	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		if (read_table(&tables[i], &found[i], places, count))
			continue;
		vfree(places);
		return NULL;
	}
	sort(places, *count, sizeof(*places), compare, NULL);
	return places;
}
