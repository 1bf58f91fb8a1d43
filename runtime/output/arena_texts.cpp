// SPDX-License-Identifier: Apache-2.0
// Which references there can be, and how long a text can be, is said by the Layout.
#include "runtime/output/arena_texts.h"

#include <algorithm>

#include "runtime/shared/strings.h"

namespace dj {
namespace {

// Names of probes and constants may be longer than MAXSTRINGLEN.
constexpr uint64_t kLongestName = 4096;
constexpr uint64_t kLeastBudget = 4 << 20;

uint64_t longest_text(const Layout& layout) {
  uint64_t longest = std::max<uint64_t>(layout.header.max_string, kLongestName);
  for (const std::string& text : layout.strings.texts)
    longest = std::max<uint64_t>(longest, text.size());
  return longest;
}

}  // namespace

ArenaTexts::ArenaTexts(const Layout& layout, uint64_t words)
    : arena_(layout.base, layout.bytes), refs_(layout.refs), longest_(longest_text(layout)) {
  left_ = std::max<uint64_t>(kLeastBudget, words * layout.header.max_string);
}

std::string ArenaTexts::operator()(Untrusted<uint64_t> word) {
  const uint64_t end = refs_.first + refs_.span;
  const std::optional<uint64_t> ref = word.within(refs_.first, end, sizeof(uint32_t));
  if (!ref) return "";
  const uint64_t at = arena_.base() + *ref, data = at + offsetof(abi::Str, data);
  const uint64_t most = std::min(longest_, left_);
  std::string text(arena_.word<uint32_t>(at).at_most(static_cast<uint32_t>(most)), '\0');
  if (!arena_.copy(data, text.data(), text.size())) return "";
  left_ -= text.size();
  return text;
}

}  // namespace dj
