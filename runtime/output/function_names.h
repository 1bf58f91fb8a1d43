// SPDX-License-Identifier: Apache-2.0
// FunctionNames: what people call the functions of a plan's sites; for thousands of sites the plan
// has no such names.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/stages/plan.h"

namespace dj {

// The plan's name, or one made of the linker's name in a microsecond.
std::string site_name(const Site& site);

// Names of sites that are asked for again and again.
class FunctionNames {
 public:
  // number: the site's, of the whole session. The view lives as long as this object and the site.
  std::string_view of(uint32_t number, const Site& site);

 private:
  std::unordered_map<uint32_t, std::string> made_;
};

}  // namespace dj
