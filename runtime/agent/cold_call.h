// SPDX-License-Identifier: Apache-2.0
// DJ_COLD_CALL makes a function that a handler rarely calls keep all registers but r11 itself, so
// that the handler need not save them on its way past the call.
#pragma once

#if defined(__clang__)
#define DJ_COLD_CALL __attribute__((preserve_most))
#else
#define DJ_COLD_CALL
#endif
