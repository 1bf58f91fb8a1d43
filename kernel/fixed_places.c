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
#include <linux/vmalloc.h>

#include "symbols.h"

struct table {
	const char *begin, *end;	/* symbols */
	unsigned int entry_bytes, place_bytes;
};

/* An instruction of the exception table may be of any length: its first byte stands for it. */
static const struct table tables[] = {
	{ "__start___ex_table", "__stop___ex_table", sizeof(struct exception_table_entry), 1 },
	{ "__start___jump_table", "__stop___jump_table", sizeof(struct jump_entry), 5 },
	{ "__start_static_call_sites", "__stop_static_call_sites", sizeof(struct static_call_site), 5 },
	{ "__start___bug_table", "__stop___bug_table", sizeof(struct bug_entry), 2 },
};

/* Gives the length of a place. A static key has a jump or nop of two or five bytes. */
static unsigned int place_bytes(const struct table *table, unsigned long address)
{
	u8 first;

	if (table->place_bytes == 5 && !copy_from_kernel_nofault(&first, (void *)address, 1))
		return first == 0xeb || first == 0x66 ? 2 : 5;
	return table->place_bytes;
}

static size_t read_table(const struct table *table, unsigned long begin, unsigned long end, struct dj_range *to)
{
	size_t count = 0;
	unsigned long at;
	s32 distance;

	for (at = begin; at + table->entry_bytes <= end; at += table->entry_bytes) {
		if (copy_from_kernel_nofault(&distance, (void *)at, sizeof(distance)))
			continue;
		to[count].begin = at + distance;
		to[count].end = to[count].begin + place_bytes(table, at + distance);
		count++;
	}
	return count;
}

static int compare(const void *left, const void *right)
{
	const struct dj_range *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

struct dj_range *dj_fixed_places(size_t *count)
{
	unsigned long begin[ARRAY_SIZE(tables)], end[ARRAY_SIZE(tables)];
	struct dj_range *places;
	size_t i, most = 0;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		begin[i] = dj_symbol(tables[i].begin);
		end[i] = dj_symbol(tables[i].end);
		if (!begin[i] || end[i] < begin[i]) {
			pr_err("djtap: this kernel has no %s\n", tables[i].begin);
			return NULL;
		}
		most += (end[i] - begin[i]) / tables[i].entry_bytes;
	}
	places = vmalloc(array_size(most, sizeof(*places)));
	if (!places)
		return NULL;
	*count = 0;
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		*count += read_table(&tables[i], begin[i], end[i], places + *count);
	sort(places, *count, sizeof(*places), compare, NULL);
	return places;
}
