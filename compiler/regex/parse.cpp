// SPDX-License-Identifier: Apache-2.0
// Pattern to tree: recursive descent over alternatives, sequences, repeated atoms.
#include <optional>
#include <string>

#include "compiler/regex/tree.h"
#include "runtime/shared/regex.h"

namespace dj::regex {
namespace {

constexpr unsigned kMaxRepeat = 255;

template <typename Part>
NodePtr make(Part part) {
  return std::make_unique<Node>(Node{std::move(part)});
}

bool in_class(std::string_view name, int c) {
  bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
  bool graph = c > 32 && c < 127;
  if (name == "alpha") return lower || upper;
  if (name == "digit") return digit;
  if (name == "alnum") return lower || upper || digit;
  if (name == "lower") return lower;
  if (name == "upper") return upper;
  if (name == "space") return c == ' ' || (c >= '\t' && c <= '\r');
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "xdigit") return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  if (name == "punct") return graph && !lower && !upper && !digit;
  if (name == "graph") return graph;
  if (name == "print") return graph || c == ' ';
  return name == "cntrl" && (c < 32 || c == 127);
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(pattern) {}

  std::variant<Tree, RegexMistake> run() {
    NodePtr root = choice();
    if (!mistake_ && at_ < text_.size()) fail(at_, at_ + 1, "this ) has no (");
    if (mistake_) return *mistake_;
    return Tree{std::move(root), groups_};
  }

 private:
  bool more() const { return at_ < text_.size() && !mistake_; }
  bool next_is(char c) const { return more() && text_[at_] == c; }
  void fail(size_t begin, size_t end, std::string message) {
    if (!mistake_) mistake_ = RegexMistake{begin, end, std::move(message)};
  }

  NodePtr choice() {
    Choice made;
    made.parts.push_back(sequence());
    while (next_is('|')) {
      ++at_;
      made.parts.push_back(sequence());
    }
    return made.parts.size() == 1 ? std::move(made.parts[0]) : make(std::move(made));
  }

  NodePtr sequence() {
    Sequence made;
    while (more() && text_[at_] != '|' && text_[at_] != ')') made.parts.push_back(repeated());
    return make(std::move(made));
  }

  NodePtr repeated() {
    NodePtr what = atom();
    bool anchor =
        std::holds_alternative<Begin>(what->node) || std::holds_alternative<End>(what->node);
    bool again = false;
    while (more() && std::string_view("*+?{").find(text_[at_]) != std::string_view::npos) {
      size_t mark = at_;
      unsigned least = 0, most = kForever;
      if (text_[at_] == '{') {
        bounds(least, most);
      } else {
        least = text_[at_] == '+';
        if (text_[at_] == '?') most = 1;
        ++at_;
      }
      if (anchor || again) fail(mark, at_, "there is nothing to repeat before this");
      again = true;
      if (mistake_) return what;
      what = make(Repeat{std::move(what), least, most});
    }
    return what;
  }

  unsigned number(size_t open) {
    unsigned value = 0;
    size_t first = at_;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9' && value <= kMaxRepeat) {
      value = value * 10 + static_cast<unsigned>(text_[at_++] - '0');
    }
    if (at_ == first) fail(open, at_, "{ needs numbers behind it: {2}, {2,} or {2,5}");
    if (value > kMaxRepeat)
      fail(first, at_, "more than " + std::to_string(kMaxRepeat) + " repetitions");
    return value;
  }

  // {n} {n,} {n,m}
  void bounds(unsigned& least, unsigned& most) {
    size_t open = at_++;
    least = most = number(open);
    if (next_is(',')) {
      ++at_;
      most = next_is('}') ? kForever : number(open);
    }
    if (mistake_) return;
    if (!next_is('}')) return fail(open, at_, "this { is never closed");
    ++at_;
    if (most < least) fail(open, at_, "the second number is smaller than the first");
  }

  NodePtr atom() {
    size_t begin = at_;
    char c = text_[at_++];
    switch (c) {
      case '^':
        return make(Begin{});
      case '$':
        return make(End{});
      case '.':
        return make(Bytes{Set().set()});
      case '(':
        return group(begin);
      case '[':
        return brackets(begin);
      case '*':
      case '+':
      case '?':
      case '{':
        fail(begin, at_, "there is nothing to repeat before this");
        break;
      case '\\':
        return escape(begin);
      default:
        break;
    }
    return one(c);
  }

  static NodePtr one(char c) { return make(Bytes{Set().set(static_cast<unsigned char>(c))}); }

  NodePtr group(size_t open) {
    unsigned number = groups_++;
    if (groups_ > abi::kMaxRegexGroups) {
      fail(open, open + 1, "more than " + std::to_string(abi::kMaxRegexGroups - 1) + " groups");
    }
    NodePtr inside = choice();
    if (!mistake_ && !next_is(')')) fail(open, open + 1, "this ( is never closed");
    ++at_;
    return make(Group{std::move(inside), number});
  }

  NodePtr escape(size_t begin) {
    if (!more()) {
      fail(begin, at_, "a backslash at the end");
      return one('\\');
    }
    char c = text_[at_++];
    if (c >= '1' && c <= '9') fail(begin, at_, "back references are not supported");
    if (in_class("alnum", static_cast<unsigned char>(c))) {
      fail(begin, at_,
           std::string("there is no \\") + c + ": write a class such as [0-9] or [[:space:]]");
    }
    return one(c);
  }

  // [:name:] at at_; false: it is not one.
  bool named_class(Set& set) {
    if (text_.substr(at_, 2) != "[:") return false;
    size_t close = text_.find(":]", at_ + 2);
    if (close == std::string_view::npos) return false;
    std::string_view name = text_.substr(at_ + 2, close - at_ - 2);
    Set named;
    for (int c = 0; c < 256; ++c) named[static_cast<size_t>(c)] = in_class(name, c);
    if (named.none()) fail(at_, close + 2, "there is no class [:" + std::string(name) + ":]");
    set |= named;
    at_ = close + 2;
    return true;
  }

  NodePtr brackets(size_t open) {
    Set set;
    bool negated = next_is('^');
    if (negated) ++at_;
    for (bool first = true; more() && (first || text_[at_] != ']'); first = false) {
      if (named_class(set)) continue;
      size_t begin = at_;
      auto low = static_cast<unsigned char>(text_[at_++]), high = low;
      bool range = next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      if (range) {
        high = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
      }
      if (high < low) fail(begin, at_, "this range runs backwards");
      for (unsigned c = low; c <= high; ++c) set.set(c);
    }
    if (!mistake_ && !next_is(']')) fail(open, open + 1, "this [ is never closed");
    ++at_;
    return make(Bytes{negated ? ~set : set});
  }

  std::string_view text_;
  size_t at_ = 0;
  unsigned groups_ = 1;
  std::optional<RegexMistake> mistake_;
};

}  // namespace

std::variant<Tree, RegexMistake> parse(std::string_view pattern) { return Parser(pattern).run(); }

}  // namespace dj::regex
