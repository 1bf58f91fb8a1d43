// SPDX-License-Identifier: GPL-2.0-only
/* Registers kprobes with empty handlers at the places of a file, and says in the kernel's log how long that took. */
/*
 * The file has SYMBOL+OFFSET in each line. Loading the module registers, removing it unregisters. This is what
 * tests/bench/kernel.py measures djtap's arming against.
 */
#include <linux/kernel_read_file.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define MOST_PLACES 4096

static char *places;
module_param(places, charp, 0);
MODULE_PARM_DESC(places, "path of the file");

static struct kprobe *probes;
static u32 registered;
static void *text;

static int nothing(struct kprobe *probe, struct pt_regs *regs)
{
	return 0;
}

/* Gives the number of places; their names stay in the text. */
static u32 read_places(char *from)
{
	char *line;
	u32 count = 0;

	while (count < MOST_PLACES && (line = strsep(&from, "\n"))) {
		char *offset = strchr(line, '+');

		if (!offset || kstrtouint(offset + 1, 0, &probes[count].offset))
			continue;
		*offset = 0;
		probes[count].symbol_name = line;
		probes[count++].pre_handler = nothing;
	}
	return count;
}

/* Those that are refused are left out: the first `registered` of the array are in the text. */
static void register_all(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (i != registered)
			probes[registered] = probes[i];
		if (!register_kprobe(&probes[registered]))
			registered++;
	}
}

static int __init begin(void)
{
	u32 count;
	u64 start;
	ssize_t bytes = kernel_read_file_from_path(places, 0, &text, 1 << 20, NULL, READING_UNKNOWN);

	if (bytes < 0)
		return bytes;
	probes = vzalloc(array_size(MOST_PLACES, sizeof(*probes)));
	if (!probes || !bytes) {
		vfree(text);
		vfree(probes);
		return -ENOMEM;
	}
	((char *)text)[bytes - 1] = 0;
	count = read_places(text);
	start = ktime_get_ns();
	register_all(count);
	pr_info("register_kprobes: %u of %u in %llu us\n", registered, count, (ktime_get_ns() - start) / 1000);
	return 0;
}

static void __exit end(void)
{
	u32 i;

	for (i = 0; i < registered; i++)
		unregister_kprobe(&probes[i]);
	vfree(probes);
	vfree(text);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("registers kprobes one by one, to be measured");
