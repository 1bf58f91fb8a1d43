// SPDX-License-Identifier: Apache-2.0
// Source: from byte offsets to lines and columns, and back to the line's text.
#include "compiler/diag/source.h"

#include <algorithm>

namespace dj {

LineCol Source::line_col(uint32_t offset) const {
  size_t end = std::min<size_t>(offset, text.size());
  LineCol at;
  size_t line_begin = 0;
  for (size_t newline = text.find('\n'); newline < end; newline = text.find('\n', line_begin)) {
    line_begin = newline + 1;
    at.line++;
  }
  at.column = static_cast<uint32_t>(end - line_begin) + 1;
  return at;
}

std::string_view Source::line(uint32_t line_number) const {
  std::string_view rest = text;
  for (uint32_t i = 1; i < line_number; ++i) {
    size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) {
      return {};
    }
    rest.remove_prefix(newline + 1);
  }
  std::string_view found = rest.substr(0, rest.find('\n'));
  if (found.ends_with('\r')) {
    found.remove_suffix(1);
  }
  return found;
}

uint32_t Sources::add(std::string name, std::string text) {
  files.push_back(Source{std::move(name), std::move(text)});
  return static_cast<uint32_t>(files.size() - 1);
}

Span Sources::join(Span first, Span last) const {
  // The later expansion lies inside of the earlier one, if they have to do with each other.
  while (first.via != last.via) {
    Span& inner = first.via > last.via ? first : last;
    inner = expansions.at(inner.via - 1).use;
  }
  bool one_text = first.file == last.file && first.begin <= last.end;
  return one_text ? Span{first.file, first.begin, last.end, first.via} : first;
}

std::string_view Sources::text(Span span) const {
  std::string_view all = files.at(span.file).text;
  size_t begin = std::min<size_t>(span.begin, all.size());
  return all.substr(begin, span.end < begin ? 0 : span.end - begin);
}

}  // namespace dj
