// SPDX-License-Identifier: Apache-2.0
// SiteRows finds the programs of a session that have the same sites as an earlier one. They share
// its numbers, and its rows in the arena: a build executes hundreds of programs once, and each maps
// the C library that the script probes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/stages/plan.h"

namespace dj {

class SiteRows {
 public:
  // Notes the numbers of a plan (Plan::first_site, first_handler). Its sites are in
  // Plan::dlopened of the session's first plan by then.
  void keep(const Plan& plan);
  // Returns the first_site of a plan of keep() that has the sites, host probes and handlers
  // (first_handler) of this one. `first`: the session's first plan.
  std::optional<SiteId> find(const Plan& plan, const Plan& first) const;

 private:
  struct Kept {
    SiteId first_site;
    HandlerId first_handler;
    size_t sites, hosts;
    std::vector<std::string> modules;  // paths
  };
  std::vector<Kept> kept_;
};

}  // namespace dj
