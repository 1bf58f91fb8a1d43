// SPDX-License-Identifier: Apache-2.0
// memmove() and memcmp(), which compilers call on their own (memcpy() and memset(): bytes.S).
// -fno-builtin keeps them from being compiled into calls of themselves.
#if !__STDC_HOSTED__
#include <stddef.h>

#pragma GCC visibility push(hidden)
extern "C" {

void* memcpy(void* to, const void* from, size_t n);

// The direction flag is a register too: a signal handler may not find it set, so the copy goes down
// by hand.
void* memmove(void* to, const void* from, size_t n) {
  auto* out = static_cast<unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (out <= in || out >= in + n) return memcpy(to, from, n);
  while (n != 0) {
    --n;
    out[n] = in[n];
  }
  return to;
}

int memcmp(const void* a, const void* b, size_t n) {
  const auto* x = static_cast<const unsigned char*>(a);
  const auto* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < n; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
#endif
