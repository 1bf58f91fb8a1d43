// SPDX-License-Identifier: Apache-2.0
// Utf8 collects the bytes of one character as they come.
#pragma once
#include <stdint.h>

namespace dj::agent {

struct Utf8 {
  uint8_t bytes[4];
  uint32_t used = 0;

  // How many bytes the character has; 1: it is ASCII, or begins as none does.
  uint32_t length() const {
    const uint8_t first = bytes[0];
    return first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  }
  // Whether the character can go on so: no overlong form, no surrogate, nothing above U+10FFFF.
  bool takes(uint8_t byte) const {
    if (used == 0) return true;
    const uint8_t first = bytes[0];
    const bool second = used == 1;
    const uint8_t least = second && first == 0xe0 ? 0xa0 : second && first == 0xf0 ? 0x90 : 0x80;
    const uint8_t most = second && first == 0xed ? 0x9f : second && first == 0xf4 ? 0x8f : 0xbf;
    return byte >= least && byte <= most;
  }
  void add(uint8_t byte) { bytes[used++] = byte; }
  bool complete() const { return used == length(); }
  uint32_t code() const {
    uint32_t code = bytes[0] & (0x7fu >> used);
    for (uint32_t i = 1; i < used; ++i) code = code << 6 | (bytes[i] & 0x3fu);
    return code;
  }
};

constexpr uint32_t kUnicodeBytes = 10;

// Writes \u00E9 or \U0001F600; how many bytes.
inline uint32_t unicode_escape(char* to, uint32_t code) {
  const uint32_t digits = code <= 0xffff ? 4 : 8;
  to[0] = '\\';
  to[1] = digits == 4 ? 'u' : 'U';
  for (uint32_t i = 0; i < digits; ++i)
    to[2 + i] = "0123456789ABCDEF"[code >> 4 * (digits - 1 - i) & 15];
  return digits + 2;
}

}  // namespace dj::agent
