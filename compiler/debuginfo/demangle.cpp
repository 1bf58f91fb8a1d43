// Splits demangled C++ names. Brackets nest; operator names contain brackets that do not.
#include "compiler/debuginfo/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

#include "compiler/debuginfo/rust_names.h"

namespace dj {

namespace {

constexpr std::string_view kOperator = "operator";
// What a demangler says of code that a call comes through, or that a first use runs.
constexpr std::string_view kBeside[] = {"virtual thunk to ", "non-virtual thunk to ",
                                        "covariant return thunk to ", "TLS init function for ",
                                        "TLS wrapper function for "};
constexpr std::string_view kInModule = "_MOD_";  // gfortran's __module_MOD_procedure

bool is_identifier(char c) {
  return c == '_' || c == '$' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

// The length of an operator's name at `at` ("operator<<"), or 0 when no operator begins there.
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
  return symbol.starts_with("_Z") || is_rust_v0(symbol) ||
         (symbol.starts_with("__") && symbol.find(kInModule) != std::string_view::npos);
}

std::string demangle(std::string_view symbol) {
  const size_t in_module = symbol.find(kInModule);
  if (symbol.starts_with("__") && in_module != std::string_view::npos) {
    return std::string(symbol.substr(2, in_module - 2)) +
           "::" + std::string(symbol.substr(in_module + kInModule.size()));
  }
  if (is_rust_v0(symbol)) {
    return demangle_rust_v0(symbol);
  }
  if (!symbol.starts_with("_Z")) {
    return {};
  }
  int status = 0;
  char* text = abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : "";
  std::free(text);
  // "make[abi:cxx11](int)": nobody writes the tag.
  for (size_t tag = result.find("[abi:"); tag != std::string::npos;
       tag = result.find("[abi:", tag)) {
    result.erase(tag, result.find(']', tag) + 1 - tag);
  }
  return without_rust_hash(std::move(result));
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
        text.substr(i, 21) != "(anonymous namespace)") {
      open = i;
    }
    // A local entity: "f(int)::{lambda()#1}::operator()() const" goes on behind its function.
    if (depth == 0 && open != std::string_view::npos && text.substr(i, 2) == "::") {
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
    if (depth == 0 && text[i] == ' ') {
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
    depth -= name[i] == '>' && depth > 0;
  }
  return result;
}

size_t last_component(std::string_view name) {
  size_t begin = 0;
  scan(name, [&](size_t i, int depth) {
    if (depth == 0 && i >= 1 && name[i] == ':' && name[i - 1] == ':') {
      begin = i + 1;
    }
    return true;
  });
  return begin;
}

}  // namespace dj
