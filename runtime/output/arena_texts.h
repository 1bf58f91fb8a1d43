// SPDX-License-Identifier: Apache-2.0
// ArenaTexts reads the texts of strings that words of globals and of elements refer to.
#pragma once
#include <cstdint>
#include <string>

#include "compiler/stages/layout.h"
#include "runtime/process/untrusted.h"

namespace dj {

class ArenaTexts {
 public:
  // words: how many texts the caller may read. All texts together have at most as many bytes as
  // that many of the longest that handlers make, plus some megabytes; further texts are "".
  ArenaTexts(const Layout& layout, uint64_t words);
  // Returns the text that a word refers to; "" if the word is no ArenaRef to where strings may be
  // (abi::str_at()). A text ends where the longest text of the session would end.
  std::string operator()(Untrusted<uint64_t> word);

 private:
  ArenaView arena_;
  abi::RefRange refs_;
  uint64_t longest_, left_;
};

}  // namespace dj
