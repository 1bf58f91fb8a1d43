// The four functions that compilers call on their own. -fno-builtin keeps them from being compiled
// into calls of themselves. All string instructions of the agent and of handlers are here: the
// program may have set the direction flag where a handler runs, and asking for it costs least where
// something is copied.
#if !__STDC_HOSTED__
#include <stddef.h>
#include <stdint.h>

namespace {

bool goes_down() {
  constexpr uint64_t kDirection = 1 << 10;
  return (__builtin_ia32_readeflags_u64() & kDirection) != 0;
}

}  // namespace

#pragma GCC visibility push(hidden)
extern "C" {

void* memcpy(void* to, const void* from, size_t n) {
  void* result = to;
  if (__builtin_expect(goes_down(), 0)) {
    asm volatile("cld; rep movsb; std" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  } else {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  }
  return result;
}

void* memset(void* to, int byte, size_t n) {
  void* result = to;
  if (__builtin_expect(goes_down(), 0)) {
    asm volatile("cld; rep stosb; std" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
  } else {
    asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
  }
  return result;
}

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
