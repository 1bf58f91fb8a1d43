// SPDX-License-Identifier: Apache-2.0
// The rules in the order of the user's commands.
#include "runtime/session/switch_rules.h"

#include <algorithm>
#include <utility>

namespace dj {

void SwitchRules::add(const std::string& name, Means means, bool on) {
  std::erase_if(rules_, [&](const Rule& rule) { return rule.name == name; });
  rules_.push_back({name, std::move(means), on});
}

bool SwitchRules::is_off(const InstalledSite& site, size_t handler) const {
  const auto last = std::find_if(rules_.rbegin(), rules_.rend(),
                                 [&](const Rule& rule) { return rule.means(site, handler); });
  return last != rules_.rend() && !last->on;
}

}  // namespace dj
