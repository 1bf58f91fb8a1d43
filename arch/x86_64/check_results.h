// SPDX-License-Identifier: Apache-2.0
// CheckResults holds the answers that the checks of one module have given so far. Every check but
// check 7 depends on the module alone, so an answer holds as long as the file stays the same. It is
// plain data that can be kept on disk.
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

  // Returns the answer for a region with this address and probe address; null: the answer is not
  // here.
  const Region* find(const Region& asked) const;
  // Returns the answers for many regions; it is fast when they ascend.
  std::vector<const Region*> find_all(const std::vector<Region>& asked) const;
  // Adds answers, in any order. Of two answers to one question the older one stays.
  void add(std::vector<Answer> answers);
  std::span<const Answer> all() const { return answers_; }
  // Takes over answers that all() gave earlier. Returns false, and takes nothing, when they are not
  // sorted by question.
  bool restore(std::vector<Answer> answers);

 private:
  std::vector<Answer> answers_;  // sorted by question
};

struct CheckResults {
  std::array<Verdicts, 3> verdicts;  // by Guards
  std::optional<std::vector<Checker::Syscall>> syscalls;
  // What Checker::must_stay() looks at, set from the start; sorted, apart. A list that is neither
  // gives wrong answers, and nothing worse.
  std::vector<FunctionRange> unmovable;
  // A number that grows with every answer.
  size_t size() const;
};

// Whether the bytes that the answers speak of stand in this text: for each region that a jump may
// cover, its bytes, and that whole instructions end at its end and at its boundaries. Checks
// answers that were read from a file.
bool agrees(const CheckResults& known, const std::vector<TextRange>& text);
// Whether every number of the region is one that the checks could have given.
bool is_possible(const Region& region);

}  // namespace dj::arch
