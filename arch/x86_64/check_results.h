// SPDX-License-Identifier: Apache-2.0
// CheckResults: what the checks of one module have said so far. All but check 7 depends on the
// module alone, so an answer holds for as long as the file does. Plain data, fit to be kept on
// disk.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/x86_64/safety.h"

namespace dj::arch {

class Verdicts {
 public:
  struct Answer {
    uint64_t address = 0, probe_address = 0;  // the question: a region as check() got it
    Region region;                            // before check 7
  };

  // The answer for a region asked with this address and probe address; null: not asked yet.
  const Region* find(const Region& asked) const;
  // The same for many, fast where they ascend.
  std::vector<const Region*> find_all(const std::vector<Region>& asked) const;
  // Adds answers, in any order; of two for the same question the older one stays.
  void add(std::vector<Answer> answers);
  std::span<const Answer> all() const { return answers_; }
  // Takes what all() once gave; false: these are not sorted by question, nothing is taken.
  bool restore(std::vector<Answer> answers);

 private:
  std::vector<Answer> answers_;  // sorted by question
};

struct CheckResults {
  std::array<Verdicts, 3> verdicts;  // by Guards
  std::optional<std::vector<Checker::Syscall>> syscalls;
  std::vector<FunctionRange> rseq_sections;  // the module's; known from the beginning
  // Grows with every answer.
  size_t size() const;
};

// Does what the answers say of bytes stand in this text? Of each region that a jump may be put
// over: its bytes, and that whole instructions end where it ends and where its boundaries are. For
// answers that come from a file.
bool agrees(const CheckResults& known, const std::vector<TextRange>& text);
// Is every number of the region one that the checks could have given?
bool is_possible(const Region& region);

}  // namespace dj::arch
