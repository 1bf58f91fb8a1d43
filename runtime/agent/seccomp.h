// SPDX-License-Identifier: Apache-2.0
// seccomp.h finds out what a seccomp filter will deny to handlers, by running the filter before the
// kernel has it.
#pragma once
#include <stdint.h>

namespace dj::agent {

// Of the system call with this number and these first arguments: the calls of abi::kAskedCalls, and
// abi::kMovedCalls, that are denied when it has succeeded. 0: it installs no filter, or one that
// allows all of them.
uint64_t denied_from(uint64_t number, uint64_t a, uint64_t b, uint64_t c);

}  // namespace dj::agent
