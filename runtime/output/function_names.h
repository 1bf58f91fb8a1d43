// SPDX-License-Identifier: Apache-2.0
// FunctionNames gives the functions of a plan's sites the names that people use. For thousands of
// sites the plan has no such names.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "compiler/stages/plan.h"

namespace dj {

// Returns the plan's name for the site's function, or makes one of the linker's name, in a
// microsecond.
std::string site_name(const Site& site);

// FunctionNames keeps the names that it has made, for sites that recur.
class FunctionNames {
 public:
  // Returns the name. number: the site's number in the whole session. The view lives as long as
  // this object and the site.
  std::string_view of(uint32_t number, const Site& site);

 private:
  std::unordered_map<uint32_t, std::string> made_;
};

}  // namespace dj
