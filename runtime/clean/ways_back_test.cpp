// SPDX-License-Identifier: Apache-2.0
// A program whose rcx points into code that it is not in.
#include "runtime/clean/ways_back.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;

// The program prints where its page is, and spins. rcx holds what a system call on that page has
// left in it, or another address of the page.
constexpr char kSpins[] = R"(
#include <stdio.h>
__asm__(".pushsection .text; .balign 4096\n"
        "ask: mov $39,%eax; syscall; ret\n"
        ".balign 4096; .popsection");
extern char ask[];
int main(int count, char** words) {
  printf("%lx\n", (unsigned long)ask);
  fflush(stdout);
  if (count > 1) __asm__ volatile("call ask; 1: pause; jmp 1b" ::: "rax", "rcx", "r11", "memory");
  __asm__ volatile("lea ask+5(%%rip),%%rcx; 1: pause; jmp 1b" ::: "rcx", "memory");
  return words != 0;
}
)";

// Whether find_ways_back() says that the spinning program may come back to its page.
bool may_come_back(const std::vector<std::string>& words) {
  Victim victim(words);
  const uint64_t page = std::stoull(victim.line(), nullptr, 16);
  for (int i = 0; i < 1000; ++i) {
    const Stopped stopped = Stopped::stop(victim.pid()).take();
    const user_regs_struct regs = stopped.registers(victim.pid()).value();
    if (regs.rcx / kPage == page / kPage && regs.rip / kPage != page / kPage) {
      const std::vector<AddressRange> code = {{page, page + kPage}};
      return find_ways_back(stopped, code, {}).value().used.front();
    }
    usleep(1000);
  }
  ADD_FAILURE() << "it does not spin";
  return false;
}

TEST(WaysBack, WhatASystemCallLeavesInRcxIsNone) {
  const std::string victim = compile_victim(kSpins);
  EXPECT_FALSE(may_come_back({victim, "by a system call"}));
  EXPECT_TRUE(may_come_back({victim}));
}

}  // namespace
}  // namespace dj
