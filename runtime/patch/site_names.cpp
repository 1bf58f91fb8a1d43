// SPDX-License-Identifier: Apache-2.0
// Names of sites, packed.
#include "runtime/patch/site_names.h"

#include <fmt/format.h>

#include "compiler/stages/shown_symbol.h"

namespace dj {
namespace {

const std::string& symbol_of(const Site& site) {
  return site.symbol.empty() ? site.function : site.symbol;
}

}  // namespace

SiteNames::SiteNames(const Plan& plan)
    : first_site_(plan.first_site), loader_site_(plan.loader_site) {
  for (const Handler& handler : plan.handlers) probes_.push_back(handler.probe);
  size_t bytes = 0;
  for (const Site& site : plan.sites) bytes += symbol_of(site).size();
  texts_.reserve(bytes);
  names_.reserve(plan.sites.size());
  for (const Site& site : plan.sites) {
    const uint64_t begin = site.function_begin != 0 ? site.function_begin : site.address;
    names_.push_back(
        {texts_.add(symbol_of(site)), texts_.add(foreign_name(site)), site.kind, begin});
  }
}

std::string SiteNames::at(PackedText text, SiteId id, uint64_t address) const {
  return fmt::format("{}+{:#x}", texts_.text(text), address - of(id).function_begin);
}

std::string SiteNames::symbol_at(SiteId id, uint64_t address) const {
  return at(of(id).symbol, id, address);
}

std::string SiteNames::foreign_at(SiteId id, uint64_t address) const {
  return of(id).foreign.bytes == 0 ? "" : at(of(id).foreign, id, address);
}

std::string SiteNames::shown_at(SiteId id, uint64_t address) const {
  const std::string foreign = foreign_at(id, address);
  return foreign.empty() ? shown_symbol(symbol_at(id, address)) : foreign;
}

}  // namespace dj
