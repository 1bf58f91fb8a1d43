// SPDX-License-Identifier: Apache-2.0
// ClosureNames: lambdas that clang numbers ("main::$_0") by the names that the C++ ABI gives them.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/debuginfo/symbols.h"

namespace dj {

constexpr std::string_view kClosure = "{lambda(";

class ClosureNames {
 public:
  // All functions of one module.
  explicit ClosureNames(const std::vector<Symbol>& functions);
  // "main::{lambda(int)#1}::operator()(int) const" of the symbol of main::$_0::operator()(int)
  // const; empty: it is no such function.
  std::string name_of(std::string_view symbol) const;

 private:
  std::unordered_map<std::string, std::string> names_;  // "main::$_0": "main::{lambda(int)#1}"
};

}  // namespace dj
