// SPDX-License-Identifier: Apache-2.0
// Builtin is one row of builtins.def, parsed. check uses it for names and signatures, lower for
// entries.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace dj {

enum BuiltinFlags : uint32_t {
  kCtx = 1,     // entry takes a Context*
  kSite = 2,    // entry takes the site index first; the handler then wants_site
  kStack = 8,   // entry reads the stack tables; the handler keeps the site's registers in Context
  kLines = 16,  // with kStack: entry reads the tables of source lines and inlined calls
  kName = 32,   // with kSite: what it gives is a name of the site, written down before the start
  kEnds = 64,   // entry asks for the session's end: from then on no probe of the program fires
  kKeepsText = 128,  // with kCtx: a later call reads a text that this one was given
  kRaises = 4,       // entry may set Context::raised; the caller must test it and leave the handler
};

struct Builtin {
  std::string_view name;
  std::string_view signature;
  std::string_view entry;
  uint32_t flags;
};

// All rows, in the file's order; BuiltinId indexes it.
inline const std::vector<Builtin>& builtins() {
  static const std::vector<Builtin> rows = {
#define DJ_BUILTIN(name, signature, entry, flags) {#name, signature, #entry, flags},
#include "stdlib/builtins.def"
#undef DJ_BUILTIN
  };
  return rows;
}

}  // namespace dj
