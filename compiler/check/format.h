// SPDX-License-Identifier: Apache-2.0
// printf formats: the literal taken apart and checked on its own, before the arguments are looked
// at.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diag.h"
#include "compiler/stages/program.h"

namespace dj {

// One argument a format takes: that of a conversion, or the '*' of its width or precision.
struct Conversion {
  Type type = Type::Int;
  Span span;         // of the whole conversion in the script
  std::string text;  // "%-8s"; for a '*' "the `*` of ..." is said
  bool star = false;
  // %m and %M: the argument is the address of `bytes` bytes of memory, with star_bytes of as many
  // as the argument before it says. The runtime formatter takes their text, as of %s.
  char memory = 0;  // the letter
  int64_t bytes = 1;
  bool star_bytes = false;
};

struct SplitFormat {
  std::string text;  // length modifiers dropped, as the runtime formatter takes it
  std::vector<Conversion> conversions;  // in the order of the arguments
  bool ok = true;                       // false: reported
};

// Where bytes [begin, end) of a string stand in its literal; the whole literal where that cannot be
// known (see split_format).
Span inside_literal(std::string_view text, Span literal, size_t begin, size_t end);

// `literal`: where the string stands, quotes included. One with numeric escapes or glued from
// several tokens is pointed at as a whole.
SplitFormat split_format(std::string_view format, Span literal, Diags& diags);

// Literal text as part of a format: every '%' doubled.
std::string format_literal(std::string_view text);

}  // namespace dj
