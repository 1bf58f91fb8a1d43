// SPDX-License-Identifier: Apache-2.0
// Losses: what hits did not do that they should have done, as a limit was reached or a process left
// the session. Each is told twice: once while the session runs, and with its number at the end.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/memory/told_words.h"

namespace dj {

struct LossInput {
  ToldWords words;
  const Program& program;
  const Plan& plan;
  const Layout& layout;  // whose arena is mapped
};

// "3 events lost: a ring is full (raise -D RINGBYTES)".
struct Loss {
  uint32_t kind = 0;  // its number in the order of losses()
  std::string code;
  uint64_t count = 0;
  std::string noun, rest;
};

// All that there have been, in a fixed order.
std::vector<Loss> losses(const LossInput& input);

// One warning for each, at the end.
void report_losses(const LossInput& input);

// LossWatch: tells each kind once while the session runs. A session that ends within 300 ms of the
// first loss has it told at the end alone.
class LossWatch {
 public:
  explicit LossWatch(const LossInput& input) : input_(input) {}
  // Called again and again; looks every 100 ms.
  void look();

 private:
  struct Seen {
    uint64_t first_ns;
    bool is_told;
  };
  LossInput input_;
  uint64_t next_ns_ = 0;
  std::map<uint32_t, Seen> seen_;  // by kind
};

}  // namespace dj
