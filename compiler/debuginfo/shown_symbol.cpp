// SPDX-License-Identifier: Apache-2.0
// What lists show of a symbol: its demangled name with the offset that stood behind it.
#include "compiler/stages/shown_symbol.h"

#include "compiler/debuginfo/demangle.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

std::string shown_symbol(std::string_view symbol) {
  const size_t plus = is_mangled(symbol) ? symbol.rfind('+') : std::string_view::npos;
  const std::string_view bare = symbol.substr(0, plus);
  const std::string name = is_mangled(bare) ? person_name(bare) : std::string(bare);
  return plus == std::string_view::npos ? name : name + std::string(symbol.substr(plus));
}

}  // namespace dj
