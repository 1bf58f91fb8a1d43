// SPDX-License-Identifier: Apache-2.0
// Takes function patterns apart; wildcards; the suffixes that compilers put behind symbols.
#include "compiler/debuginfo/pattern.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/dlang_names.h"

namespace dj {

namespace {

// Suffixes of whole-function copies, and of parts of functions.
constexpr std::string_view kCloneSuffixes[] = {".constprop.", ".isra."};
constexpr std::string_view kCopySuffixes[] = {
    ".constprop.", ".isra.", ".lto_priv.", ".llvm.",        ".localalias", ".clone.",
    ".resolver",   ".cfi",   ".__uniq.",   ".specialized.", ".memprof."};
// gcc's and clang's .cold; BOLT's .warm, and .cold.1 where it makes several.
constexpr std::string_view kSplitOffSuffixes[] = {".cold", ".warm"};
constexpr std::string_view kPartSuffixes[] = {".cold", ".warm", ".part.", ".cfi_jt"};

bool contains_any(std::string_view text, std::span<const std::string_view> parts) {
  for (std::string_view part : parts) {
    if (text.find(part) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// The whole text as a number.
std::optional<uint32_t> number_of(std::string_view text) {
  uint32_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                   : std::nullopt;
}

// Where the lines begin in "file:lines" or "file+line"; a file's own name may hold '+'.
size_t line_mark(std::string_view place) {
  const size_t colon = place.rfind(':');
  const size_t plus = place.rfind('+');
  const bool relative = colon == std::string_view::npos && plus != std::string_view::npos &&
                        number_of(place.substr(plus + 1));
  return relative ? plus : colon;
}

std::optional<LineRange> relative_line(std::string_view text) {
  const std::optional<uint32_t> line = number_of(text);
  return line ? std::optional(LineRange{*line, *line, true}) : std::nullopt;
}

std::optional<LineRange> absolute_lines(std::string_view text) {
  if (text == "*") {
    return LineRange{};
  }
  const size_t dash = text.find('-');
  const std::optional<uint32_t> first = number_of(text.substr(0, dash));
  const std::optional<uint32_t> last =
      dash == std::string_view::npos ? first : number_of(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first) {
    return std::nullopt;
  }
  return LineRange{*first, *last};
}

// A '!' that ends no object's name: in operator!=, in D's max!(int), and within brackets, as in
// [!0-9] and Rust's f<(), !>.
bool belongs_to_name(std::string_view text, size_t bang) {
  const std::string_view before = text.substr(0, bang);
  const auto open = [&](std::string_view brackets) {
    return std::count(before.begin(), before.end(), brackets[0]) >
           std::count(before.begin(), before.end(), brackets[1]);
  };
  return before.ends_with("operator") || open("[]") || open("<>") || open("()") ||
         text.substr(bang + 1).starts_with('(');
}

}  // namespace

Result<FunctionPattern> parse_function_pattern(std::string_view text) {
  FunctionPattern pattern;
  size_t bang = text.find('!');
  while (bang != std::string_view::npos && belongs_to_name(text, bang)) {
    bang = text.find('!', bang + 1);
  }
  if (bang != std::string_view::npos) {
    pattern.object = text.substr(0, bang);
    text.remove_prefix(bang + 1);
    if (pattern.object.empty()) {
      return Error{"nothing stands before '!': write \"object!function\""};
    }
  }
  const size_t at = text.find('@');
  pattern.name = text.substr(0, at);
  if (pattern.name.empty()) {
    return Error{"the function's name is empty"};
  }
  if (at == std::string_view::npos) {
    return pattern;
  }
  std::string_view place = text.substr(at + 1);
  const size_t mark = line_mark(place);
  pattern.file = place.substr(0, mark);
  if (pattern.file.empty()) {
    return Error{"a source file is expected behind '@'"};
  }
  if (mark != std::string_view::npos) {
    pattern.line = place[mark] == '+' ? relative_line(place.substr(mark + 1))
                                      : absolute_lines(place.substr(mark + 1));
    if (!pattern.line) {
      return Error{
          "a line is expected behind ':': a number, a range like 10-20, several like 12,14-20, or "
          "*"};
    }
  }
  return pattern;
}

namespace {

// Length of the set that begins with the '[' before `text`, brackets included; 0: it is none, as in
// operator[] and [T; 3].
size_t set_length(std::string_view text) {
  constexpr std::string_view kMembers =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-!^";
  if (!text.starts_with('[')) return 0;
  const size_t end = text.find_first_not_of(kMembers, 1);
  return end != std::string_view::npos && end > 1 && text[end] == ']' ? end + 1 : 0;
}

// set: "[a-e_]", "[!0-9]".
bool set_holds(std::string_view set, char c) {
  set = set.substr(1, set.size() - 2);
  const bool outside = set.size() > 1 && (set.front() == '!' || set.front() == '^');
  set.remove_prefix(outside ? 1 : 0);
  bool found = false;
  for (size_t i = 0; i < set.size(); i++) {
    const bool range = i + 2 < set.size() && set[i + 1] == '-';
    found = found || (range ? set[i] <= c && c <= set[i + 2] : set[i] == c);
    i += range ? 2 : 0;
  }
  return found != outside;
}

// How much of the pattern, which is no '*', stands for the character; 0: it does not. A '[' of the
// text is what a '[' of the pattern means, for names like operator[] and <[T]>::len.
size_t meets(std::string_view pattern, char c) {
  if (pattern.empty()) return 0;
  if (pattern.front() == '?' || pattern.front() == c) return 1;
  const size_t set = set_length(pattern);
  return set != 0 && set_holds(pattern.substr(0, set), c) ? set : 0;
}

}  // namespace

bool has_wildcard(std::string_view text) {
  if (text.size() > 2 && text.ends_with('"')) {  // Ada's operator "*"
    text = text.substr(0, text.rfind('"', text.size() - 2));
  }
  if (text.find_first_of("*?") != std::string_view::npos) return true;
  const size_t open = text.find('[');
  return open != std::string_view::npos && set_length(text.substr(open)) != 0;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      if (p + 1 == pattern.size()) {
        return true;
      }
      star = p++;
      resume = t;
    } else if (const size_t used = meets(pattern.substr(p), text[t])) {
      p += used;
      t++;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    p++;
  }
  return p == pattern.size();
}

bool path_matches(std::string_view pattern, std::string_view path) {
  while (pattern.starts_with("./")) {
    pattern.remove_prefix(2);
  }
  if (glob_match(pattern, path)) {
    return true;
  }
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (glob_match(pattern, path.substr(slash + 1))) {
      return true;
    }
  }
  return false;
}

namespace {

// Of several local functions of one name, and of nested ones: f.3. Go's names have more dots.
std::string_view without_number(std::string_view symbol) {
  const size_t dot = symbol.find('.');
  const bool numbered = dot != 0 && dot + 1 < symbol.size() &&
                        symbol.find_first_not_of("0123456789", dot + 1) == std::string_view::npos;
  return dot != std::string_view::npos && numbered ? symbol.substr(0, dot) : symbol;
}

}  // namespace

std::string_view plain_symbol(std::string_view symbol) {
  symbol = symbol.substr(0, symbol.find('@'));
  if (symbol.find('.') == std::string_view::npos) {
    return symbol;
  }
  for (std::string_view suffix : kCopySuffixes) {
    symbol = symbol.substr(0, symbol.find(suffix));
  }
  return without_number(symbol);
}

bool is_fragment(std::string_view symbol) {
  return symbol.find('.') != std::string_view::npos && contains_any(symbol, kPartSuffixes);
}

std::string_view whole_of(std::string_view symbol) {
  for (std::string_view suffix : kSplitOffSuffixes) {
    const size_t at = symbol.rfind(suffix);
    if (at == std::string_view::npos) continue;
    const std::string_view behind = symbol.substr(at + suffix.size());
    const bool numbered = behind.starts_with('.') &&
                          behind.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (behind.empty() || numbered) return symbol.substr(0, at);
  }
  return {};
}

bool is_clone(std::string_view symbol) { return contains_any(symbol, kCloneSuffixes); }

bool may_return_less(std::string_view symbol) {
  return symbol.find(".isra.") != std::string_view::npos;
}

std::string person_name(std::string_view symbol) {
  const std::string_view plain = plain_symbol(symbol);
  const DemangledName split = split_symbol(plain);
  if (split.dotted) return without_instances(split.name);
  return split.name.empty() ? std::string(plain) : without_templates(without_tags(split.name));
}

std::string whole_name(std::string_view symbol) {
  const std::string_view plain = plain_symbol(symbol);
  const DemangledName split = split_symbol(plain);
  return split.name.empty() ? std::string(plain) : split.name + split.parameters + split.qualifiers;
}

}  // namespace dj
