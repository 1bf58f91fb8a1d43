// A scan of whole texts, so a loop that compilers make vector code of.
#include "arch/x86_64/gs_base.h"

#include <algorithm>

namespace dj::arch {
namespace {

constexpr size_t kBlock = 4096, kTail = 2;  // bytes of the pattern behind its first

// 0f ae d8..df somewhere at p[0 .. count).
bool has_tail(const uint8_t* p, size_t count) {
  uint8_t any = 0;
  for (size_t i = 0; i < count; i++) {
    any |= uint8_t((p[i] == 0x0f) & (p[i + 1] == 0xae) & ((p[i + 2] & 0xf8) == 0xd8));
  }
  return any != 0;
}

// f3 before them, perhaps with a REX in between.
bool is_whole(std::span<const uint8_t> text, size_t at) {
  const bool rex = at >= 1 && (text[at - 1] & 0xf0) == 0x40;
  const size_t prefix = at - (rex ? 1 : 0);
  return prefix >= 1 && text[prefix - 1] == 0xf3;
}

}  // namespace

bool has_wrgsbase(std::span<const uint8_t> text) {
  for (size_t begin = 0; begin + kTail < text.size(); begin += kBlock) {
    const size_t count = std::min(kBlock, text.size() - kTail - begin);
    if (!has_tail(&text[begin], count)) continue;  // stmxcsr, with a memory operand, is no such
    for (size_t i = begin; i < begin + count; i++) {
      if (has_tail(&text[i], 1) && is_whole(text, i)) return true;
    }
  }
  return false;
}

}  // namespace dj::arch
