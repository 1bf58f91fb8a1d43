// SPDX-License-Identifier: Apache-2.0
// rseq_area.h decides whether a thread's rseq area says the truth. A thread finds its own at a
// distance from its fs base, so one that shares the base with another, or whose base leads to no
// control block of the C library, must not be taken for registered.
#pragma once
#include <stdint.h>

namespace dj::agent {

struct CloneArguments {
  uint64_t flags, tls;
};

// Does the C library's control block begin at `fs`? It says its own address, twice.
bool is_control_block(uint64_t fs);
// The new thread gets another control block.
bool has_foreign_block(const CloneArguments& args);
// Before the call.
void prepare_clone(const CloneArguments& args);
// The area beside this control block, or this thread's, says "not registered" until the kernel or
// the C library writes it.
void mark_unregistered(uint64_t fs);
void mark_unregistered();

}  // namespace dj::agent
