// SPDX-License-Identifier: GPL-2.0-only
/* Allocates, fills, seals and frees the memory of detours. It is never writable and executable at once. */
#include "code_block.h"

#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "symbols.h"

#define INT3 0xcc

int dj_code_alloc(struct dj_code_block *block, struct djtap_code *code)
{
	size_t bytes;

	if (block->base)
		return -EBUSY;
	if (!code->bytes || code->bytes > DJTAP_MAX_CODE)
		return -EINVAL;
	bytes = PAGE_ALIGN(code->bytes);
	block->base = dj_alloc_code(bytes);
	if (!block->base)
		return -ENOMEM;
	memset(block->base, INT3, bytes);
	block->bytes = bytes;
	block->sealed = false;
	code->bytes = bytes;
	code->address = (unsigned long)block->base;
	return 0;
}

int dj_code_write(struct dj_code_block *block, const struct djtap_write *write)
{
	if (!block->base || block->sealed)
		return -EBUSY;
	if (write->offset > block->bytes || write->bytes > block->bytes - write->offset)
		return -EINVAL;
	if (copy_from_user(block->base + write->offset, u64_to_user_ptr(write->from), write->bytes))
		return -EFAULT;
	return 0;
}

int dj_code_seal(struct dj_code_block *block)
{
	unsigned long base = (unsigned long)block->base;
	int pages = block->bytes >> PAGE_SHIFT;
	int error;

	if (!block->base || block->sealed)
		return -EBUSY;
	error = static_call(dj_pages_ro)(base, pages) ?: static_call(dj_pages_x)(base, pages);
	block->sealed = !error;
	return error;
}

void dj_code_free(struct dj_code_block *block)
{
	unsigned long base = (unsigned long)block->base;
	int pages = block->bytes >> PAGE_SHIFT;

	if (!block->base)
		return;
	/* The next owner of these pages must be able to write, and must not execute. */
	if (static_call(dj_pages_nx)(base, pages) || static_call(dj_pages_rw)(base, pages))
		pr_err("djtap: %zu bytes of code stay read-only, and are not freed\n", block->bytes);
	else
		vfree(block->base);
	block->base = NULL;
	block->bytes = 0;
	block->sealed = false;
}
