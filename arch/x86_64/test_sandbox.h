// SPDX-License-Identifier: Apache-2.0
// For tests: runs machine code from a state in which every register is given, vector registers too,
// until it faults, and tells the state in which it did. State goes in and out by signal frames, so
// nothing of the test runs in between. For a forked child: its signal actions are changed for good.
#pragma once
#include <cpuid.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compiler/base/result.h"

namespace dj::arch::test {

// The processor's state as a signal frame has it.
struct Frame {
  std::array<int64_t, 23> general = {};   // by REG_R8 ... of <ucontext.h>
  std::array<uint8_t, 4096> floats = {};  // fxsave area, header and extended components
  uint32_t float_bytes = 0;
};

// How a run ended: the signal, what it says of itself, and the state.
struct Ending {
  int signal = 0, code = 0;
  uint64_t address = 0;  // that could not be accessed
  Frame frame;
};

class Sandbox {
 public:
  Sandbox() : stack_(1 << 16) {
    stack_t alternate = {stack_.data(), 0, stack_.size()};
    CHECK(sigaltstack(&alternate, nullptr) == 0);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO | SA_NODEFER;
    for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP})
      CHECK(sigaction(signal, &action, nullptr) == 0);
  }
  // The state of the test itself: a start to be changed.
  static Frame present() {
    const Frame here;
    switch_to(&here, true);
    return host_;
  }
  static const Ending& run(const Frame& start) {
    switch_to(&start, false);
    return ending_;
  }

 private:
  static void switch_to(const Frame* start, bool only_look) {
    start_ = start;
    only_look_ = only_look;
    entering_ = true;
    asm volatile("int3" : : : "memory");
    start_ = nullptr;
  }
  static void load(ucontext_t* context, const Frame& frame) {
    for (size_t i = 0; i <= REG_EFL; i++) context->uc_mcontext.gregs[i] = frame.general[i];
    std::memcpy(context->uc_mcontext.fpregs, frame.floats.data(), frame.float_bytes);
  }
  static void store(const ucontext_t* context, Frame& frame) {
    std::copy_n(context->uc_mcontext.gregs, frame.general.size(), frame.general.begin());
    uint32_t bytes;
    const auto* floats = reinterpret_cast<const uint8_t*>(context->uc_mcontext.fpregs);
    std::memcpy(&bytes, floats + 480, 4);  // _fpx_sw_bytes::xstate_size
    frame.float_bytes = std::min<uint32_t>(bytes, uint32_t(frame.floats.size()));
    std::memcpy(frame.floats.data(), floats, frame.float_bytes);
  }
  static void on_signal(int signal, siginfo_t* info, void* frame) {
    auto* context = static_cast<ucontext_t*>(frame);
    if (entering_) {
      entering_ = false;
      store(context, host_);
      if (!only_look_) load(context, *start_);
      return;
    }
    ending_.signal = signal;
    ending_.code = info->si_code;
    const bool access = signal == SIGSEGV || signal == SIGBUS;
    ending_.address = access ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
    store(context, ending_.frame);
    load(context, host_);
  }

  inline static const Frame* start_ = nullptr;
  inline static bool entering_ = false, only_look_ = false;
  inline static Frame host_;
  inline static Ending ending_;
  std::vector<char> stack_;
};

// An extended component of the processor's state that tests fill: where it stands in a frame.
struct Component {
  uint32_t bit, offset, bytes;
};
constexpr uint32_t kComponentsAt = 512;  // XSTATE_BV

// Upper halves, masks and the registers of AVX-512, as far as this processor has them.
inline const std::vector<Component>& components(const Frame& frame) {
  static const std::vector<Component> found = [&] {
    std::vector<Component> result;
    uint64_t enabled;
    std::memcpy(&enabled, frame.floats.data() + 472, 8);  // _fpx_sw_bytes::xstate_bv
    for (const uint32_t bit : {2u, 5u, 6u, 7u}) {
      uint32_t bytes, offset, c, d;
      if (!(enabled >> bit & 1) || !__get_cpuid_count(13, bit, &bytes, &offset, &c, &d)) continue;
      if (offset + bytes <= frame.float_bytes) result.push_back({bit, offset, bytes});
    }
    return result;
  }();
  return found;
}

// What may be compared: components in their initial state become zeros, and where the last x87
// instruction stood is left out.
inline std::vector<uint8_t> comparable_floats(const Frame& frame) {
  std::vector<uint8_t> bytes(frame.floats.begin(), frame.floats.begin() + 416);
  uint64_t present;
  std::memcpy(&present, frame.floats.data() + kComponentsAt, 8);
  const auto clear = [&](size_t at, size_t count) {
    std::fill_n(bytes.begin() + long(at), count, 0);
  };
  clear(5, 19);  // opcode, instruction and data pointers
  clear(28, 4);  // MXCSR_MASK
  if (!(present & 1)) {
    clear(0, 5);
    clear(32, 128);
    bytes[0] = 0x7f, bytes[1] = 0x03;
  }
  if (!(present & 2)) clear(160, 256);
  for (const Component& part : components(frame)) {
    const size_t at = bytes.size();
    const auto* from = frame.floats.data() + part.offset;
    bytes.insert(bytes.end(), from, from + part.bytes);
    if (!(present >> part.bit & 1)) clear(at, part.bytes);
  }
  return bytes;
}

}  // namespace dj::arch::test
