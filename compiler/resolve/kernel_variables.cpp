// SPDX-License-Identifier: Apache-2.0
// The form is that of DWARF's variables (listing.cpp).
#include "compiler/resolve/kernel_variables.h"

#include <fmt/format.h>

#include <unordered_map>

namespace dj {

bool KernelVariables::is_unique(std::string_view symbol, Module& file) {
  auto found = shared_.find(file.path());
  if (found == shared_.end()) {
    found = shared_.emplace(file.path(), std::set<std::string_view>()).first;
    std::unordered_map<std::string_view, uint64_t> seen;
    for (const Symbol& s : file.symbols().functions) {
      if (seen.emplace(s.name, s.address).first->second != s.address) found->second.insert(s.name);
    }
  }
  return !found->second.contains(symbol);
}

std::string KernelVariables::text(const Site& site, Module& file) {
  if (first_asked_.empty()) first_asked_ = file.path();
  const std::optional<Prototype> prototype =
      is_unique(site.symbol, file) ? types_.prototype(file.path(), site.symbol) : std::nullopt;
  if (!prototype) return "";
  is_any_known_ = true;
  const bool returns = site.kind == SiteKind::Return && !prototype->returns.empty();
  std::string text = returns ? " $return:" + prototype->returns : "";
  for (const Prototype::Parameter& p : prototype->parameters)
    text += fmt::format(" ${}:{}", p.name, p.type);
  return text;
}

void KernelVariables::warn_if_none(Span span, Diags& diags) {
  if (first_asked_.empty() || is_any_known_) return;
  const std::string why = types_.why_none(first_asked_);
  Diag& diag = diags.warning("DJ3902", span,
                             "the kernel does not tell what these functions take and return");
  diag.notes.push_back(
      !why.empty()
          ? why
          : "its BTF leaves out functions that the compiler has changed (.isra, .constprop), "
            "and of several functions of one name it does not say which it means");
}

}  // namespace dj
