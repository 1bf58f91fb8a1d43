// SPDX-License-Identifier: Apache-2.0
// What lists show of a symbol: its demangled name with the offset that stood behind it.
#include "compiler/stages/shown_symbol.h"

#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/stages/plan.h"

namespace dj {

std::string shown_symbol(std::string_view symbol) {
  const size_t plus = is_mangled(symbol) ? symbol.rfind('+') : std::string_view::npos;
  const std::string_view bare = symbol.substr(0, plus);
  const std::string name = is_mangled(bare) ? person_name(bare) : std::string(bare);
  return plus == std::string_view::npos ? name : name + std::string(symbol.substr(plus));
}

std::string_view foreign_name(const Site& site) {
  const bool is_of_another =  // of what is called, or was inlined
      site.scope != 0 || site.call || site.stub || site.mark || site.syscall;
  const bool by_symbol = is_mangled(site.symbol) || site.function == plain_symbol(site.symbol);
  if (is_of_another || by_symbol || site.symbol.empty()) return {};
  return site.function;
}

}  // namespace dj
