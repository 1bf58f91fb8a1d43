// SPDX-License-Identifier: Apache-2.0
// The heads met so far: what the decoder said of one is remembered, and said again.
//
// An instruction's head is its bytes before displacement and immediate: prefixes, opcode, ModRM,
// SIB. Where the decoder has found a displacement or an immediate right behind a head, all but
// their values follows from the head, so another instruction with this head need not be decoded. A
// large program has millions of instructions and some ten thousand heads. One table for the
// process, shared by any number of threads; what is in it stays.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/x86_64/decode.h"

namespace dj::arch {

// The length of the head of the instruction at the start of `bytes`, 1 to 8; 0 when it takes more
// than a look. A guess by the opcode tables (Intel SDM volume 2, 2.1 and appendix A): whoever keeps
// a head compares it with what the decoder found.
size_t head_size(std::span<const uint8_t> bytes);

// What is known of the head of `size` bytes, as head_size gave it, to `head`; false when nothing
// is. Eight bytes at `bytes` are read.
bool known_head(const uint8_t* bytes, size_t size, Head& head);

// Remembers what the decoder said, where there is room.
void keep_head(const uint8_t* bytes, size_t size, const Head& head);

}  // namespace dj::arch
