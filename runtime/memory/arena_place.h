// SPDX-License-Identifier: Apache-2.0
// ArenaPlace says where a session's shared memory and the private memory behind it lie. They lie at
// the same addresses in djtap and in every process of the session (runtime/shared/abi.h,
// thread_table.h).
#pragma once
#include <cstdint>

#include "compiler/stages/layout.h"
#include "runtime/shared/thread_table.h"

namespace dj {

struct ArenaPlace {
  uint64_t base = 0;
  uint64_t constant_bytes = 0;  // of the arena, from its begin; whole pages
  uint64_t bytes = 0;           // of the arena; whole pages. 0: there is none
  uint64_t context_bytes = 0;   // of private memory, from its begin; whole pages

  uint64_t data_begin() const { return base + constant_bytes; }
  uint64_t private_begin() const { return base + bytes; }
  uint64_t private_bytes() const { return abi::private_bytes(context_bytes); }
  uint64_t threads() const { return private_begin() + context_bytes; }  // the ThreadTable
  uint64_t end() const { return private_begin() + private_bytes(); }
};

inline ArenaPlace arena_place(const Layout& layout) {
  return {layout.base, layout.header.constant_bytes, layout.bytes,
          abi::context_bytes(&layout.header)};
}

}  // namespace dj
