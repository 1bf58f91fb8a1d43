// A sorted list: questions come by the ten thousand and in order, additions are few.
#include "arch/x86_64/judged.h"

#include <algorithm>
#include <tuple>

namespace dj::arch {
namespace {

auto question(const Region& region) { return std::tie(region.address, region.pivot); }

bool before(const Judged::Answer& a, const Judged::Answer& b) {
  return question(a.asked) < question(b.asked);
}

}  // namespace

const Region* Judged::find(const Region& asked) const {
  const auto it = std::lower_bound(
      answers_.begin(), answers_.end(), asked,
      [](const Answer& a, const Region& region) { return question(a.asked) < question(region); });
  return it != answers_.end() && question(it->asked) == question(asked) ? &it->answer : nullptr;
}

void Judged::add(std::vector<Answer> answers) {
  std::stable_sort(answers.begin(), answers.end(), before);
  const auto middle = std::ptrdiff_t(answers_.size());
  answers_.insert(answers_.end(), answers.begin(), answers.end());
  std::inplace_merge(answers_.begin(), answers_.begin() + middle, answers_.end(), before);
  const auto same = [](const Answer& a, const Answer& b) {
    return question(a.asked) == question(b.asked);
  };
  answers_.erase(std::unique(answers_.begin(), answers_.end(), same), answers_.end());
}

}  // namespace dj::arch
