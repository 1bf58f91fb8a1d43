// A sorted list: questions come by the ten thousand and in order, additions are few.
#include "arch/x86_64/judged.h"

#include <algorithm>
#include <tuple>

namespace dj::arch {
namespace {

bool before(const Judged::Answer& a, const Judged::Answer& b) {
  return std::tie(a.address, a.pivot) < std::tie(b.address, b.pivot);
}

bool same(const Judged::Answer& a, const Judged::Answer& b) {
  return a.address == b.address && a.pivot == b.pivot;
}

}  // namespace

const Region* Judged::find(const Region& asked) const {
  const Answer question{asked.address, asked.pivot, {}};
  const auto it = std::lower_bound(answers_.begin(), answers_.end(), question, before);
  return it != answers_.end() && same(*it, question) ? &it->region : nullptr;
}

std::vector<const Region*> Judged::find_all(const std::vector<Region>& asked) const {
  std::vector<const Region*> found(asked.size());
  auto next = answers_.begin();
  for (size_t i = 0; i < asked.size(); i++) {
    const Answer question{asked[i].address, asked[i].pivot, {}};
    if (next == answers_.end() || !same(*next, question))
      next = std::lower_bound(answers_.begin(), answers_.end(), question, before);
    if (next != answers_.end() && same(*next, question)) found[i] = &next++->region;
  }
  return found;
}

void Judged::add(std::vector<Answer> answers) {
  if (!std::is_sorted(answers.begin(), answers.end(), before))
    std::stable_sort(answers.begin(), answers.end(), before);
  if (answers_.empty()) answers_.swap(answers);
  const auto middle = std::ptrdiff_t(answers_.size());
  answers_.insert(answers_.end(), answers.begin(), answers.end());
  std::inplace_merge(answers_.begin(), answers_.begin() + middle, answers_.end(), before);
  answers_.erase(std::unique(answers_.begin(), answers_.end(), same), answers_.end());
}

bool Judged::restore(std::vector<Answer> answers) {
  if (!std::is_sorted(answers.begin(), answers.end(), before)) return false;
  answers_ = std::move(answers);
  return true;
}

size_t Known::size() const {
  size_t size = syscalls ? syscalls->size() + 1 : 0;
  for (const Judged& each : judged) size += each.all().size();
  return size;
}

}  // namespace dj::arch
