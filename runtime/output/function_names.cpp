// SPDX-License-Identifier: Apache-2.0
// Names that the plan left out are made when the first record of their site comes.
#include "runtime/output/function_names.h"

#include "compiler/stages/shown_symbol.h"

namespace dj {

std::string site_name(const Site& site) {
  return site.function.empty() ? shown_symbol(site.symbol) : site.function;
}

std::string_view FunctionNames::of(uint32_t number, const Site& site) {
  if (!site.function.empty()) return site.function;
  const auto [entry, is_new] = made_.try_emplace(number);
  if (is_new) entry->second = site_name(site);
  return entry->second;
}

}  // namespace dj
