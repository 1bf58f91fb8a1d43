// SPDX-License-Identifier: Apache-2.0
// Source: one script text with a name; Span: bytes of it. Everything a diagnostic points at.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dj {

// Span: bytes [begin, end) of source file number `file`. begin <= end <= file size.
// via: through which macro the text came: 1 + its index in Sources::expansions; 0: through none.
struct Span {
  uint32_t file = 0, begin = 0, end = 0;
  uint32_t via = 0;
};

// 1-based, columns in bytes.
struct LineCol {
  uint32_t line = 1, column = 1;
};

// One script text: "<command line>" for -e, a path otherwise. Owned by Sources.
struct Source {
  std::string name;
  std::string text;
  LineCol line_col(uint32_t offset) const;
  std::string_view line(uint32_t line_number) const;  // without its newline
};

// One use of a macro. The use itself may come from a macro again: a chain.
struct Expansion {
  Span use;
  std::string macro;  // without the '@'
};

// Sources: every text of this run; Span::file indexes it. Append only.
struct Sources {
  std::vector<Source> files;
  std::vector<Expansion> expansions;
  uint32_t add(std::string name, std::string text);
  std::string_view text(Span span) const;
  // From the begin of `first` to the end of `last`, which stands behind it; where the two come from
  // different texts, the uses of the macros that they come from.
  Span join(Span first, Span last) const;
};

}  // namespace dj
