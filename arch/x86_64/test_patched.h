// SPDX-License-Identifier: Apache-2.0
// For tests: a jump written into running code; traps at its guards go on as the agent sends them.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <bit>
#include <map>
#include <span>
#include <vector>

#include "arch/x86_64/detour.h"
#include "arch/x86_64/placement.h"
#include "arch/x86_64/test_machine.h"

namespace dj::arch::test {

// The SIGTRAP handler, as long as it lives.
class GuardTraps {
 public:
  GuardTraps() : stack_(SIGSTKSZ * 4) {
    stack_t alternate = {stack_.data(), 0, stack_.size()};
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGTRAP, &action, &before_);
  }
  ~GuardTraps() {
    sigaction(SIGTRAP, &before_, nullptr);
    stack_t none = {nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
  }
  static inline std::map<uint64_t, uint64_t> copies;  // address of a guard -> its copy
  static inline int count = 0;

 private:
  static void on_trap(int, siginfo_t*, void* context) {
    greg_t& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    const auto copy = copies.find(uint64_t(rip) - 1);
    if (copy == copies.end()) abort();
    rip = greg_t(copy->second);
    count++;
  }
  std::vector<uint8_t> stack_;
  struct sigaction before_ = {};
};

// One jump in the code at `region`, in memory of its own for the detour at `target`; put back at
// the end.
class Patched {
 public:
  Patched(Memory& code, const Region& region, const Placement& form, uint64_t target)
      : code_(code), area_(0x3000, (target & ~uint64_t(0xfff)) - 0x1000) {
    DetourRequest request;
    const std::vector<uint8_t> displaced(code.at(region.address),
                                         code.at(region.address) + form.length);
    request.region = displaced;
    request.original = region.address;
    request.guards = form.guards;
    const auto detour = build_detour(request, target);
    EXPECT_TRUE(detour.ok());
    if (!detour.ok()) return;
    area_.put(target, detour.value().bytes);
    GuardTraps::copies.clear();
    for (const auto& [offset, copy] : detour.value().copies) {
      if (form.guards >> offset & 1) GuardTraps::copies[region.address + offset] = target + copy;
    }
    EXPECT_EQ(GuardTraps::copies.size(), size_t(std::popcount(form.guards)));
    const JumpBytes bytes = jump_bytes(region, form, target);
    const uint8_t* from = code.at(region.address);
    address_ = region.address;
    before_.assign(from, from + bytes.size());
    code.put(address_, bytes);
  }
  ~Patched() { code_.put(address_, before_); }
  Patched(const Patched&) = delete;

 private:
  Memory& code_;
  Memory area_;
  uint64_t address_ = 0;
  std::vector<uint8_t> before_;
};

}  // namespace dj::arch::test
