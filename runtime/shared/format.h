// SPDX-License-Identifier: Apache-2.0
// format_text() is the one formatter for printf, println and sprintf: the agent's sprintf and the
// controller's printing of events share it. %d %i %u %x %X %o %p %c %s %b (so many bytes as the
// width says, 8 without, as they lie in memory) %f %F %e %E %g %G %%, flags "-+ #0", width,
// precision, '*'; h, l, ll, j, z, t are passed over.
#pragma once
#include <stdint.h>

namespace dj::abi {

// One argument: a number, the bits of a double, or a string's bytes.
struct FormatArg {
  uint64_t number = 0;
  const char* text = nullptr;
  uint32_t length = 0;
};

// Which arguments of a format are strings: bit i for argument i.
uint32_t format_strings(const char* format, uint32_t format_length);

// Writes at most `room` bytes (no NUL) and returns how many the whole text has. A conversion
// without an argument prints nothing.
uint64_t format_text(char* out, uint64_t room, const char* format, uint32_t format_length,
                     const FormatArg* args, uint32_t count);

}  // namespace dj::abi
