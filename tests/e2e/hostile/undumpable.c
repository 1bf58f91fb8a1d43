// SPDX-License-Identifier: Apache-2.0
// Preloaded into a victim: makes it not dumpable before main(), so that no equal may trace it.
#include <sys/prctl.h>

__attribute__((constructor)) static void hide(void) { prctl(PR_SET_DUMPABLE, 0); }
