// SPDX-License-Identifier: GPL-2.0-only
/* The device /dev/djtap: an open file is a session, at most one at a time. */
/*
 * Closing the file, also by the death of its last process, takes all places out. Places over which another tool has
 * written are tried again each second; until they are out, the module stays, and there is no other session.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kdebug.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/security.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "code_block.h"
#include "fixed_places.h"
#include "symbols.h"
#include "text.h"
#include "traps.h"

/* In the first chunk of a CPU's memory, where an offset fits the displacement of an instruction. */
static DEFINE_PER_CPU(u64[DJTAP_COUNTERS], counters);

static struct {
	struct mutex lock;		/* of all of it, but `taken` */
	atomic_t taken;			/* a session is open, or has left places */
	struct dj_code_block code;
	struct dj_facts facts;		/* of the kernel's own text; its `fixed`: NULL before they are read */
	struct list_head sets;		/* text.c */
} session = {
	.lock = __MUTEX_INITIALIZER(session.lock),
	.sets = LIST_HEAD_INIT(session.sets),
};

static void retry(struct work_struct *work);
static DECLARE_DELAYED_WORK(retry_work, retry);

/* Gives the number of places that stay. Hold the lock. */
static u32 end_session(void)
{
	u32 kept = dj_disarm(&session.sets, NULL, 0);

	if (kept)
		return kept;
	dj_code_free(&session.code);
	vfree(session.facts.fixed);
	session.facts.fixed = NULL;
	return 0;
}

static void retry(struct work_struct *work)
{
	u32 kept;

	mutex_lock(&session.lock);
	kept = end_session();
	mutex_unlock(&session.lock);
	if (kept) {
		schedule_delayed_work(&retry_work, HZ);
		return;
	}
	pr_info("djtap: the places that were kept are out\n");
	atomic_set(&session.taken, 0);
	module_put(THIS_MODULE);
}

/* A module goes, whose memory may be another's next. The lock makes it wait until no place is written. */
static int on_module(struct notifier_block *self, unsigned long event, void *module)
{
	struct dj_range text = dj_module_text(module);

	if (event == MODULE_STATE_GOING) {
		mutex_lock(&session.lock);
		dj_forget(&session.sets, &text);
		mutex_unlock(&session.lock);
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };

static void clear_counters(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&counters, cpu), 0, sizeof(counters));
}

static int djtap_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN) || security_locked_down(LOCKDOWN_DEV_MEM))
		return -EPERM;
	if (atomic_cmpxchg(&session.taken, 0, 1))
		return -EBUSY;
	clear_counters();
	return nonseekable_open(inode, file);
}

static int djtap_release(struct inode *inode, struct file *file)
{
	u32 kept;

	mutex_lock(&session.lock);
	kept = end_session();
	mutex_unlock(&session.lock);
	if (kept) {
		pr_warn("djtap: another tool has written over %u places: they stay until it lets go\n", kept);
		__module_get(THIS_MODULE);
		schedule_delayed_work(&retry_work, HZ);
	} else {
		atomic_set(&session.taken, 0);
	}
	return 0;
}

static long hello(struct djtap_hello *hello)
{
	hello->abi = DJTAP_ABI;
	hello->counters = DJTAP_COUNTERS;
	hello->counter_offset = (unsigned long)&counters;
	hello->text_begin = dj_text_begin;
	hello->text_end = dj_text_end;
	return 0;
}

static long arm(struct djtap_arm *arm)
{
	struct dj_facts *facts = &session.facts;
	struct list_head *set;
	u32 sets = 0;

	if (!session.code.sealed)
		return -EBUSY;
	list_for_each(set, &session.sets)
		sets++;
	if (sets >= DJTAP_MAX_SETS)
		return -EINVAL;
	if (!facts->fixed)
		facts->fixed = dj_fixed_places(NULL, &facts->fixed_count);
	if (!facts->fixed)
		return -ENOMEM;
	facts->text = (struct dj_range){ dj_text_begin, dj_text_end };
	facts->code.begin = (unsigned long)session.code.base;
	facts->code.end = facts->code.begin + session.code.bytes;
	return dj_arm(&session.sets, facts, arm);
}

static long disarm(struct djtap_disarm *disarm)
{
	disarm->kept = dj_disarm(&session.sets, u64_to_user_ptr(disarm->answers), disarm->answer_count);
	return 0;
}

static long give_counts(const struct djtap_counts *counts)
{
	u64 __user *to = u64_to_user_ptr(counts->to);
	u32 i;
	int cpu;

	if (counts->first > DJTAP_COUNTERS || counts->count > DJTAP_COUNTERS - counts->first)
		return -EINVAL;
	for (i = 0; i < counts->count; i++) {
		u64 sum = 0;

		for_each_possible_cpu(cpu)
			sum += READ_ONCE((*per_cpu_ptr(&counters, cpu))[counts->first + i]);
		if (put_user(sum, to + i))
			return -EFAULT;
	}
	return 0;
}

union argument {
	struct djtap_hello hello;
	struct djtap_code code;
	struct djtap_write write;
	struct djtap_arm arm;
	struct djtap_disarm disarm;
	struct djtap_counts counts;
};

static long call(unsigned int command, union argument *argument)
{
	switch (command) {
	case DJTAP_HELLO:
		return hello(&argument->hello);
	case DJTAP_ALLOC_CODE:
		return dj_code_alloc(&session.code, &argument->code);
	case DJTAP_WRITE:
		return dj_code_write(&session.code, &argument->write);
	case DJTAP_SEAL:
		return dj_code_seal(&session.code);
	case DJTAP_ARM:
		return arm(&argument->arm);
	case DJTAP_DISARM:
		return disarm(&argument->disarm);
	case DJTAP_COUNTS:
		return give_counts(&argument->counts);
	}
	return -EINVAL;
}

static long djtap_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	void __user *caller = (void __user *)address;
	size_t bytes = _IOC_SIZE(command);
	union argument argument;
	long status;

	if (bytes > sizeof(argument))
		return -EINVAL;
	memset(&argument, 0, sizeof(argument));
	if (_IOC_DIR(command) & _IOC_WRITE && copy_from_user(&argument, caller, bytes))
		return -EFAULT;
	if (mutex_lock_killable(&session.lock))
		return -EINTR;
	status = call(command, &argument);
	mutex_unlock(&session.lock);
	if (!status && _IOC_DIR(command) & _IOC_READ && copy_to_user(caller, &argument, bytes))
		return -EFAULT;
	return status;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = djtap_open,
	.release = djtap_release,
	.unlocked_ioctl = djtap_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "djtap",
	.fops = &operations,
	.mode = 0600,
};

static int __init djtap_init(void)
{
	int error = dj_find_symbols();

	if (!error)
		error = dj_traps_begin();
	if (error)
		return error;
	register_module_notifier(&module_notifier);	/* cannot fail; a session can begin right behind misc_register() */
	error = misc_register(&device);
	if (error) {
		unregister_module_notifier(&module_notifier);
		dj_traps_end();
	}
	return error;
}

/* No session is open, and no place was kept: both hold the module. */
static void __exit djtap_exit(void)
{
	misc_deregister(&device);
	cancel_delayed_work_sync(&retry_work);
	unregister_module_notifier(&module_notifier);
	dj_traps_end();
}

module_init(djtap_init);
module_exit(djtap_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("djtap: verifies and writes jump-optimized probes");
MODULE_VERSION("1");
