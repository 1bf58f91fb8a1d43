// SPDX-License-Identifier: Apache-2.0
// Knows comments, strings, embedded C and braces, and no more of the language.
#include "compiler/tapset/items.h"

#include <algorithm>
#include <cctype>

namespace dj {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_word_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Reads words and signs from `at` on, up to `end`.
struct Reader {
  std::string_view text;
  size_t at = 0;

  void skip_blanks() { at = std::min(text.find_first_not_of(kBlanks, at), text.size()); }
  // Letters, digits, '_' and what stands in `more`.
  std::string word(char more = '_') {
    skip_blanks();
    size_t begin = at;
    while (at < text.size() && (is_word_part(text[at]) || text[at] == more)) ++at;
    return std::string(text.substr(begin, at - begin));
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (text.substr(at, sign.size()) != sign) return false;
    at += sign.size();
    return true;
  }
};

// Names of "probe a.b, c = ..."; empty: it is no alias, or named in another way.
std::vector<std::string> alias_names(Reader reader) {
  std::vector<std::string> names;
  do {
    names.push_back(reader.word('.'));
    if (names.back().empty()) return {};
  } while (reader.take(","));
  const bool defines = reader.take("+=") || (reader.take("=") && !reader.take("="));
  return defines ? names : std::vector<std::string>();
}

void read_name(std::string_view text, TapsetItem& item) {
  Reader reader{text.substr(0, item.part.end), item.part.begin};
  std::string word = reader.word();
  if (word == "private") {
    word = reader.word();
    item.is_private = word == "function";
  }
  if (word == "function") item.function = reader.word();
  if (word == "probe") item.aliases = alias_names(reader);
}

// Walks a text once, from bracket to bracket.
class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  // False: it cannot be cut.
  bool run() {
    while (at_ < text_.size()) {
      if (depth_ == 0 && begins_item()) begins_.push_back(at_);
      const bool is_stray = begins_.empty() && !is_passed_over();
      if (is_stray || !step()) return false;
    }
    return depth_ == 0;
  }
  const std::vector<size_t>& begins() const { return begins_; }

 private:
  bool has(std::string_view sign) const { return text_.substr(at_, sign.size()) == sign; }

  // Blanks and comments.
  bool is_passed_over() const {
    return kBlanks.find(text_[at_]) != kBlanks.npos || has("#") || has("//") || has("/*");
  }

  // A keyword may be a member's or a component's name, too; and "private" belongs to what follows.
  bool begins_item() const {
    std::string_view before = text_.substr(0, code_end_);
    if (before.ends_with('.') || before.ends_with("->")) return false;
    if (before.ends_with("private") && begins_.back() + 7 == code_end_) return false;
    for (std::string_view word : {"probe", "function", "global", "private"}) {
      if (has(word) && at_ + word.size() < text_.size() && !is_word_part(text_[at_ + word.size()]))
        return true;
    }
    return has("%{") && (at_ == 0 || text_[at_ - 1] == '\n');
  }

  // Behind the next `sign` from here on.
  bool skip_behind(std::string_view sign, size_t from) {
    size_t found = text_.find(sign, from);
    if (found == std::string_view::npos) return false;
    at_ = found + sign.size();
    return true;
  }

  void skip_word() {
    while (at_ < text_.size() && is_word_part(text_[at_])) ++at_;
  }

  bool skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '"') return ++at_, true;
      if (text_[at_] == '\\') ++at_;
    }
    return false;
  }

  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  bool step() {
    if (has("/*")) return skip_behind("*/", at_ + 2);
    if (has("//") || has("#")) return skip_line(), true;
    if (kBlanks.find(text_[at_]) != kBlanks.npos) return ++at_, true;
    const bool good = step_code();
    code_end_ = at_;
    return good;
  }

  bool step_code() {
    if (is_word_part(text_[at_])) return skip_word(), true;
    if (text_[at_] == '"') return skip_string();
    if (has("%{")) return skip_behind("%}", at_ + 2);
    if (has("%(") || has("@define")) return false;
    if (has("$#") || has("@#")) return at_ += 2, true;
    depth_ += has("{") ? 1 : has("}") ? -1 : 0;
    ++at_;
    return depth_ >= 0;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t code_end_ = 0;  // of what was neither blank nor comment
  int depth_ = 0;
  std::vector<size_t> begins_;
};

}  // namespace

std::vector<TapsetItem> items_of(std::string_view text) {
  Cutter cutter(text);
  if (!cutter.run()) return {{.part = {0, text.size()}}};
  std::vector<TapsetItem> items;
  const std::vector<size_t>& begins = cutter.begins();
  for (size_t i = 0; i < begins.size(); ++i) {
    if (text[begins[i]] == '%') continue;
    TapsetItem& item = items.emplace_back();
    item.part = {begins[i], i + 1 < begins.size() ? begins[i + 1] : text.size()};
    read_name(text, item);
  }
  return items;
}

}  // namespace dj
