// SPDX-License-Identifier: Apache-2.0
// ArenaTexts: the texts of strings that words of globals and of elements refer to.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/stages/layout.h"
#include "runtime/process/untrusted.h"

namespace dj {

class ArenaTexts {
 public:
  // words: how many texts the caller may read. All of them together have at most as many bytes as
  // that many of the longest that handlers make, and some megabytes; what comes then is "".
  ArenaTexts(const Layout& layout, uint64_t words);
  // A word that is no ArenaRef to where strings may be is "" (abi::str_at()). A text ends where the
  // longest text of the session would.
  std::string operator()(Untrusted<uint64_t> word);

 private:
  ArenaView arena_;
  abi::RefRange refs_;
  uint64_t longest_, left_;
};

}  // namespace dj
