// SPDX-License-Identifier: Apache-2.0
// tapset_library() makes the library of a command line's tapsets, those in Lua included.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/type_printer.h"
#include "compiler/tapset/library.h"
#include "runtime/run/lazy_target.h"

namespace dj {

// folders: of -I; the library looks into them before djtap's own. Lua files may ask for the target,
// and fill `printers`. All references must outlive the library.
TapsetLibrary tapset_library(const std::vector<std::string>& folders, Sources& sources,
                             LazyTarget& target, TypePrinters& printers);

}  // namespace dj
