// SPDX-License-Identifier: Apache-2.0
// Joins the compiler's library with the room that runs Lua.
#include "runtime/run/tapset_library.h"

#include "runtime/lua/lua_tapset.h"

namespace dj {

TapsetLibrary tapset_library(const std::vector<std::string>& folders, Sources& sources,
                             LazyTarget& target, TypePrinters& printers) {
  return {sources, tapset_folders(folders),
          run_lua_tapsets(sources, [&target] { return target.index(); }, printers)};
}

}  // namespace dj
