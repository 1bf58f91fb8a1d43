// SPDX-License-Identifier: Apache-2.0
// quote.h writes the program's bytes as text, with C's escapes, reading byte by byte.
#pragma once
#include "runtime/agent/user_memory.h"

namespace dj::agent {

constexpr uint32_t kEscapeBytes = 4;

// Writes `c`, or the way C spells it, between quotes of the kind `quote`; how many bytes.
inline uint32_t escape(char* to, char c, char quote = '"') {
  constexpr char kControls[] = "abtnvfr";  // from 7 on
  auto byte = static_cast<uint8_t>(c);
  bool is_control = byte >= 7 && byte <= 13;
  if (byte >= ' ' && byte < 127 && c != quote && c != '\\') {
    to[0] = c;
    return 1;
  }
  to[0] = '\\';
  if (is_control || c == quote || byte == '\\') {
    to[1] = is_control ? kControls[byte - 7] : c;
    return 2;
  }
  for (uint32_t i = 0; i < 3; ++i) to[3 - i] = static_cast<char>('0' + (byte >> 3 * i & 7));
  return kEscapeBytes;
}

// Bytes of the program one after the other; asks the kernel once for many.
class UserBytes {
 public:
  explicit UserBytes(uint64_t at) : at_(at) {}
  bool next(char* c) {
    uint64_t offset = at_ % sizeof chunk_;
    if (!filled_ || offset == 0) {
      filled_ = can_read(chunk_ + offset, at_, sizeof chunk_ - offset);
      if (!filled_) return false;
    }
    *c = chunk_[offset];
    ++at_;
    return true;
  }

 private:
  uint64_t at_;
  bool filled_ = false;
  char chunk_[128];
};

}  // namespace dj::agent
