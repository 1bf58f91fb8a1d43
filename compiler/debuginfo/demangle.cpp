// SPDX-License-Identifier: Apache-2.0
// Splits demangled C++ names. Brackets nest; operator names contain brackets that do not.
#include "compiler/debuginfo/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

#include "compiler/debuginfo/dlang_names.h"
#include "compiler/debuginfo/rust_names.h"

namespace dj {

constexpr std::string_view kOperator = "operator";

bool is_identifier(char c) {
  return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

size_t operator_length(std::string_view text, size_t at) {
  if (text.substr(at, kOperator.size()) != kOperator || (at > 0 && is_identifier(text[at - 1]))) {
    return 0;
  }
  size_t end = at + kOperator.size();
  if (end < text.size() && is_identifier(text[end])) {
    return 0;
  }
  if (text.substr(end, 2) == "()" || text.substr(end, 2) == "[]") {
    return kOperator.size() + 2;
  }
  while (end < text.size() &&
         std::string_view("+-*/%^&|~!=<>,").find(text[end]) != std::string_view::npos) {
    end++;
  }
  return end - at;
}

namespace {

// What a demangler says of code that a call comes through, or that a first use runs.
constexpr std::string_view kBeside[] = {"virtual thunk to ", "non-virtual thunk to ",
                                        "covariant return thunk to ", "TLS init function for ",
                                        "TLS wrapper function for "};
constexpr std::string_view kInModule = "_MOD_";  // gfortran's __module_MOD_procedure

// Most characters are no 'o'.
size_t skipped_at(std::string_view text, size_t at) {
  return text[at] == 'o' ? operator_length(text, at) : 0;
}

// Calls visit(position, depth) for each character that is not inside an operator's name, depth
// being the number of open brackets before it; visit returns false to stop.
template <typename Visit>
void scan(std::string_view text, Visit visit) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); i++) {
    if (size_t skip = skipped_at(text, i)) {
      i += skip - 1;
      continue;
    }
    const char c = text[i];
    if (!visit(i, depth)) {
      return;
    }
    if (c == '(' || c == '<' || c == '[' || c == '{') {
      depth++;
    } else if ((c == ')' || c == '>' || c == ']' || c == '}') && depth > 0) {
      depth--;
    }
  }
}

// In operator"" _km, and before the qualifiers of a function around a local entity: "f() const::g".
bool blank_in_name(std::string_view text, size_t at) {
  const std::string_view behind = text.substr(at + 1);
  return text.substr(0, at).ends_with('"') || behind.starts_with("const") ||
         behind.starts_with("volatile") || behind.starts_with('&');
}

std::string_view words_before(std::string_view demangled) {
  for (std::string_view words : kBeside) {
    if (demangled.starts_with(words)) {
      return words;
    }
  }
  return {};
}

}  // namespace

bool is_mangled(std::string_view symbol) {
  return symbol.starts_with("_Z") || is_rust_v0(symbol) || is_dlang(symbol) || is_fortran(symbol);
}

bool is_fortran(std::string_view symbol) {
  return symbol.starts_with("__") && symbol.find(kInModule) != std::string_view::npos;
}

bool is_rust(std::string_view symbol) {
  return is_rust_v0(symbol) || (symbol.starts_with("_ZN") && has_rust_hash(demangle(symbol)));
}

std::string demangle(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return {};
  int status = 0;
  char* text = ::abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : "";
  std::free(text);
  return result;
}

DemangledName split_symbol(std::string_view symbol) {
  if (is_fortran(symbol)) {
    const size_t in_module = symbol.find(kInModule);
    const std::string module(symbol.substr(2, in_module - 2));
    return {module + "::" + std::string(symbol.substr(in_module + kInModule.size())), "", ""};
  }
  if (is_dlang(symbol)) return split_dlang(symbol);
  if (is_rust_v0(symbol)) return {demangle_rust_v0(symbol), "", ""};
  const std::string text = demangle(symbol);
  return has_rust_hash(text) ? DemangledName{without_rust_hash(text), "", ""}
                             : split_demangled(text);
}

std::string without_tags(std::string name) {
  for (size_t tag = name.find("[abi:"); tag != std::string::npos; tag = name.find("[abi:", tag)) {
    name.erase(tag, name.find(']', tag) + 1 - tag);
  }
  return name;
}

DemangledName split_demangled(std::string_view demangled) {
  const size_t remark = demangled.find(" [clone");
  std::string_view text = demangled.substr(0, remark);
  const std::string_view before = words_before(text);
  text.remove_prefix(before.size());
  // The parameters open at the last '(' of depth 0; "(anonymous namespace)" is followed by "::".
  size_t open = std::string_view::npos;
  scan(text, [&](size_t i, int depth) {
    if (depth == 0 && text[i] == '(' && open == std::string_view::npos &&
        text.substr(i, 21) != "(anonymous namespace)" && !text.substr(0, i).ends_with('!')) {
      open = i;  // but for those of D's max!(int)
    }
    // A local entity: "f(int)::{lambda()#1}::operator()() const" goes on behind its function.
    if (depth == 0 && open != std::string_view::npos &&
        (text.substr(i, 2) == "::" || text[i] == '.')) {
      open = std::string_view::npos;
    }
    return true;
  });
  DemangledName result;
  result.beside = !before.empty();
  if (open != std::string_view::npos) {
    const size_t close = text.rfind(')');
    result.parameters =
        text.substr(open, close == std::string_view::npos ? close : close + 1 - open);
    result.qualifiers = close == std::string_view::npos ? "" : text.substr(close + 1);
    text = text.substr(0, open);
  }
  // A template function's name begins with its return type: cut at the last blank of depth 0.
  size_t begin = 0;
  scan(text, [&](size_t i, int depth) {
    if (depth == 0 && text[i] == ' ' && !blank_in_name(text, i)) {
      begin = i + 1;
    }
    return true;
  });
  const size_t oper = text.find("operator ");  // conversion: "A::operator unsigned int"
  if (oper != std::string_view::npos && begin > oper) {
    begin = text.rfind(' ', oper) == std::string_view::npos ? 0 : text.rfind(' ', oper) + 1;
  }
  result.name = before;
  result.name += text.substr(begin);
  return result;
}

std::string without_templates(std::string_view name) {
  std::string result;
  result.reserve(name.size());
  int depth = 0;
  for (size_t i = 0; i < name.size(); i++) {
    if (size_t skip = skipped_at(name, i)) {
      if (depth == 0) {
        result += name.substr(i, skip);
      }
      i += skip - 1;
      continue;
    }
    depth += name[i] == '<';
    if (depth == 0) {
      result += name[i];
    }
    depth -= name[i] == '>' && depth > 0 && name[i - 1] != '-';  // Rust's "fn() -> T"
  }
  return result;
}

std::vector<std::string_view> components(std::string_view name) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  scan(name, [&](size_t i, int depth) {
    if (depth == 0 && i > begin && name[i] == ':' && name[i - 1] == ':') {
      parts.push_back(name.substr(begin, i - 1 - begin));
      begin = i + 1;
    }
    return true;
  });
  parts.push_back(name.substr(begin));
  return parts;
}

size_t last_component(std::string_view name) {
  return name.size() - components(name).back().size();
}

}  // namespace dj
