// SPDX-License-Identifier: Apache-2.0
// Takes a name apart into words and marks, and puts each type's words into the demangler's order.
#include "compiler/debuginfo/cxx_spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/debuginfo/demangle.h"

namespace dj {

namespace {

constexpr std::string_view kArithmetic[] = {"signed", "unsigned", "short",    "long",
                                            "int",    "char",     "__int128", "double"};
constexpr std::string_view kElaborated[] = {"struct", "class", "union", "enum", "typename"};
constexpr std::string_view kStringOf =
    "basic_string<char,std::char_traits<char>,std::allocator<char>>";

bool is_one_of(std::string_view word, auto& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// A word, an operator's name ("operator<<"), "::", or one mark.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t length = operator_length(text, i);
    while (length == 0 && i < text.size() && text[i] == ' ') i++;
    if (i == text.size()) break;
    if (length == 0) length = operator_length(text, i);
    while (length == 0 || (i + length < text.size() && is_identifier(text[i + length - 1]) &&
                           is_identifier(text[i + length]))) {
      length++;
    }
    if (text.substr(i, 2) == "::") length = 2;
    tokens.push_back(text.substr(i, length));
    i += length;
  }
  return tokens;
}

class Speller {
 public:
  explicit Speller(std::string_view text) : tokens_(tokens_of(text)) {}

  std::string spell() {
    while (at_ < tokens_.size()) one();
    return std::move(text_);
  }

 private:
  std::string_view next() const { return at_ < tokens_.size() ? tokens_[at_] : ""; }

  void put(std::string_view token) {
    const bool touch = !text_.empty() && !token.empty() && is_identifier(text_.back()) &&
                       is_identifier(token.front());
    text_ += touch ? " " : "";
    text_ += token;
  }

  // One token, and the type that may begin behind it.
  void one() {
    const std::string_view token = tokens_[at_++];
    put(token);
    if (token == "(" || token == "," || token == "<" || token == "operator") type();
  }

  // "const unsigned" -> "unsigned int const".
  void type() {
    std::vector<std::string_view> arithmetic;
    bool is_const = false, is_volatile = false, named = false;
    for (;; at_++) {
      const std::string_view word = next();
      if (word == "const") {
        is_const = true;
      } else if (word == "volatile") {
        is_volatile = true;
      } else if (!named && is_one_of(word, kArithmetic)) {
        arithmetic.push_back(word);
      } else if (arithmetic.empty() && !named && is_one_of(word, kElaborated)) {
        continue;
      } else if (arithmetic.empty() && !named && !word.empty() && is_identifier(word.front()) &&
                 !word.starts_with("operator")) {
        named_type();
        named = true;
        at_--;
      } else {
        break;
      }
    }
    if (!arithmetic.empty()) put(arithmetic_type(arithmetic));
    if (is_const) put("const");
    if (is_volatile) put("volatile");
  }

  // "ns::A<int>::B".
  void named_type() {
    int depth = 0;
    for (bool word_before = false; at_ < tokens_.size();) {
      const std::string_view token = next();
      const bool word = is_identifier(token.front());
      if (depth == 0 && ((word && word_before) || (!word && token != "::" && token != "<"))) return;
      depth += (token == "<" || token == "(") - (token == ">" || token == ")");
      word_before = word;
      one();
    }
  }

  static std::string arithmetic_type(const std::vector<std::string_view>& words) {
    const auto count = [&](std::string_view word) {
      return std::count(words.begin(), words.end(), word);
    };
    if (count("double")) return count("long") ? "long double" : "double";
    const std::string sign = count("unsigned") ? "unsigned " : "";
    if (count("char")) return count("signed") ? "signed char" : sign + "char";
    if (count("__int128")) return sign + "__int128";
    if (count("short")) return sign + "short";
    if (count("long")) return sign + (count("long") > 1 ? "long long" : "long");
    return sign + "int";
  }

  const std::vector<std::string_view> tokens_;
  size_t at_ = 0;
  std::string text_;
};

void put_alias(std::string& text, const std::string& what, const std::string& alias) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    const size_t end = at + what.size();
    const bool touch = end < text.size() && is_identifier(text[end]);
    text.replace(at, what.size(), alias + (touch ? " " : ""));
  }
}

}  // namespace

std::string one_spelling(std::string_view name) {
  std::string text = Speller(name).spell();
  for (const char* space : {"std::__cxx11::", "std::"})
    put_alias(text, space + std::string(kStringOf), "std::string");
  return text;
}

}  // namespace dj
