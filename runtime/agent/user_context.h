// SPDX-License-Identifier: Apache-2.0
// user_context.h declares the kernel's struct ucontext and siginfo, as far as the agent reads them.
#pragma once
#include <stdint.h>

namespace dj::agent {

struct UserContext {
  uint64_t flags, link;
  uint64_t stack[3];
  uint64_t registers[23];
  uint64_t float_state;
  uint64_t reserved[8];
  uint64_t mask;
};
enum Register : int { kR11 = 3, kRax = 13, kRsp = 15, kRip = 16, kSegments = 18 };

struct SignalInfo {
  int32_t signal, error, code;
  uint64_t address;  // of a fault: the data's, or the instruction's
};

}  // namespace dj::agent
