// SPDX-License-Identifier: GPL-2.0-only
/* The tables of traps, and the notifier that looks into them. */
#include "traps.h"

#include <linux/hash.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/vmalloc.h>

#include "symbols.h"

#define INT3_BYTES 1

static LIST_HEAD(tables);

/*
 * The kernel's chain of notifiers, and what runs before and around them. Kernels without preemption or without kgdb
 * lack some of these functions. kgdb is asked even before kprobes are.
 */
static struct atomic_notifier_head *chain;
static const char *const way_names[] = {
	"__rcu_read_lock", "__rcu_read_unlock", "rcu_read_unlock_special", "kgdb_ll_trap", "__kgdb_notify",
};
static u64 ways[ARRAY_SIZE(way_names)];

static u64 find(const struct dj_traps *traps, u64 address)
{
	u32 mask = (1u << traps->bits) - 1;
	u32 at = hash_64(address, traps->bits);

	for (; traps->slots[at].address; at = (at + 1) & mask)
		if (traps->slots[at].address == address)
			return READ_ONCE(traps->slots[at].detour);
	return 0;
}
NOKPROBE_SYMBOL(find);

/* Runs with interrupts off, so a grace period of RCU waits for it. */
static int notrace on_die(struct notifier_block *self, unsigned long event, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	struct dj_traps *traps;
	u64 detour;

	if (event != DIE_INT3 || user_mode(regs))
		return NOTIFY_DONE;
	list_for_each_entry_lockless(traps, &tables, link) {
		detour = find(traps, regs->ip - INT3_BYTES);
		if (detour) {
			regs->ip = detour;
			return NOTIFY_STOP;
		}
	}
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(on_die);

static struct notifier_block notifier = { .notifier_call = on_die, .priority = INT_MAX - 1 };

int dj_traps_begin(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		ways[i] = dj_symbol(way_names[i]);
	chain = (struct atomic_notifier_head *)dj_needed_symbol("die_chain", NULL);
	return chain ? register_die_notifier(&notifier) : -ENOENT;
}

void dj_traps_end(void)
{
	unregister_die_notifier(&notifier);
}

bool dj_leads_to_traps(u64 function)
{
	const struct notifier_block *other;
	bool leads = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		leads |= function == ways[i];
	rcu_read_lock();
	for (other = rcu_dereference(chain->head); other; other = rcu_dereference(other->next))
		leads |= (u64)other->notifier_call == function;
	rcu_read_unlock();
	return leads;
}

int dj_traps_alloc(struct dj_traps *traps, u32 count)
{
	traps->bits = ilog2(count + 1) + 2;
	traps->slots = vzalloc(array_size(1ul << traps->bits, sizeof(*traps->slots)));
	return traps->slots ? 0 : -ENOMEM;
}

void dj_traps_add(struct dj_traps *traps, u64 address, u64 detour)
{
	u32 mask = (1u << traps->bits) - 1;
	u32 at = hash_64(address, traps->bits);

	while (traps->slots[at].address)
		at = (at + 1) & mask;
	traps->slots[at].address = address;
	traps->slots[at].detour = detour;
}

void dj_traps_publish(struct dj_traps *traps)
{
	list_add_tail_rcu(&traps->link, &tables);
}

void dj_traps_withdraw(struct dj_traps *traps)
{
	if (traps->link.next) {	/* it was published */
		list_del_rcu(&traps->link);
		synchronize_rcu();
	}
	vfree(traps->slots);
}

void dj_traps_forget(struct dj_traps *traps, const struct dj_range *text)
{
	struct dj_trap *slot;

	for (slot = traps->slots; slot < traps->slots + (1ul << traps->bits); slot++)
		if (slot->address >= text->begin && slot->address < text->end)
			WRITE_ONCE(slot->detour, 0);
}
