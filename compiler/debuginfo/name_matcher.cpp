// SPDX-License-Identifier: Apache-2.0
// Compares what a person wrote with symbols, C++ names component by component.
#include <algorithm>
#include <span>

#include "compiler/debuginfo/ada_names.h"
#include "compiler/debuginfo/cxx_spelling.h"
#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/dlang_names.h"
#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/rust_names.h"

namespace dj {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kStdString = "std::string";
// Names that C++ symbols abbreviate: "Sa" is std::allocator.
constexpr std::string_view kAbbreviated[] = {"allocator",     "basic_string",   "string",
                                             "basic_istream", "basic_ostream",  "istream",
                                             "ostream",       "basic_iostream", "iostream"};
// Inline namespaces of the C++ libraries, which rarely have debug information.
constexpr std::string_view kLibraryNamespaces[] = {"__cxx11", "_V2", "__1", "__ndk1"};

// The longest run of identifier characters in the last component: C++ mangling keeps it as it is.
std::string literal_part(std::string_view name) {
  if (name.find('{') != std::string_view::npos) {  // "{lambda(int)#1}": no word of it is in symbols
    return {};
  }
  name = name.substr(0, name.find("!("));
  name = name.substr(0, name.find('('));
  name = name.substr(0, name.find('<'));
  if (name.find("operator") != std::string_view::npos) {
    return {};
  }
  const size_t colon = name.rfind("::");
  if (colon != std::string_view::npos) {
    name = name.substr(colon + 2);
  }
  name = name.substr(name.rfind(' ') + 1);  // "virtual thunk to f"
  std::string best, run;
  bool in_set = false;
  for (char c : name) {
    in_set = c == '[' || (in_set && c != ']');
    // Rust's symbols have what is no ASCII elsewhere.
    const bool encoded = static_cast<unsigned char>(c) >= 0x80;
    if (encoded || c == '.' || c == '*' || c == '?' || c == '~' || c == ']' || in_set) {
      run.clear();
    } else {
      run += c;
    }
    if (run.size() > best.size()) {
      best = run;
    }
  }
  return best;
}

// Where the bracket that closes at the end of the text opens.
size_t opening(std::string_view text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    depth += (text[i] == '>' && i > 0 && text[i - 1] != '-') - (text[i] == '<');
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_plain(std::string_view component) {
  return std::all_of(component.begin(), component.end(), is_identifier);
}

// "run" of "run(int) const", the function around a local entity.
std::string without_parameters(std::string_view component) {
  return component == kAnonymous ? std::string(component) : split_demangled(component).name;
}

std::string joined(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += text.empty() ? "" : separator;
    text += part;
  }
  return text;
}

}  // namespace

NameMatcher FunctionPattern::matcher() const { return NameMatcher(name, spelling); }
bool FunctionPattern::is_wild() const { return spelling != Spelling::Exact && has_wildcard(name); }

NameMatcher::NameMatcher(std::string name, Spelling spelling)
    : name_(std::move(name)), spelling_(spelling) {
  const bool exact = spelling == Spelling::Exact;
  has_.anchored = name_.starts_with("::") && name_.size() > 2;
  if (has_.anchored) name_.erase(0, 2);
  literal_ = literal_part(name_);
  if (is_one_of(literal_, kAbbreviated)) literal_.clear();
  has_.wild = !exact && has_wildcard(name_) && name_.find("operator*") == std::string::npos;
  has_.tags = name_.find("[abi:") != std::string::npos;
  has_.instances = name_.find("!(") != std::string::npos;
  has_.templates =
      name_.find('<') != std::string::npos && name_.find("operator<") == std::string::npos;
  has_.dotted = name_.find('.') != std::string::npos;
  has_.strings = name_.find(kStdString) != std::string::npos;
  has_.spelled = name_.find_first_of("(< ") != std::string::npos;
  has_.anonymous = name_.find(kAnonymous) != std::string::npos;
  const DemangledName split = split_demangled(name_);
  has_.parameters = !split.parameters.empty();
  has_.qualifiers = !split.qualifiers.empty() || (exact && has_.parameters);
  // What looks like the return type of a C++ function may be a part of a name of Rust.
  const size_t behind = split.parameters.size() + split.qualifiers.size();
  DemangledName whole = split;
  whole.name = name_.substr(0, name_.size() - behind);
  wanted_ = wanted_of(whole);
  whole.dotted = true;
  dotted_wanted_ = wanted_of(whole);
  if (spelling != Spelling::Foreign) return;
  lower_ = std::make_shared<NameMatcher>(in_lower_case(name_));
}

NameMatcher::Wanted NameMatcher::wanted_of(const DemangledName& split) const {
  Wanted wanted{parts_of(split), "", split.dotted ? "." : "::"};
  wanted.text = joined(wanted.parts, wanted.separator);
  return wanted;
}

bool NameMatcher::may_be_exact() const {
  const bool literally = name_.find_first_of("(<[{") != std::string::npos ||
                         name_.starts_with("*const ") || name_.starts_with("*mut ");
  return (has_.parameters && !has_.qualifiers) || (literally && has_wildcard(name_)) ||
         name_.find("operator*") != std::string::npos;
}

// The components, the last one with all of the parameters and qualifiers that the pattern has.
std::vector<std::string> NameMatcher::parts_of(const DemangledName& split) const {
  if (split.dotted) return dotted_parts_of(split);
  std::string name = has_.tags ? split.name : without_tags(split.name);
  if (has_.strings) name = one_spelling(name);
  if (!has_.templates) name = without_templates(name);
  std::vector<std::string> parts;
  for (std::string_view part :
       split.beside ? std::vector<std::string_view>{name} : components(name))
    parts.emplace_back(part);
  if (has_.parameters) parts.back() += split.parameters;
  if (has_.qualifiers) parts.back() += split.qualifiers;
  for (std::string& part : parts)
    if (has_.spelled && part != kAnonymous) part = one_spelling(part);
  return parts;
}

std::vector<std::string> NameMatcher::dotted_parts_of(const DemangledName& split) const {
  std::vector<std::string> parts =
      dlang_components(has_.instances ? split.name : without_instances(split.name));
  if (has_.parameters) parts.back() += split.parameters;
  if (has_.qualifiers) parts.back() += split.qualifiers;
  for (std::string& part : parts) part = dlang_spelling(part);
  return parts;
}

NameMatcher::Meaning NameMatcher::meaning(std::string_view symbol) const {
  // Most symbols are neither this name, with a version or suffix behind it, nor mangled.
  if (spelling_ == Spelling::Foreign) return foreign_meaning(symbol);
  if (!has_.wild && !symbol.starts_with('_') && !symbol.starts_with(name_)) return {};
  if (is_fragment(symbol) && !has_.dotted) return {};
  const std::string_view plain = plain_symbol(symbol);
  if (has_.wild ? glob_match(name_, plain) : name_ == plain) return {true, {}};
  if (has_.dotted && glob_match(name_, symbol)) return {true, {}};
  // Of a thunk's name, "virtual thunk to A::f", the first words are not in the symbol.
  const bool likely =
      plain.find(literal_) != std::string_view::npos || (has_.wild && plain.starts_with("_ZT"));
  return is_mangled(plain) && likely ? meaning_of(split_symbol(plain)) : Meaning{};
}

NameMatcher::Meaning NameMatcher::foreign_meaning(std::string_view symbol) const {
  const std::string_view plain = plain_symbol(symbol);
  if (has_.templates || name_.find('{') != std::string::npos)
    return {.yes = may_be_called(plain), .if_called = true};
  if (is_fortran(plain)) return lower_->meaning_of(split_symbol(plain));
  if (is_mangled(plain)) return {};
  Meaning meaning = lower_->meaning_of({ada_name(plain), "", "", false, true});
  if (!meaning.yes) return {.yes = true, .if_in = Language::Fortran, .if_called = true};
  if (!has_.dotted) meaning.if_in = Language::FortranOrAda;  // both have nested functions, inner.0
  return meaning;
}

// A function of Rust whose last component is the pattern's, or a closure if that is one.
bool NameMatcher::may_be_called(std::string_view symbol) const {
  if (!is_rust(symbol)) return false;
  const std::string pattern = without_templates(with_short_arguments(name_));
  const std::string wanted = pattern.substr(last_component(pattern));
  const std::string name = without_templates(split_symbol(symbol).name);
  const std::string_view last = std::string_view(name).substr(last_component(name));
  return wanted.starts_with("{closure") ? last.find("closure") != std::string_view::npos
                                        : same(wanted, last);
}

bool NameMatcher::is_called(const std::string& debug_name, Language language) const {
  if (language == Language::Fortran)
    return lower_ && lower_->meaning_of({in_lower_case(debug_name), "", ""}).sure();
  const NameMatcher as_there(with_short_arguments(name_),
                             has_.wild ? Spelling::Usual : Spelling::Exact);
  // A method also has the arguments of its type there: "Point<f32>::length<f32>".
  const size_t arguments = debug_name.ends_with('>') ? opening(debug_name) : std::string::npos;
  return as_there.meaning_of({debug_name, "", ""}).sure() ||
         as_there.meaning_of({debug_name.substr(0, arguments), "", ""}).sure();
}

NameMatcher::Meaning NameMatcher::meaning_of(const DemangledName& split) const {
  if (split.name.empty()) return {};
  const Wanted& wanted = split.dotted ? dotted_wanted_ : wanted_;
  const std::vector<std::string> parts = parts_of(split);
  // A virtual call may come to A::f by a thunk: func("A::f") is hit once by it.
  if (split.beside) return {same(wanted.text, parts.back()), {}};
  if (wanted.parts.size() == 1 && !has_.anchored) return {same(wanted.text, parts.back()), {}};
  return has_.wild && same_text(wanted, parts) ? Meaning{true, {}}
                                               : same_parts(wanted.parts, parts);
}

bool NameMatcher::same(std::string_view wanted, std::string_view part) const {
  return has_.wild ? glob_match(wanted, part) : wanted == part;
}

// The name of a function around a local entity; its parameters may be left out.
bool NameMatcher::same_scope(std::string_view wanted, std::string_view part) const {
  if (same(wanted, part)) return true;
  const std::string short_wanted = without_parameters(wanted);
  const std::string short_part = without_parameters(part);
  return (short_wanted == wanted || short_part == part) && same(short_wanted, short_part);
}

// A wildcard may stand for several components. "Klass::meth*" also means "ns::Klass::method".
bool NameMatcher::same_text(const Wanted& wanted, const std::vector<std::string>& parts) const {
  const std::span all(parts);
  for (size_t i = 0; i < (has_.anchored ? 1 : parts.size()); i++) {
    if (glob_match(wanted.text, joined(all.subspan(i), wanted.separator))) return true;
  }
  return false;
}

// From the last component to the first. "Klass::method" also means "ns::Klass::method"; an unnamed
// namespace may be left out, as in the source, and an inline one.
NameMatcher::Meaning NameMatcher::same_parts(const std::vector<std::string>& wanted,
                                             const std::vector<std::string>& parts) const {
  if (!same(wanted.back(), parts.back())) return {};
  Meaning meaning{true, {}};
  size_t at = parts.size() - 1;
  for (size_t i = wanted.size() - 1; i > 0; i--) {
    for (;; at--) {
      if (at == 0) return {};
      if (same_scope(wanted[i - 1], parts[at - 1])) break;
      if (!may_leave_out(parts[at - 1], meaning)) return {};
    }
    at--;
  }
  for (; has_.anchored && at > 0; at--)
    if (!may_leave_out(parts[at - 1], meaning)) return {};
  return meaning;
}

bool NameMatcher::may_leave_out(const std::string& part, Meaning& meaning) const {
  if (part == kAnonymous && !has_.anonymous) return true;
  if (!is_plain(part)) return false;
  const bool known = is_one_of(part, kLibraryNamespaces);
  if (!known) meaning.if_inline.push_back(part);
  return true;
}

}  // namespace dj
