// Boost.Context's fibers on stacks of 4 KiB, which lie one behind the other and are painted: how
// far below a leaf's stack pointer does somebody else write, and are the fibers' own values right?
#include <boost/context/fiber.hpp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "facts.h"

namespace context = boost::context;

constexpr int kFibers = 64, kRounds = 50;
constexpr std::size_t kStack = 4096;
constexpr char kPaint = 0x5a;
static char* stacks;
static int next_stack;
static char* lowest[kFibers];  // of each fiber's leaf
static int current;

struct Neighbours {
  context::stack_context allocate() {
    context::stack_context stack;
    stack.size = kStack;
    stack.sp = stacks + kStack * static_cast<std::size_t>(++next_stack);
    return stack;
  }
  void deallocate(context::stack_context&) {}
};

extern "C" NOINLINE long leaf(long n) {
  __asm__ volatile("movq %%rsp, %0" : "=m"(lowest[current]));
  return n * 3;
}

int main() {
  stacks = static_cast<char*>(std::aligned_alloc(kStack, kStack * kFibers));
  std::memset(stacks, kPaint, kStack * kFibers);
  long wrong = 0, deepest = 0, calls = 0;
  std::vector<context::fiber> fibers;
  for (int i = 0; i < kFibers; i++) {
    fibers.emplace_back(std::allocator_arg, Neighbours(), [&](context::fiber&& home) {
      for (long n = 0; n < kRounds; n++) {
        if (leaf(n + current) != 3 * (n + current)) wrong++;
        calls++;
        home = std::move(home).resume();
      }
      return std::move(home);
    });
  }
  for (int round = 0; round <= kRounds; round++) {
    for (current = 0; current < kFibers; current++)
      fibers[static_cast<std::size_t>(current)] =
          std::move(fibers[static_cast<std::size_t>(current)]).resume();
  }
  for (int i = 0; i < kFibers; i++) {
    const char* at = stacks + kStack * static_cast<std::size_t>(i);
    while (*at == kPaint) at++;
    if (lowest[i] - at > deepest) deepest = lowest[i] - at;
  }
  fact("deepest", deepest);
  fact("wrong", wrong);
  fact("calls", calls);
  return wrong == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
