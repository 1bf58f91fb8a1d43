// FunctionPattern: the text inside func("..."), taken apart; NameMatcher: which symbols its name
// means.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/base/result.h"

namespace dj {

// Source lines first..last; `relative`: counted from the line that declares the function.
struct LineRange {
  uint32_t first = 1, last = UINT32_MAX;
  bool relative = false;
  bool has(uint32_t line) const { return line >= first && line <= last; }
  bool operator==(const LineRange&) const = default;
};

// [object!]name[@file[:line|:line-line|:*|+line]]. `object` and `file` may be empty; wildcards *
// and ? in all three names.
struct FunctionPattern {
  std::string object;
  std::string name;
  std::string file;
  std::optional<LineRange> line;
  bool nearest = false;  // .nearest: a line without code means the nearest that has some
};
// An error says what is wrong with the text, for the script's author.
Result<FunctionPattern> parse_function_pattern(std::string_view text);

bool has_wildcard(std::string_view text);  // it has *, ? or a set, [a-e]
// '*' matches any text, '?' one character.
bool glob_match(std::string_view pattern, std::string_view text);
// `pattern` is the path itself or its last components ("t.c" and "src/t.c" match
// "/home/a/src/t.c").
bool path_matches(std::string_view pattern, std::string_view path);

// A symbol's name without its version ("memcpy@@GLIBC_2.14") and without the suffixes of
// compiler-made copies of a whole function (.constprop.0, .isra.0, .lto_priv.0, .llvm.123, .cfi)
// and of local functions of one name (.0).
std::string_view plain_symbol(std::string_view symbol);
// A part of a function that is not entered by calls (f.cold, f.part.0).
bool is_fragment(std::string_view symbol);
// Of a part that was split off without becoming a function (f.cold, f.cold.1, f.warm), the
// function's name; empty: it is none.
std::string_view whole_of(std::string_view symbol);
// A compiler-made copy whose parameters may differ from the source's.
bool is_clone(std::string_view symbol);
// A copy that gcc has made for callers that may use less of the result, or none.
bool may_return_less(std::string_view symbol);

// What a person calls the symbol: "ns::Klass::method" for C++ (no parameters), the symbol itself
// for C.
std::string person_name(std::string_view symbol);

// NameMatcher: one name pattern, made once and asked for every symbol of a module. C symbols are
// compared as they are; C++ symbols are demangled only when they contain the pattern's literal
// part.
class NameMatcher {
 public:
  explicit NameMatcher(std::string name);
  bool matches(std::string_view symbol) const;  // as the symbol table has it, perhaps mangled
  bool is_wild() const { return wild_; }
  // It has a dot: names that compilers make are meant, too.
  bool is_dotted() const { return dotted_; }
  const std::string& pattern() const { return name_; }

 private:
  bool matches_demangled(std::string_view symbol) const;

  std::string name_;
  std::string literal_;      // a part of name_ that each matching mangled symbol must contain
  bool wild_ = false;        // has * or ?
  bool qualified_ = false;   // has "::"
  bool parameters_ = false;  // has "(int)"
  bool qualifiers_ = false;  // has " const" behind them
  bool templates_ = false;   // has "<"
  bool dotted_ = false;      // has ".": asks for compiler-made names
};

}  // namespace dj
