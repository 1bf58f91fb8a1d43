// SPDX-License-Identifier: Apache-2.0
// Reads the filter that a system call is about to install.
#include "runtime/agent/seccomp.h"

#include "runtime/agent/user_memory.h"
#include "runtime/shared/seccomp_program.h"

using namespace dj;
using namespace dj::agent;

namespace {

struct Program {
  uint16_t length;
  uint64_t code;  // address of FilterInstruction 0
};

bool is_readable(uint64_t at, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    char piece[512];
    const uint64_t size = bytes - done < sizeof piece ? bytes - done : sizeof piece;
    const int64_t got = read_user(piece, at + done, size);
    if (got == -kEperm) return true;  // by an earlier filter: the program's pointer is believed
    if (got != static_cast<int64_t>(size)) return false;
    done += size;
  }
  return true;
}

// A filter that cannot be read is none: the call will fail.
uint64_t denied_by(uint64_t program) {
  if (!is_readable(program, sizeof(Program))) return 0;
  const auto* asked = reinterpret_cast<const Program*>(program);
  const uint32_t length = asked->length;
  if (length > abi::kMostFilterInstructions ||
      !is_readable(asked->code, length * sizeof(abi::FilterInstruction)))
    return 0;
  return abi::denied_by({reinterpret_cast<const abi::FilterInstruction*>(asked->code), length});
}

}  // namespace

uint64_t agent::denied_from(uint64_t number, uint64_t a, uint64_t b, uint64_t c) {
  constexpr uint64_t kSetSeccomp = 22;  // PR_SET_SECCOMP, with its modes
  constexpr uint32_t kModeStrict = 1, kModeFilter = 2;
  constexpr uint32_t kSetStrict = 0, kSetFilter = 1;  // of seccomp()
  const auto first = static_cast<uint32_t>(a);
  if (static_cast<uint32_t>(number) == kSysPrctl) {
    if (first != kSetSeccomp) return 0;
    return b == kModeStrict ? abi::denied_strictly() : b == kModeFilter ? denied_by(c) : 0;
  }
  if (static_cast<uint32_t>(number) != kSysSeccomp) return 0;
  return first == kSetStrict ? abi::denied_strictly() : first == kSetFilter ? denied_by(c) : 0;
}
