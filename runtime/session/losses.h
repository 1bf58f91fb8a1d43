// SPDX-License-Identifier: Apache-2.0
// Losses are what hits should have done and did not do, because they reached a limit or a process
// left the session. djtap reports each twice: once while the session runs, and with its number at
// the end.
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

// Loss: "3 events lost: a ring is full (raise -D RINGBYTES)".
struct Loss {
  uint32_t kind = 0;  // its number in the order of losses()
  std::string code;
  uint64_t count = 0;
  std::string noun, rest;
};

// Returns all losses so far, in a fixed order.
std::vector<Loss> losses(const LossInput& input);

// Prints one warning for each. Call it at the end.
void report_losses(const LossInput& input);

// LossWatch: reports each kind once while the session runs. When the session ends within 300 ms of
// the first loss of a kind, only report_losses() reports it.
class LossWatch {
 public:
  explicit LossWatch(const LossInput& input) : input_(input) {}
  // Looks every 100 ms. Call it every loop iteration.
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
