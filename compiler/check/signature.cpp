// SPDX-License-Identifier: Apache-2.0
// Parses the signatures of built-in functions. The rows are ours, so a malformed one is a bug.
#include "compiler/check/signature.h"

#include "compiler/base/result.h"

namespace dj {
namespace {

Type type_named(std::string_view name) {
  if (name == "int") return Type::Int;
  if (name == "str") return Type::Str;
  if (name == "double") return Type::Double;
  CHECK(name == "void");
  return Type::Void;
}

}  // namespace

Signature parse_signature(std::string_view text) {
  size_t open = text.find('(');
  CHECK(open != std::string_view::npos && text.back() == ')');
  Signature signature;
  signature.result = type_named(text.substr(0, open));
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  bool optional_seen = false;
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    std::string_view param = rest.substr(0, comma);
    bool optional = param.back() == '?';
    if (optional) param.remove_suffix(1);
    CHECK(optional || !optional_seen);
    optional_seen = optional;
    signature.params.push_back(type_named(param));
    if (!optional) signature.required = signature.params.size();
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return signature;
}

std::string_view type_words(Type type) {
  switch (type) {
    case Type::Int:
      return "a number";
    case Type::Str:
      return "a string";
    case Type::Double:
      return "a number with a fraction";
    case Type::Stat:
      return "an aggregate";
    case Type::Void:
      return "nothing";
    case Type::Unknown:
      break;
  }
  return "unknown";
}

std::string prototype(std::string_view name, const Signature& signature) {
  std::string text = std::string(name) + "(";
  for (size_t i = 0; i < signature.params.size(); ++i) {
    std::string_view word = signature.params[i] == Type::Str ? "string" : "number";
    if (i != 0) text += ", ";
    text += i < signature.required ? std::string(word) : "[" + std::string(word) + "]";
  }
  return text + ")";
}

}  // namespace dj
