// SPDX-License-Identifier: GPL-2.0-only
/* Writes the kernel's text as djprobe does, and puts it back. */
/*
 * First int3 where CPUs can arrive; then, when no task stands inside of a place, the bytes behind; then the first
 * byte. The way back is the same way. All is done in slices, since static keys wait for the text's mutex meanwhile.
 */
#include "text.h"

#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "fixed_places.h"
#include "symbols.h"
#include "traps.h"

#define SLICE 1024
#define INT3 0xcc

enum state {
	OUT,		/* the old bytes */
	TRAPPED,	/* int3 where CPUs can arrive */
	MOVING,		/* the same; the others are being written. Only under the text's mutex */
	IN,		/* the new bytes */
};

struct place {
	u64 address;
	u32 guards;
	u8 extent, form, state, answer;
	bool leaves;	/* its bytes are ours: they go */
	u8 old[DJTAP_WINDOW], new[DJTAP_WINDOW];
};

struct set {
	struct list_head link;
	struct dj_traps traps;
	u32 count;
	struct place places[];
};

#define for_each_place(place, places, count) for (place = places; place < (places) + (count); place++)

/* The bytes at which CPUs can arrive. Each is the first of an instruction, so that it can be written at any time. */
static u32 arrivals(const struct place *place)
{
	return place->guards | 1;
}

static u8 byte_in(const struct place *place, enum state state, u32 at)
{
	if (state == IN)
		return place->new[at];
	return state != OUT && arrivals(place) >> at & 1 ? INT3 : place->old[at];
}

/* Whether the text has what the place's state says. Hold the text's mutex. */
static bool holds(const struct place *place)
{
	u8 now[DJTAP_WINDOW];
	u32 i;

	if (copy_from_kernel_nofault(now, (void *)place->address, place->extent))
		return false;
	for (i = 0; i < place->extent; i++)
		if (now[i] != byte_in(place, place->state, i))
			return false;
	return true;
}

/* Writes those bytes of `which` that differ between the two states. */
static void write_bytes(const struct place *place, enum state from, enum state to, u32 which)
{
	u8 bytes[DJTAP_WINDOW];
	u32 begin, end;

	for (begin = 0; begin < place->extent; begin = end) {
		for (end = begin; end < place->extent; end++) {
			bytes[end] = byte_in(place, to, end);
			if (!(which >> end & 1) || bytes[end] == byte_in(place, from, end))
				break;
		}
		if (end == begin)
			end++;
		else
			static_call(dj_poke)((void *)(place->address + begin), bytes + begin, end - begin);
	}
}

static void set_traps(struct place *places, u32 count)
{
	struct place *place;

	for_each_place(place, places, count) {
		if (place->answer != DJTAP_ARMED)
			continue;
		if (!holds(place)) {
			place->answer = DJTAP_OTHER_BYTES;
			continue;
		}
		write_bytes(place, OUT, TRAPPED, arrivals(place));
		place->state = TRAPPED;
	}
	static_call(dj_poke_sync)();
}

static void set_jumps(struct place *places, u32 count)
{
	struct place *place;

	for_each_place(place, places, count) {
		if (place->state != TRAPPED || place->form != DJTAP_JUMP)
			continue;
		if (!holds(place)) {
			place->answer = DJTAP_LEFT_INT3;
			continue;
		}
		write_bytes(place, TRAPPED, IN, ~arrivals(place));
		place->state = MOVING;
	}
	static_call(dj_poke_sync)();
	for_each_place(place, places, count) {
		if (place->state != MOVING)
			continue;
		write_bytes(place, TRAPPED, IN, arrivals(place));
		place->state = IN;
	}
	static_call(dj_poke_sync)();
}

static void take_out(struct place *places, u32 count)
{
	struct place *place;

	for_each_place(place, places, count) {
		if (place->state == OUT)
			continue;
		place->leaves = holds(place);
		place->answer = place->leaves ? DJTAP_REMOVED : DJTAP_KEPT;
		if (!place->leaves || place->state != IN)
			continue;
		write_bytes(place, IN, TRAPPED, arrivals(place));
		place->state = MOVING;
	}
	static_call(dj_poke_sync)();
	for_each_place(place, places, count)
		if (place->state == MOVING)
			write_bytes(place, IN, OUT, ~arrivals(place));
	static_call(dj_poke_sync)();
	for_each_place(place, places, count) {
		if (place->state == OUT || !place->leaves)
			continue;
		write_bytes(place, TRAPPED, OUT, arrivals(place));
		place->state = OUT;
	}
	static_call(dj_poke_sync)();
}

/* Takes a set through a step, slice by slice. A fatal signal ends it early. */
static void in_slices(struct set *set, void (*step)(struct place *places, u32 count), bool to_end)
{
	u32 begin;

	for (begin = 0; begin < set->count; begin += SLICE) {
		if (!to_end && fatal_signal_pending(current))
			return;
		cpus_read_lock();
		mutex_lock(dj_text_mutex);
		step(set->places + begin, min_t(u32, SLICE, set->count - begin));
		mutex_unlock(dj_text_mutex);
		cpus_read_unlock();
		cond_resched();
	}
}

/* Waits until no task is in a detour, and none inside of bytes that were just written. */
static void wait_for_tasks(void)
{
	synchronize_rcu_tasks();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();	/* idle tasks, too */
#endif
}

static void free_set(struct set *set)
{
	list_del(&set->link);
	dj_traps_withdraw(&set->traps);
	vfree(set);
}

/* How many places are in the text, whole or as a trap. */
static u32 count_placed(const struct set *set)
{
	u32 i, placed = 0;

	for (i = 0; i < set->count; i++)
		placed += set->places[i].state != OUT;
	return placed;
}

/* Whether a place of an earlier call, which is in the text, has one of its bytes. */
static bool overlaps(const struct place *place, struct list_head *sets)
{
	struct set *set;

	list_for_each_entry(set, sets, link) {
		u32 low = 0, high = set->count;

		while (low < high) {	/* the first place that ends behind the address */
			u32 middle = low + (high - low) / 2;

			if (set->places[middle].address + set->places[middle].extent <= place->address)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < set->count && set->places[low].address < place->address + place->extent; low++)
			if (set->places[low].state != OUT)
				return true;
	}
	return false;
}

static void ask_kernel(u64 address, struct dj_place *about)
{
	unsigned long bytes, offset;

	about->forbidden = static_call(dj_forbidden)(address);
	about->function.begin = about->function.end = 0;
	if (static_call(dj_function_extent)(address, &bytes, &offset)) {
		about->function.begin = address - offset;
		about->function.end = about->function.begin + bytes;
		about->forbidden |= dj_leads_to_traps(about->function.begin);
	}
}

/*
 * Makes `here` the facts of the text around an address: the kernel's own, as they were, or those of a live module.
 * Gives 0 or -ENOMEM; `here` has no table of fixed places then.
 */
static int look_around(u64 address, const struct dj_facts *kernel, struct dj_facts *here)
{
	struct module *module;

	if (address >= here->text.begin && address < here->text.end)
		return 0;
	if (here->fixed != kernel->fixed)
		vfree(here->fixed);
	*here = *kernel;
	module = dj_module_at(address);
	if (!module)
		return 0;
	here->text = dj_module_text(module);
	here->fixed = dj_fixed_places(module, &here->fixed_count);
	return here->fixed ? 0 : -ENOMEM;
}

/* Makes the places of the sites. Those that are refused keep the order by address, and have no byte. */
static int verify_all(struct set *set, const struct djtap_site *sites, const struct djtap_arm *arm, const u64 *copies,
		      const struct dj_facts *kernel, struct list_head *sets)
{
	struct dj_facts here = *kernel;
	int error = 0;
	u64 end = 0;
	u32 i;

	for (i = 0; i < arm->site_count; i++) {
		struct place *place = &set->places[i];
		struct dj_place about;

		place->address = sites[i].address;
		place->guards = sites[i].guards;
		place->extent = min_t(u32, dj_extent(&sites[i]), DJTAP_WINDOW);
		place->form = sites[i].form;
		memcpy(place->old, sites[i].original, DJTAP_WINDOW);
		ask_kernel(place->address, &about);
		error = look_around(place->address, kernel, &here);
		if (error)
			break;
		place->answer = dj_verify(&sites[i], copies, arm->copy_count, &here, &about, place->new);
		if (place->answer == DJTAP_ARMED && (place->address < end || overlaps(place, sets)))
			place->answer = DJTAP_OVERLAPS;
		if (place->answer != DJTAP_ARMED) {
			place->address = end;
			place->extent = 0;
		}
		end = place->address + place->extent;
		if (i % SLICE == 0)
			cond_resched();
	}
	if (here.fixed != kernel->fixed)
		vfree(here.fixed);
	return error;
}

/* A place has a trap, and one for each guard: places may name the same copies. */
static u64 count_traps(const struct set *set)
{
	u64 traps = 0;
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->places[i].answer == DJTAP_ARMED)
			traps += 1 + hweight32(set->places[i].guards);
	return traps;
}

static int add_traps(struct set *set, const struct djtap_site *sites, const u64 *copies)
{
	u64 traps = count_traps(set);
	u32 i;
	int error;

	if (traps > DJTAP_MAX_TRAPS)
		return -EINVAL;
	error = dj_traps_alloc(&set->traps, traps);
	if (error)
		return error;
	for (i = 0; i < set->count; i++) {
		u32 guards = sites[i].guards, copy = sites[i].first_copy;

		if (set->places[i].answer != DJTAP_ARMED)
			continue;
		dj_traps_add(&set->traps, sites[i].address, sites[i].detour);
		for (; guards; guards &= guards - 1)
			dj_traps_add(&set->traps, sites[i].address + __ffs(guards), copies[copy++]);
	}
	return 0;
}

static int tell(const struct set *set, struct djtap_arm *arm)
{
	u8 __user *answers = u64_to_user_ptr(arm->answers);
	u32 i;

	arm->armed = 0;
	for (i = 0; i < set->count; i++) {
		arm->armed += set->places[i].state != OUT;
		if (put_user(set->places[i].answer, answers + i))
			return -EFAULT;
	}
	return 0;
}

static int make_set(struct list_head *sets, const struct dj_facts *facts, const struct djtap_arm *arm, struct set **made)
{
	struct djtap_site *sites = vmemdup_user(u64_to_user_ptr(arm->sites), arm->site_count * sizeof(*sites));
	u64 *copies = vmemdup_user(u64_to_user_ptr(arm->copies), arm->copy_count * sizeof(*copies));
	struct set *set = vzalloc(struct_size(set, places, arm->site_count));
	int error = IS_ERR(sites) ? PTR_ERR(sites) : IS_ERR(copies) ? PTR_ERR(copies) : set ? 0 : -ENOMEM;

	if (!error) {
		set->count = arm->site_count;
		error = verify_all(set, sites, arm, copies, facts, sets);
	}
	if (!error)
		error = add_traps(set, sites, copies);
	kvfree(IS_ERR(sites) ? NULL : sites);
	kvfree(IS_ERR(copies) ? NULL : copies);
	if (error)
		vfree(set);
	else
		*made = set;
	return error;
}

int dj_arm(struct list_head *sets, const struct dj_facts *facts, struct djtap_arm *arm)
{
	struct set *set;
	u32 placed;
	int error;

	if (!arm->site_count || arm->site_count > DJTAP_MAX_SITES || arm->reserved)
		return -EINVAL;
	if (arm->copy_count > DJTAP_MAX_TRAPS)
		return -EINVAL;
	error = make_set(sets, facts, arm, &set);
	if (error)
		return error;
	if (count_traps(set))
		dj_traps_publish(&set->traps);
	list_add_tail(&set->link, sets);
	in_slices(set, set_traps, false);
	placed = count_placed(set);
	if (placed && !fatal_signal_pending(current))
		synchronize_rcu_tasks();
	in_slices(set, set_jumps, false);
	error = fatal_signal_pending(current) ? -EINTR : tell(set, arm);
	if (error)
		in_slices(set, take_out, true);
	if (!count_placed(set)) {
		if (placed)
			wait_for_tasks();
		free_set(set);
	}
	return error;
}

void dj_forget(struct list_head *sets, const struct dj_range *text)
{
	struct place *place;
	struct set *set;

	list_for_each_entry(set, sets, link) {
		for_each_place(place, set->places, set->count) {
			if (place->state == OUT || place->address < text->begin || place->address >= text->end)
				continue;
			place->state = OUT;
			place->answer = DJTAP_GONE;
		}
		dj_traps_forget(&set->traps, text);
	}
}

u32 dj_disarm(struct list_head *sets, u8 __user *answers, u32 answer_count)
{
	struct set *set, *next;
	u32 i, told = 0, kept = 0;

	list_for_each_entry(set, sets, link) {
		in_slices(set, take_out, true);
		kept += count_placed(set);
		for (i = 0; answers && i < set->count && told < answer_count; i++)
			if (put_user(set->places[i].answer, answers + told++))
				answers = NULL;	/* the text matters more than the caller */
	}
	if (kept || list_empty(sets))
		return kept;
	wait_for_tasks();
	list_for_each_entry_safe(set, next, sets, link)
		free_set(set);
	return 0;
}
