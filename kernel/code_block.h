/* SPDX-License-Identifier: GPL-2.0-only */
/* code_block.h: the memory of a session's detours. It is writable, then sealed: executable, for good. */
#ifndef DJTAP_CODE_BLOCK_H
#define DJTAP_CODE_BLOCK_H

#include "device_abi.h"

struct dj_code_block {
	void *base;	/* NULL: there is none */
	size_t bytes;	/* whole pages */
	bool sealed;
};

/* Each gives 0 or -errno, as the ioctl of its name (device_abi.h). */
int dj_code_alloc(struct dj_code_block *block, struct djtap_code *code);
int dj_code_write(struct dj_code_block *block, const struct djtap_write *write);
int dj_code_seal(struct dj_code_block *block);

/* Frees the memory. No thread may be in it, and no text may lead there. */
void dj_code_free(struct dj_code_block *block);

#endif
