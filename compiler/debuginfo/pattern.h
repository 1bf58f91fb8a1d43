// SPDX-License-Identifier: Apache-2.0
// FunctionPattern: the text inside func("..."), taken apart; NameMatcher: which symbols its name
// means.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/debuginfo/demangle.h"

namespace dj {

// Source lines first..last; `relative`: counted from the line that declares the function.
struct LineRange {
  uint32_t first = 1, last = UINT32_MAX;
  bool relative = false;
  bool has(uint32_t line) const { return line >= first && line <= last; }
  bool operator==(const LineRange&) const = default;
};

class NameMatcher;

// How the text of a name is taken.
enum class Spelling : uint8_t {
  Usual,
  // Every character stands for itself, and where parameters are given, what is not written behind
  // them (" const") is not there.
  Exact,
  // As gdb takes it where symbols say it otherwise: Fortran's names in any case and without the
  // underscore behind them, Ada's "pack.proc", instances of Rust's generic functions ("max<i32>").
  Foreign,
};

// [object!]name[@file[:line|:line-line|:*|+line]]. `object` and `file` may be empty; wildcards *
// and ? in all three names.
struct FunctionPattern {
  std::string object;
  std::string name;
  std::string file;
  std::optional<LineRange> line;
  bool nearest = false;  // .nearest: a line without code means the nearest that has some
  Spelling spelling = Spelling::Usual;
  NameMatcher matcher() const;
  bool is_wild() const;
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

// The same with all that tells it from other functions: "ns::Klass::method<int>(char*) const".
std::string whole_name(std::string_view symbol);

// NameMatcher: one name pattern, made once and asked for every symbol of a module. C symbols are
// compared as they are; C++ symbols are demangled only when they contain the pattern's literal
// part.
class NameMatcher {
 public:
  explicit NameMatcher(std::string name, Spelling spelling = Spelling::Usual);

  enum class Language : uint8_t { Any, Fortran, FortranOrAda };
  // Whether a symbol is meant, and what debug information must say of it for that to be so.
  struct Meaning {
    bool yes = false;
    // All of these namespaces around it are inline: "v2" of a::v2::f for "a::f".
    std::vector<std::string> if_inline;
    Language if_in = Language::Any;  // its unit is in that language
    bool if_called = false;          // is_called() by its name there
    bool sure() const { return yes && if_inline.empty() && if_in == Language::Any && !if_called; }
  };
  Meaning meaning(std::string_view symbol) const;  // as the symbol table has it, perhaps mangled
  Meaning meaning_of(const DemangledName& name) const;
  // Whatever debug information says.
  bool matches(std::string_view symbol) const { return meaning(symbol).sure(); }
  // Of a name as debug_name() gives it, of a function in that language.
  bool is_called(const std::string& debug_name, Language language) const;
  bool is_wild() const { return has_.wild; }
  bool is_foreign() const { return spelling_ == Spelling::Foreign; }
  // It has a dot: names that compilers make are meant, too.
  bool is_dotted() const { return has_.dotted; }
  // Spelled exactly, it may match other functions than now: "f(char*)" is a wildcard, too.
  bool may_be_exact() const;
  const std::string& pattern() const { return name_; }

 private:
  // The name by its components, and these together.
  struct Wanted {
    std::vector<std::string> parts;
    std::string text;
    std::string_view separator;
  };
  Wanted wanted_of(const DemangledName& split) const;
  Meaning foreign_meaning(std::string_view symbol) const;
  bool may_be_called(std::string_view symbol) const;
  std::vector<std::string> parts_of(const DemangledName& split) const;
  std::vector<std::string> dotted_parts_of(const DemangledName& split) const;
  bool same(std::string_view wanted, std::string_view part) const;
  bool same_scope(std::string_view wanted, std::string_view part) const;
  bool same_text(const Wanted& wanted, const std::vector<std::string>& parts) const;
  Meaning same_parts(const std::vector<std::string>& wanted,
                     const std::vector<std::string>& parts) const;
  bool may_leave_out(const std::string& part, Meaning& meaning) const;

  std::string name_;
  std::string literal_;            // a part of name_ that each matching mangled symbol must contain
  Wanted wanted_, dotted_wanted_;  // by "::" and by dots
  Spelling spelling_;
  std::shared_ptr<const NameMatcher> lower_;  // of a foreign one, in lower case
  // What the name has, by which each symbol is looked at quickly.
  struct Has {
    bool anchored = false;    // begins with "::": no other namespace is around it
    bool wild = false;        // has * or ?
    bool spelled = false;     // may be written in several ways
    bool parameters = false;  // has "(int)"
    bool qualifiers = false;  // has " const" behind them
    bool templates = false;   // has "<"
    bool instances = false;   // has "!(", as D's templates
    bool tags = false;        // has "[abi:"
    bool strings = false;     // has "std::string"
    bool anonymous = false;   // names the unnamed namespace
    bool dotted = false;      // has ".": asks for compiler-made names
  } has_;
};

}  // namespace dj
