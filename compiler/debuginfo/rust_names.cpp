// SPDX-License-Identifier: Apache-2.0
// Decodes what rustc writes for characters that C++ symbols cannot have, and drops the hash; its
// own mangling ("v0") is LLVM's to read.
#include "compiler/debuginfo/rust_names.h"

#include <llvm/Demangle/Demangle.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>

namespace dj {

namespace {

constexpr size_t kHashDigits = 16;

std::string utf8(uint32_t c) {
  const auto rest = [c](int shift) { return char(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {char(c)};
  if (c < 0x800) return {char(0xc0 | c >> 6), rest(0)};
  if (c < 0x10000) return {char(0xe0 | c >> 12), rest(6), rest(0)};
  return {char(0xf0 | c >> 18), rest(12), rest(6), rest(0)};
}

// "$LT$" or "$ufc$" at `at` of the text; its length and what it stands for. Empty: no such
// sequence.
std::string_view escape_at(std::string_view text, size_t at, std::string& stands_for) {
  static constexpr struct {
    std::string_view code;
    char text;
  } kCodes[] = {{"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'}, {"$LT$", '<'},
                {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','}};
  for (const auto& row : kCodes) {
    if (text.substr(at, row.code.size()) == row.code) {
      stands_for = row.text;
      return row.code;
    }
  }
  uint32_t value = 0;
  const char* digits = text.data() + at + 2;
  if (text.substr(at, 2) != "$u") return {};
  const auto [end, error] = std::from_chars(digits, text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != '$' || value > 0x10ffff)
    return {};
  stands_for = utf8(value);
  return text.substr(at, size_t(end + 1 - text.data()) - at);
}

std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    std::string stands_for;
    const bool begins = result.empty() || result.ends_with("::");
    if (text[i] == '_' && begins && i + 1 < text.size() && text[i + 1] == '$') {
      continue;  // components do not begin with '$'
    }
    const std::string_view code =
        text[i] == '$' ? escape_at(text, i, stands_for) : std::string_view();
    if (!code.empty()) {
      result += stands_for;
      i += code.size() - 1;
    } else if (text.substr(i, 2) == "..") {
      result += "::";
      i++;
    } else {
      result += text[i];
    }
  }
  return result;
}

// Where the bracket that opens at `open` is closed.
size_t closing(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); i++) {
    depth += text[i] == '<';
    depth -= text[i] == '>' && i > 0 && text[i - 1] != '-';
    if (depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

// "A" of "A as Trait" and of "impl Trait for A".
std::string_view type_in(std::string_view words) {
  const size_t as = words.find(" as ");
  if (as != std::string_view::npos) {
    return words.substr(0, as);
  }
  const size_t target = words.find(" for ");
  return words.starts_with("impl ") && target != std::string_view::npos ? words.substr(target + 5)
                                                                        : words;
}

// A whole component in brackets is an implementation: its type stands for the path so far.
std::string with_types_for_implementations(std::string text) {
  for (size_t open = text.find('<'); open != std::string::npos; open = text.find('<', open + 1)) {
    const size_t close = closing(text, open);
    const bool whole = open == 0 || (open >= 2 && text.compare(open - 2, 2, "::") == 0);
    if (close == std::string::npos) {
      break;
    }
    if (whole && text.compare(close + 1, 2, "::") == 0) {
      const std::string type(type_in(std::string_view(text).substr(open + 1, close - open - 1)));
      return type + text.substr(close + 1);
    }
  }
  return text;
}

}  // namespace

std::string with_short_arguments(std::string text) {
  for (size_t open = text.find("::<"); open != std::string::npos; open = text.find("::<", open))
    text.erase(open, 2);
  return text;
}

bool has_rust_hash(std::string_view text) {
  const size_t mark = text.rfind("::h");
  if (mark == std::string_view::npos || text.size() != mark + 3 + kHashDigits) {
    return false;
  }
  return text.find_first_not_of("0123456789abcdef", mark + 3) == std::string_view::npos;
}

bool is_rust_v0(std::string_view symbol) { return symbol.starts_with("_R"); }

std::string demangle_rust_v0(std::string_view symbol) {
  char* text = llvm::rustDemangle(symbol);
  std::string result = text ? text : "";
  std::free(text);
  return with_short_arguments(with_types_for_implementations(std::move(result)));
}

std::string without_rust_hash(std::string demangled) {
  if (!has_rust_hash(demangled)) return demangled;
  return with_types_for_implementations(
      decoded(std::string_view(demangled).substr(0, demangled.rfind("::h"))));
}

}  // namespace dj
