// SPDX-License-Identifier: Apache-2.0
// Conditions of %( ... %): comparisons of versions, architecture, literals, joined by && and ||.
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/utsname.h>

#include <algorithm>

#include "compiler/parse/literals.h"
#include "compiler/parse/macros.h"

namespace dj {

namespace {

struct Value {
  std::string text;
  std::optional<int64_t> number;  // of a number literal
  bool version = false;           // compared piece by piece: 6.10 is above 6.9
  bool system = false;            // of the machine: == and != compare it with a pattern
  bool word = false;              // of a list of words without an order: only == and !=
};

// "6.1.0-13-amd64" by pieces: numbers as numbers, the rest as text.
int compare_versions(std::string_view a, std::string_view b) {
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    size_t x = 0, y = 0;
    while (x < a.size() && digit(a[x])) ++x;
    while (y < b.size() && digit(b[y])) ++y;
    std::string_view left = a.substr(0, x), right = b.substr(0, y);
    left.remove_prefix(std::min(left.find_first_not_of('0'), left.size()));
    right.remove_prefix(std::min(right.find_first_not_of('0'), right.size()));
    if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
    if (int order = left.compare(right); order != 0) return order;
    a.remove_prefix(x);
    b.remove_prefix(y);
    x = y = 0;
    while (x < a.size() && !digit(a[x])) ++x;
    while (y < b.size() && !digit(b[y])) ++y;
    if (int order = a.substr(0, x).compare(b.substr(0, y)); order != 0) return order;
    a.remove_prefix(x);
    b.remove_prefix(y);
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

Value system_value(const std::string& name) {
  utsname host = {};
  uname(&host);
  std::string release = host.release;
  if (name == "kernel_v") {
    return {release.substr(0, release.find_first_not_of("0123456789.")), {}, true};
  }
  if (name == "kernel_vr") return {release, {}, true};
  if (name == "arch") return {host.machine};
  if (name == "systemtap_v") return {"4.8", {}, true};
  if (name == "runtime") return {"dyninst"};  // SystemTap's word for user space without the kernel
  if (name == "systemtap_privilege") return {"stapusr"};
  if (name == "guru_mode") return {"0", 0};
  return {name == "CONFIG_64BIT" ? "y" : ""};  // of the kernel, which is not traced
}

bool is_system_name(const std::string& name) {
  static const char* const kNames[] = {"kernel_v",           "kernel_vr", "arch",
                                       "systemtap_v",        "runtime",   "guru_mode",
                                       "systemtap_privilege"};
  return name.starts_with("CONFIG_") ||
         std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Recursive descent over the few tokens of a condition.
class Condition {
 public:
  Condition(const Lexemes& tokens, Span place, Diags& diags)
      : tokens_(tokens), place_(place), diags_(diags) {}

  std::optional<bool> run() {
    bool result = either();
    if (ok_ && at_ < tokens_.size()) wrong("expected && or ||");
    return ok_ ? std::optional<bool>(result) : std::nullopt;
  }

 private:
  size_t type() const { return at_ < tokens_.size() ? tokens_[at_].type : antlr4::Token::EOF; }

  void wrong(const std::string& message) {
    if (!ok_) return;
    ok_ = false;
    Span span = at_ < tokens_.size() ? tokens_[at_].span
                : tokens_.empty()    ? place_
                                     : tokens_.back().span;
    diags_.error("DJ1028", span, message + " in the condition of %( ... %?").help =
        "compare kernel_v, kernel_vr, arch, systemtap_v, a number or a string with a literal";
  }

  void wrong_bracket() {
    if (!ok_) return;
    wrong("brackets group nothing");
    diags_.last().help =
        "&& binds tighter than ||; write the comparisons alone, or one %( ... %) in the other";
  }

  bool either() {
    bool result = both();
    while (ok_ && type() == DjtParser::OR) {
      ++at_;
      bool right = both();
      result = result || right;
    }
    return result;
  }

  bool both() {
    bool result = comparison();
    while (ok_ && type() == DjtParser::AND) {
      ++at_;
      bool right = comparison();
      result = result && right;
    }
    return result;
  }

  std::optional<Value> value() {
    if (at_ >= tokens_.size()) return wrong("something is missing"), std::nullopt;
    if (type() == DjtParser::LPAREN) return wrong_bracket(), std::nullopt;
    bool negative = type() == DjtParser::MINUS;
    at_ += negative && at_ + 1 < tokens_.size();
    const Lexeme& token = tokens_[at_];
    if (token.type == DjtParser::STRING && !negative) {
      ++at_;
      return Value{decode_string(token.text)};
    }
    if (token.type == DjtParser::NUMBER) {
      std::variant<uint64_t, BadNumber> read = read_number(token.text);
      if (const uint64_t* number = std::get_if<uint64_t>(&read)) {
        ++at_;
        return Value{token.text, static_cast<int64_t>(negative ? 0 - *number : *number)};
      }
    }
    if (token.type == DjtParser::ID && is_system_name(token.text)) {
      ++at_;
      Value value = system_value(token.text);
      value.system = true;
      value.word = !value.version;
      return value;
    }
    wrong("cannot compare this");
    return std::nullopt;
  }

  static bool judge(size_t op, int order) {
    switch (op) {
      case DjtParser::LT:
        return order < 0;
      case DjtParser::LE:
        return order <= 0;
      case DjtParser::GT:
        return order > 0;
      case DjtParser::GE:
        return order >= 0;
      case DjtParser::EQ:
        return order == 0;
      default:
        return order != 0;
    }
  }

  // Two settings of the kernel's may be compared as numbers are: CONFIG_NR_CPUS >= CONFIG_...
  bool is_config(size_t at) const {
    return at < tokens_.size() && tokens_[at].text.starts_with("CONFIG_");
  }

  bool comparison() {
    const size_t begin = at_;
    std::optional<Value> left = value();
    size_t op = type();
    const bool equality = op == DjtParser::EQ || op == DjtParser::NE;
    if (left && (op < DjtParser::LT || op > DjtParser::NE)) {
      wrong("expected a comparison");
    } else if (left && left->word && !equality && !(is_config(begin) && is_config(at_ + 1))) {
      wrong("expected == or !=, as this has no order");
    }
    if (!ok_) return false;
    ++at_;
    std::optional<Value> right = value();
    if (!right) return false;
    if (left->number.has_value() != right->number.has_value()) {
      --at_;
      wrong("a number and a string cannot be compared");
      return false;
    }
    if (left->number) {
      return judge(op, *left->number < *right->number ? -1 : *left->number > *right->number);
    }
    bool pattern = left->system && equality;
    if (pattern && right->text.find_first_of("*?[") != std::string::npos) {
      bool matches = fnmatch(right->text.c_str(), left->text.c_str(), 0) == 0;
      return matches == (op == DjtParser::EQ);
    }
    return judge(op, left->version || right->version ? compare_versions(left->text, right->text)
                                                     : left->text.compare(right->text));
  }

  const Lexemes& tokens_;
  Span place_;
  Diags& diags_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<bool> holds(const Lexemes& condition, Span place, Diags& diags) {
  return Condition(condition, place, diags).run();
}

}  // namespace dj
