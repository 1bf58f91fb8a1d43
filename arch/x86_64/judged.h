// Judged: what the checks of one module have said so far. All but check 7 depends on the module
// alone, so an answer holds for as long as the file does.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/x86_64/safety.h"

namespace dj::arch {

class Judged {
 public:
  struct Answer {
    Region asked;   // as check() got it
    Region answer;  // before check 7
  };

  // The answer for a region asked with this address and pivot; null: not asked yet.
  const Region* find(const Region& asked) const;
  // Adds answers, in any order; of two for the same question the older one stays.
  void add(std::vector<Answer> answers);
  std::span<const Answer> all() const { return answers_; }

 private:
  std::vector<Answer> answers_;  // sorted by question
};

}  // namespace dj::arch
