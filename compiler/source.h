// Source: one script text with a name; Span: bytes of it. Everything a diagnostic points at.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dj {

// Span: bytes [begin, end) of source file number `file`. begin <= end <= file size.
struct Span {
  uint32_t file = 0, begin = 0, end = 0;
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

// Sources: every text of this run; Span::file indexes it. Append only.
struct Sources {
  std::vector<Source> files;
  uint32_t add(std::string name, std::string text);
  std::string_view text(Span span) const;
};

}  // namespace dj
