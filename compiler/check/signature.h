// SPDX-License-Identifier: Apache-2.0
// Signature: the "int(str,int?)" of a row in stdlib/builtins.def, taken apart.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

struct Signature {
  Type result = Type::Void;
  std::vector<Type> params;
  size_t required = 0;  // params from here on may be left out (0 then)
};

Signature parse_signature(std::string_view text);

// The prototype as a person reads it: "substr(string, number, number)".
std::string prototype(std::string_view name, const Signature& signature);

// "a number", "a string", "an aggregate".
std::string_view type_words(Type type);

}  // namespace dj
