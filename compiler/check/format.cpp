// SPDX-License-Identifier: Apache-2.0
// Splits printf formats: % [flags] [width] [.precision] [l|ll|h] letter.
#include "compiler/check/format.h"

#include <fmt/format.h>

namespace dj {
namespace {

constexpr std::string_view kFlags = "-+ #0";
constexpr std::string_view kIntLetters = "diuxXopcb";
constexpr std::string_view kDoubleLetters = "feEgGF";
constexpr std::string_view kUnbuiltLetters = "n";
constexpr std::string_view kEscaped = "\n\t\"\\\r\a\b\f\v";
constexpr size_t kMaxWidth = 4096;

// How long the text is as a literal if every character that has a two-byte escape is written so.
// When that is the literal's length, no other escape and no glued literal is in it.
size_t spelled_bytes(std::string_view text) {
  size_t bytes = text.size();
  for (char c : text) bytes += kEscaped.find(c) != std::string_view::npos ? 1 : 0;
  return bytes;
}

struct Splitter {
  std::string_view format;
  Span literal;
  Diags& diags;
  SplitFormat result = {};
  size_t at = 0;

  // Where bytes [begin, end) of the value stand in the literal.
  Span span_of(size_t begin, size_t end) const {
    return inside_literal(format, literal, begin, end);
  }

  char peek() const { return at < format.size() ? format[at] : '\0'; }

  Diag& fail(size_t begin, size_t end, std::string_view code, std::string message) {
    result.ok = false;
    return diags.error(std::string(code), span_of(begin, end), std::move(message));
  }

  // Digits or '*'; false: a number beyond reason.
  bool number(size_t begin, std::vector<Conversion>& stars) {
    if (peek() == '*') {
      ++at;
      stars.push_back({Type::Int, {}, "", true});
      return true;
    }
    size_t value = 0;
    while (peek() >= '0' && peek() <= '9') {
      value = value * 10 + static_cast<size_t>(format[at++] - '0');
      if (value > kMaxWidth) {
        while (peek() >= '0' && peek() <= '9') ++at;
        fail(begin, at, "DJ2202", fmt::format("width or precision beyond {}", kMaxWidth));
        return false;
      }
    }
    return true;
  }

  void unknown_letter(size_t begin) {
    char letter = peek();
    if (letter == '\0') {
      Diag& diag = fail(begin, at, "DJ2202", "the format ends inside a conversion");
      diag.help = "write %% to print a percent sign";
      return;
    }
    ++at;
    std::string_view text = format.substr(begin, at - begin);
    if (kUnbuiltLetters.find(letter) != std::string_view::npos) {
      fail(begin, at, "DJ2009", fmt::format("the conversion `{}` is not built yet", text));
      return;
    }
    Diag& diag = fail(begin, at, "DJ2202", fmt::format("unknown conversion `{}`", text));
    diag.notes.push_back("conversions: %d %i %u %x %X %o %p %c %b %s %m %M %f %e %g %%");
  }

  // %4b: the width says how many bytes.
  bool whole_bytes(size_t begin, std::string_view kept) {
    for (std::string_view good : {"%", "%1", "%2", "%4", "%8"}) {
      if (kept == good) return true;
    }
    ++at;
    fail(begin, at, "DJ2202", "`%b` takes a width of 1, 2, 4 or 8 bytes and nothing else");
    return false;
  }

  // %10.4m: 4 bytes of memory at an address, in a field of 10.
  void memory(size_t begin, size_t width_end, std::vector<Conversion> stars) {
    const std::string_view precision = format.substr(width_end, at - width_end);
    Conversion made{Type::Int, {}, "", false};
    made.memory = format[at++];
    made.star_bytes = precision == ".*";
    if (!made.star_bytes && precision.size() > 1)
      made.bytes = std::stoll(std::string(precision.substr(1)));
    made.text = format.substr(begin, at - begin);
    made.span = span_of(begin, at);
    result.text += format.substr(begin, width_end - begin);
    result.text += 's';
    for (Conversion& star : stars) {
      star.span = made.span;
      star.text = made.text;
      result.conversions.push_back(star);
    }
    result.conversions.push_back(std::move(made));
  }

  void conversion() {
    size_t begin = at++;
    if (peek() == '%') {
      ++at;
      result.text += "%%";
      return;
    }
    std::vector<Conversion> stars;
    while (peek() != '\0' && kFlags.find(peek()) != std::string_view::npos) ++at;
    if (!number(begin, stars)) return;
    const size_t width_end = at;
    if (peek() == '.') {
      ++at;
      if (!number(begin, stars)) return;
    }
    std::string kept(format.substr(begin, at - begin));
    while (peek() == 'l' || peek() == 'h') ++at;
    char letter = peek();
    const bool is_double = letter != '\0' && kDoubleLetters.find(letter) != std::string_view::npos;
    const bool is_int = letter != '\0' && kIntLetters.find(letter) != std::string_view::npos;
    if (letter == 'm' || letter == 'M') {
      memory(begin, width_end, std::move(stars));
      return;
    }
    if (letter == 'b' && !whole_bytes(begin, kept)) return;
    if (letter != 's' && !is_double && !is_int) {
      unknown_letter(begin);
      return;
    }
    ++at;
    result.text += kept + letter;
    std::string text(format.substr(begin, at - begin));
    Span span = span_of(begin, at);
    for (Conversion& star : stars) {
      star.span = span;
      star.text = text;
      result.conversions.push_back(star);
    }
    Type type = letter == 's' ? Type::Str : is_double ? Type::Double : Type::Int;
    result.conversions.push_back({type, span, text, false});
  }
};

}  // namespace

Span inside_literal(std::string_view text, Span literal, size_t begin, size_t end) {
  if (spelled_bytes(text) + 2 != literal.end - literal.begin) return literal;
  size_t base = literal.begin + 1;
  return {literal.file, static_cast<uint32_t>(base + spelled_bytes(text.substr(0, begin))),
          static_cast<uint32_t>(base + spelled_bytes(text.substr(0, end)))};
}

SplitFormat split_format(std::string_view format, Span literal, Diags& diags) {
  Splitter splitter{format, literal, diags};
  while (splitter.at < format.size()) {
    if (format[splitter.at] == '%') {
      splitter.conversion();
    } else {
      splitter.result.text += format[splitter.at++];
    }
  }
  return std::move(splitter.result);
}

std::string format_literal(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    escaped += c;
    if (c == '%') escaped += c;
  }
  return escaped;
}

}  // namespace dj
