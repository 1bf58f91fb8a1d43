// SPDX-License-Identifier: Apache-2.0
// SwitchRules remembers which probes the user has switched off while the session runs, so that they
// are off in the processes that join it later, too.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "runtime/patch/installed_site.h"

namespace dj {

class SwitchRules {
 public:
  // Whether a handler of a site, by its index, is meant.
  using Means = std::function<bool(const InstalledSite& site, size_t handler)>;
  // name: of the rule: it replaces an earlier one of that name.
  void add(const std::string& name, Means means, bool on);
  bool has_any() const { return !rules_.empty(); }
  // The last rule that means a handler decides.
  bool is_off(const InstalledSite& site, size_t handler) const;

 private:
  struct Rule {
    std::string name;
    Means means;
    bool on;
  };
  std::vector<Rule> rules_;
};

}  // namespace dj
