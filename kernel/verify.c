// SPDX-License-Identifier: GPL-2.0-only
/* Checks one place, and makes the bytes that are written there. */
#include "verify.h"

#define INT3 0xcc
#define JMP32 0xe9
#define CS_OVERRIDE 0x2e	/* ignored before a direct jump */
#define JMP32_BYTES 5
#define MAX_PREFIXES 10		/* an instruction has at most 15 bytes */

__u32 dj_extent(const struct djtap_site *site)
{
	__u32 jump = site->form == DJTAP_JUMP ? site->prefixes + JMP32_BYTES : 1;

	return jump > site->length ? jump : site->length;
}

static int has_form(const struct djtap_site *site)
{
	__u32 i;

	if (site->form > DJTAP_JUMP || site->prefixes > MAX_PREFIXES)
		return 0;
	if (!site->length || site->length > DJTAP_WINDOW)
		return 0;
	for (i = 0; i < sizeof(site->reserved); i++)
		if (site->reserved[i])
			return 0;
	if (site->form == DJTAP_INT3)
		return !site->prefixes && !site->guards;
	/* Prefixes and opcode lie in bytes that are in the detour, and guards on instructions of it. */
	if (site->prefixes >= site->length || site->guards & ((2u << site->prefixes) - 1))
		return 0;
	return site->length == 32 || !(site->guards >> site->length);
}

static int is_inside(__u64 address, __u64 bytes, const struct dj_range *range)
{
	return address >= range->begin && address < range->end && bytes <= range->end - address;
}

/* Whether a fixed place has one of these bytes. */
static int meets_fixed(const struct dj_facts *facts, __u64 begin, __u64 end)
{
	size_t low = 0, high = facts->fixed_count;

	while (low < high) {	/* the first that begins less than DJ_FIXED_BYTES before */
		size_t middle = low + (high - low) / 2;

		if (facts->fixed[middle].begin + DJ_FIXED_BYTES <= begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < facts->fixed_count && facts->fixed[low].begin < end; low++)
		if (facts->fixed[low].end > begin)
			return 1;
	return 0;
}

static int has_detours(const struct djtap_site *site, const __u64 *copies, __u32 copy_count,
		       const struct dj_facts *facts)
{
	__u32 guards = site->guards, copy = site->first_copy;

	if (!is_inside(site->detour, 1, &facts->code))
		return 0;
	for (; guards; guards &= guards - 1, copy++)
		if (copy >= copy_count || !is_inside(copies[copy], 1, &facts->code))
			return 0;
	return 1;
}

/* Writes the jump. Its bytes behind the moved instructions stay as they are; a guard is where it must have int3. */
static int make_jump(const struct djtap_site *site, __u8 *bytes)
{
	__s64 distance = (__s64)(site->detour - (site->address + site->prefixes + JMP32_BYTES));
	__u32 i, at = site->prefixes;

	if (distance != (__s32)distance)
		return 0;
	for (i = 0; i < at; i++)
		bytes[i] = CS_OVERRIDE;
	bytes[at++] = JMP32;
	for (i = 0; i < 4; i++)
		bytes[at++] = (__u8)((__u64)distance >> (8 * i));
	for (i = at; i < site->length; i++)
		if (site->guards >> i & 1)
			bytes[i] = INT3;
	for (i = 0; i < at; i++) {
		if (site->guards >> i & 1) {
			if (bytes[i] != INT3)
				return 0;
		} else if (i >= site->length && bytes[i] != site->original[i]) {
			return 0;
		}
	}
	return 1;
}

enum djtap_answer dj_verify(const struct djtap_site *site, const __u64 *copies, __u32 copy_count,
			    const struct dj_facts *facts, const struct dj_place *place, __u8 *bytes)
{
	__u32 extent = dj_extent(site);

	if (!has_form(site))
		return DJTAP_BAD_FORM;
	if (!is_inside(site->address, extent, &facts->text))
		return DJTAP_NOT_TEXT;
	if (place->forbidden)
		return DJTAP_FORBIDDEN;
	if (!is_inside(site->address, extent, &place->function))
		return DJTAP_TWO_FUNCTIONS;
	if (meets_fixed(facts, site->address, site->address + extent))
		return DJTAP_FIXED_PLACE;
	if (!has_detours(site, copies, copy_count, facts))
		return DJTAP_BAD_DETOUR;
	memcpy(bytes, site->original, DJTAP_WINDOW);
	if (site->form == DJTAP_INT3)
		bytes[0] = INT3;
	else if (!make_jump(site, bytes))
		return DJTAP_BAD_JUMP;
	return DJTAP_ARMED;
}
