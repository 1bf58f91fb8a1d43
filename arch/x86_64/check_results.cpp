// SPDX-License-Identifier: Apache-2.0
// A sorted list: questions come by the ten thousand and in order, additions are few.
#include "arch/x86_64/check_results.h"

#include <algorithm>
#include <tuple>

#include "arch/x86_64/decode.h"

namespace dj::arch {
namespace {

bool before(const Verdicts::Answer& a, const Verdicts::Answer& b) {
  return std::tie(a.address, a.probe_address) < std::tie(b.address, b.probe_address);
}

bool same(const Verdicts::Answer& a, const Verdicts::Answer& b) {
  return a.address == b.address && a.probe_address == b.probe_address;
}

}  // namespace

const Region* Verdicts::find(const Region& asked) const {
  const Answer question{asked.address, asked.probe_address, {}};
  const auto it = std::lower_bound(answers_.begin(), answers_.end(), question, before);
  return it != answers_.end() && same(*it, question) ? &it->region : nullptr;
}

std::vector<const Region*> Verdicts::find_all(const std::vector<Region>& asked) const {
  std::vector<const Region*> found(asked.size());
  auto next = answers_.begin();
  for (size_t i = 0; i < asked.size(); i++) {
    const Answer question{asked[i].address, asked[i].probe_address, {}};
    if (next == answers_.end() || !same(*next, question))
      next = std::lower_bound(answers_.begin(), answers_.end(), question, before);
    if (next != answers_.end() && same(*next, question)) found[i] = &next++->region;
  }
  return found;
}

void Verdicts::add(std::vector<Answer> answers) {
  if (!std::is_sorted(answers.begin(), answers.end(), before))
    std::stable_sort(answers.begin(), answers.end(), before);
  if (answers_.empty()) answers_.swap(answers);
  const auto middle = std::ptrdiff_t(answers_.size());
  answers_.insert(answers_.end(), answers.begin(), answers.end());
  std::inplace_merge(answers_.begin(), answers_.begin() + middle, answers_.end(), before);
  answers_.erase(std::unique(answers_.begin(), answers_.end(), same), answers_.end());
}

bool Verdicts::restore(std::vector<Answer> answers) {
  if (!std::is_sorted(answers.begin(), answers.end(), before)) return false;
  answers_ = std::move(answers);
  return true;
}

bool is_possible(const Region& region) {
  constexpr uint8_t kMostInsn = 15, kJumpBytes = 5;
  const bool named =
      region.verdict <= Verdict::WritableText && region.obstacle <= Verdict::WritableText;
  const bool doubted = (region.doubts & ~region.guards) != 0;
  return named && !doubted && region.padding <= region.stretch && region.first <= kMostInsn &&
         region.overlap < kJumpBytes && region.prefixes <= kMostInsn &&
         region.fixed_bytes.prefix <= kMostInsn;
}

namespace {

bool agrees(const Region& region, const TextRange& text) {
  const std::span<const uint8_t> bytes = text.bytes.subspan(region.address - text.address);
  const size_t compared = std::min(bytes.size(), region.original.size());
  if (!std::equal(bytes.begin(), bytes.begin() + compared, region.original.begin())) return false;
  const uint32_t end = std::min<uint32_t>(region.length, region.stretch - region.padding);
  uint32_t at = 0, starts = 0;
  Insn insn;
  while (at < end && decode(bytes.subspan(at), at, insn)) {
    if (at > 0 && at < 32) starts |= 1u << at;
    at += insn.length;
  }
  const uint32_t inside = end < 32 ? (1u << end) - 1 : ~0u;
  return at == end && (region.boundaries & inside) == starts;
}

}  // namespace

bool agrees(const CheckResults& known, const std::vector<TextRange>& text) {
  const auto is_in_text = [&](const Region& region) {
    return std::any_of(text.begin(), text.end(), [&](const TextRange& range) {
      const uint64_t offset = region.address - range.address;
      return offset < range.bytes.size() && range.bytes.size() - offset >= region.length &&
             agrees(region, range);
    });
  };
  return std::all_of(known.verdicts.begin(), known.verdicts.end(), [&](const Verdicts& verdicts) {
    return std::all_of(verdicts.all().begin(), verdicts.all().end(),
                       [&](const Verdicts::Answer& answer) {
                         return is_possible(answer.region) &&
                                (answer.region.verdict != Verdict::Ok || is_in_text(answer.region));
                       });
  });
}

size_t CheckResults::size() const {
  size_t size = syscalls ? syscalls->size() + 1 : 0;
  for (const Verdicts& each : verdicts) size += each.all().size();
  return size;
}

}  // namespace dj::arch
