// SPDX-License-Identifier: Apache-2.0
// The decode cache remembers what the decoder said of an instruction's head and gives it again for
// the next instruction with this head.
//
// An instruction's head is its bytes before displacement and immediate: prefixes, opcode, ModRM,
// SIB. Where the decoder has found a displacement or an immediate right behind a head, everything
// but their values follows from the head, so djtap does not decode another instruction with this
// head. A large program has millions of instructions and some ten thousand heads. The process has
// one table, which any number of threads share. Entries stay until the process ends.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/x86_64/decode.h"

namespace dj::arch {

// Returns the length in bytes of the head of the instruction at the start of `bytes`, 1 to 8; 0
// when finding it takes more than a look. It is a guess by the opcode tables (Intel SDM volume 2,
// 2.1 and appendix A): a caller of keep_head() first compares the head with what the decoder found.
size_t head_size(std::span<const uint8_t> bytes);

// Writes what the cache holds of the head of `size` bytes, as head_size() gave it, to `head`.
// Returns false when it holds nothing. Reads eight bytes at `bytes`.
bool known_head(const uint8_t* bytes, size_t size, Head& head);

// Remembers what the decoder said, if the table has room.
void keep_head(const uint8_t* bytes, size_t size, const Head& head);

}  // namespace dj::arch
