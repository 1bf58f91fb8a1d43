// SPDX-License-Identifier: Apache-2.0
// LoaderStop is a breakpoint in a program loader that is no breakpoint: nothing of it kills the
// program when djtap dies. ld.so's _dl_debug_state, an empty function that it calls when its list
// of objects is complete, gets for a while a body that stops only a traced program. Mostly the
// program sends itself a signal that is ignored by default, which its tracer alone sees. If the
// program blocks all such signals, or a seccomp filter may deny kill(), the body makes a harmless
// system call instead, and the tracer lets the program run from system call to system call.
#pragma once
#include <sys/ptrace.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/running_memory.h"

namespace dj {

struct LoaderStop {
  enum class Kind : uint8_t {
    Signal,  // stops in the delivery of `signal`
    Call,    // stops at a system call
    Trap,    // int3: for some microseconds the program would not survive the death of djtap
  };
  struct Piece {
    uint64_t address = 0;
    std::vector<uint8_t> original, patched;
  };
  Kind kind = Kind::Trap;
  int signal = SIGTRAP;
  uint64_t function = 0;       // address of _dl_debug_state
  uint64_t body = 0;           // of the code that stops there
  uint64_t state_address = 0;  // of r_debug.r_state; 0: the loader has none
  // The state is RT_ADD before: what is consistent earlier is the list of other objects (LD_AUDIT).
  bool tells_begin = false;
  // The body passes over RT_ADD. Then this is the address of a word of the program that is not 0
  // from there on (DT_DEBUG). 0: the body stops each time.
  uint64_t begin_word = 0;
  std::vector<Piece> pieces;  // of code; the last one is the body

  __ptrace_request request() const { return kind == Kind::Call ? PTRACE_SYSCALL : PTRACE_CONT; }
  // Where the program stops in the body.
  uint64_t stop_address() const;
  // Whether a thread that stands there has begun the body. bytes: that it has on the stack then.
  bool is_inside(uint64_t rip, uint64_t* bytes) const;
  // Whether the loader stands where the list of the program's own objects is complete. *begun:
  // whether it has been seen to begin with that list; changed here.
  Result<bool> is_complete(const RunningMemory& memory, bool* begun) const;
};

// Finds out how this loader can be stopped. The process stands behind its exec, or in its loader.
// interpreter: its PT_INTERP. Fails with Unsupported if the loader has no such function.
Result<LoaderStop> find_loader_stop(pid_t pid, const std::string& interpreter,
                                    const RunningMemory& memory);

// Writes the pieces, or what stood there before.
Status patch_loader(const LoaderStop& stop, const RunningMemory& memory);
Status restore_loader(const LoaderStop& stop, const RunningMemory& memory);

}  // namespace dj
