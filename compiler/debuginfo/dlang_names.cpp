// SPDX-License-Identifier: Apache-2.0
// A recursive descent over the D ABI's grammar of names and types. What it does not know makes the
// symbol one that has no name.
#include "compiler/debuginfo/dlang_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dj {

namespace {

constexpr int kMostDepth = 64;  // of types in types: a broken symbol may refer to itself
constexpr std::string_view kConventions = "FUVWRY";

constexpr std::pair<char, std::string_view> kBasic[] = {
    {'v', "void"},   {'g', "byte"},    {'h', "ubyte"},       {'s', "short"},   {'t', "ushort"},
    {'i', "int"},    {'k', "uint"},    {'l', "long"},        {'m', "ulong"},   {'f', "float"},
    {'d', "double"}, {'e', "real"},    {'o', "ifloat"},      {'p', "idouble"}, {'j', "ireal"},
    {'q', "cfloat"}, {'r', "cdouble"}, {'c', "creal"},       {'b', "bool"},    {'a', "char"},
    {'u', "wchar"},  {'w', "dchar"},   {'n', "typeof(null)"}};
constexpr std::pair<char, std::string_view> kAround[] = {
    {'x', "const"}, {'y', "immutable"}, {'O', "shared"}};
constexpr std::pair<char, std::string_view> kStorage[] = {
    {'M', "scope "}, {'I', "in "}, {'J', "out "}, {'K', "ref "}, {'L', "lazy "}};
constexpr std::pair<std::string_view, std::string_view> kSpecial[] = {
    {"__ctor", "this"}, {"__dtor", "~this"}, {"__postblit", "this(this)"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  DemangledName symbol() {
    at_ = 2;
    DemangledName result;
    result.dotted = true;
    result.name = qualified(&result);
    if (!failed_ && result.parameters.empty() && !take('Z')) type();
    return failed_ ? DemangledName{} : result;
  }

 private:
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    at_++;
    return true;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  std::string fail() {
    failed_ = true;
    at_ = text_.size();
    return {};
  }

  size_t number() {
    size_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc())
      fail();
    else
      at_ = size_t(end - text_.data());
    return value;
  }

  // What a back reference at the present place refers to: base 26, the last digit in lower case.
  size_t reference() {
    const size_t from = at_++;
    size_t distance = 0;
    for (; peek() >= 'A' && peek() <= 'Z'; at_++) distance = distance * 26 + size_t(peek() - 'A');
    if (peek() < 'a' || peek() > 'z') return fail(), 0;
    distance = distance * 26 + size_t(text_[at_++] - 'a');
    return distance <= from ? from - distance : (fail(), 0);
  }

  template <typename Parse>
  std::string elsewhere(size_t place, const Parse& parse) {
    if (failed_ || depth_ >= kMostDepth) return fail();
    depth_++;
    const size_t back = std::exchange(at_, place);
    std::string text = parse();
    depth_--;
    if (!failed_) at_ = back;
    return text;
  }

  bool begins_name() const {
    if (peek() != 'Q')
      return is_digit(peek()) || text_.substr(at_, 3) == "__T" || text_.substr(at_, 3) == "__U";
    Parser probe = *this;
    const size_t place = probe.reference();
    return !probe.failed_ && is_digit(text_[place]);
  }

  // The parameters of the last function go to `last`, if there is one.
  std::string qualified(DemangledName* last = nullptr) {
    std::string name;
    do {
      name += (name.empty() ? "" : ".") + component();
      Parser before = *this;
      std::string suffix, parameters;
      if (peek() == 'M' || kConventions.find(peek()) != std::string_view::npos) {
        if (take('M')) suffix = modifiers();
        parameters = function_parameters();
      }
      if (!failed_ && !parameters.empty() && begins_name()) {
        name += parameters + suffix;
      } else if (last && !parameters.empty() && !failed_) {
        last->parameters = parameters;
        last->qualifiers = suffix;
      } else {
        *this = before;
      }
    } while (!failed_ && begins_name());
    return name;
  }

  std::string component() {
    if (peek() == 'Q') return elsewhere(reference(), [&] { return component(); });
    if (take('0')) return "__anonymous";
    const size_t length = is_digit(peek()) ? number() : 0;
    if (take("__T") || take("__U")) return instance();
    if (length == 0 || length > text_.size() - at_) return fail();
    const std::string_view word = text_.substr(at_, length);
    at_ += length;
    for (const auto& [mangled, name] : kSpecial)
      if (word == mangled) return std::string(name);
    return std::string(word);
  }

  std::string instance() {
    std::string text = component() + "!(";
    for (bool first = true; !failed_ && !take('Z'); first = false) {
      take('H');
      text += first ? "" : ", ";
      if (take('T')) {
        text += type();
      } else if (take('S')) {
        take("_D");  // some compilers write it before a name
        text += qualified();
      } else if (take('V')) {
        text += value(type());
      } else {
        return fail();
      }
    }
    return text + ")";
  }

  std::string value(const std::string& type) {
    if (take('n')) return "null";
    if (take('N')) return "-" + std::to_string(number());
    if (peek() == 'i' || is_digit(peek())) {
      take('i');
      const size_t n = number();
      return type == "bool" ? (n ? "true" : "false") : std::to_string(n);
    }
    if (peek() != 'a' && peek() != 'w' && peek() != 'd') return fail();
    at_++;
    const size_t length = number();
    if (!take('_') || length * 2 > text_.size() - at_) return fail();
    std::string text = "\"";
    for (size_t i = 0; i < length; i++, at_ += 2) {
      int byte = 0;
      std::from_chars(text_.data() + at_, text_.data() + at_ + 2, byte, 16);
      text += char(byte);
    }
    return text + "\"";
  }

  std::string modifiers() {
    std::string text;
    for (bool more = true; more;) {
      more = false;
      for (const auto& [letter, name] : kAround) {
        if (!take(letter)) continue;
        text += " " + std::string(name);
        more = true;
      }
      if (take("Ng")) text += " inout", more = true;
    }
    return text;
  }

  // "(int, ref char)"; the return type stays.
  std::string function_parameters() {
    if (kConventions.find(peek()) == std::string_view::npos) return fail();
    at_++;
    while (peek() == 'N' && std::string_view("ghkn").find(peek(1)) == std::string_view::npos)
      at_ += 2;
    std::string text = "(";
    for (bool first = true; !failed_; first = false) {
      if (take('Z')) return text + ")";
      if (take('X')) return text + "...)";
      if (take('Y')) return text + (first ? "...)" : ", ...)");
      text += (first ? "" : ", ") + parameter();
    }
    return {};
  }

  std::string parameter() {
    std::string text;
    for (bool more = true; more;) {
      more = take("Nk");
      for (const auto& [letter, name] : kStorage) {
        if (!take(letter)) continue;
        text += name;
        more = true;
      }
    }
    return text + type();
  }

  std::string function_type(const char* word) {
    const std::string suffix = modifiers();
    const std::string parameters = function_parameters();
    return type() + " " + word + parameters + suffix;
  }

  std::string type() {
    if (failed_ || ++depth_ > kMostDepth) return fail();
    std::string text = any_type();
    depth_--;
    return text;
  }

  std::string any_type() {
    for (const auto& [letter, name] : kBasic)
      if (take(letter)) return std::string(name);
    for (const auto& [letter, name] : kAround)
      if (take(letter)) return std::string(name) + "(" + type() + ")";
    if (take("zi")) return "cent";
    if (take("zk")) return "ucent";
    if (take("Ng")) return "inout(" + type() + ")";
    if (take("Nh")) return "__vector(" + type() + ")";
    if (take("Nn")) return "noreturn";
    if (peek() == 'Q') return elsewhere(reference(), [&] { return type(); });
    if (kConventions.find(peek()) != std::string_view::npos && peek() != '\0')
      return function_type("function");
    const char letter = peek();
    at_++;
    switch (letter) {
      case 'A':
        return type() + "[]";
      case 'P':
        return kConventions.find(peek()) != std::string_view::npos ? type() : type() + "*";
      case 'G': {
        const size_t count = number();
        return type() + "[" + std::to_string(count) + "]";
      }
      case 'H': {
        const std::string key = type();
        return type() + "[" + key + "]";
      }
      case 'D':
        take('M');
        return function_type("delegate");
      case 'S':
      case 'C':
      case 'E':
      case 'T':
      case 'I':
        return qualified();
      default:
        return fail();
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

}  // namespace

bool is_dlang(std::string_view symbol) {
  return symbol.starts_with("_D") && symbol.size() > 3 && (is_digit(symbol[2]) || symbol[2] == '_');
}

DemangledName split_dlang(std::string_view symbol) { return Parser(symbol).symbol(); }

std::vector<std::string> dlang_components(std::string_view name) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : name) {
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == '.' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (size_t i = 1; i < parts.size(); i++) {
    const bool instance =
        parts[i - 1].size() > parts[i].size() && parts[i - 1].starts_with(parts[i] + "!(");
    if (instance) parts.erase(parts.begin() + std::ptrdiff_t(i));
  }
  return parts;
}

std::string without_instances(std::string_view name) {
  std::string text;
  for (const std::string& part : dlang_components(name))
    text += (text.empty() ? "" : ".") + part.substr(0, part.find("!("));
  return text;
}

std::string dlang_spelling(std::string_view parameters) {
  std::string text(parameters);
  std::erase(text, ' ');
  constexpr std::string_view kLong = "immutable(char)[]";
  for (size_t at = text.find(kLong); at != std::string::npos; at = text.find(kLong, at))
    text.replace(at, kLong.size(), "string");
  return text;
}

}  // namespace dj
