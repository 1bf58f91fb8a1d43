// SPDX-License-Identifier: Apache-2.0
// Parts: which of a module's function symbols name no function but a part of another one.
//
// Compilers and BOLT cut functions up and give each part a symbol of type FUNC and a frame
// description of its own. A part is entered by jumps in the middle of a frame, with values in any
// register and in the flags.
#pragma once
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/debuginfo/symbols.h"

namespace dj {

class Parts {
 public:
  // Both must outlive this object.
  Parts(const ObjectFile& elf, const SymbolTable& symbols) : elf_(elf), symbols_(symbols) {}

  // Whether the function [begin, end) named `symbol` is a part:
  //   its name says so (f.cold, f.warm.2), or
  //   it is called f.something, and it and a function f jump into each other's middle, or f's
  //   conditional jumps lead to it (copies that compilers make, f.constprop.0, are functions), or
  //   its unwind information begins with another CFA than a function's, rsp + 8.
  bool has(uint64_t begin, uint64_t end, std::string_view symbol);
  // The name of the function that it was cut from; empty: its name does not say.
  std::string_view whole(uint64_t begin, uint64_t end, std::string_view symbol);

 private:
  struct Code {
    uint64_t begin = 0, end = 0;
  };
  const Code* named(std::string_view name);
  bool begins_in_frame(uint64_t address);

  const ObjectFile& elf_;
  const SymbolTable& symbols_;
  std::optional<std::unordered_map<std::string_view, Code>> by_name_;  // made when first needed
  size_t frames_asked_ = 0;
  std::vector<uint64_t> in_frame_;  // all code that begins so, sorted; read when much was asked
};

}  // namespace dj
