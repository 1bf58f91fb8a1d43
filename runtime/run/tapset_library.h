// SPDX-License-Identifier: Apache-2.0
// tapset_library(): the tapsets of a command line, those in Lua included.
#pragma once
#include <string>
#include <vector>

#include "compiler/stages/type_printer.h"
#include "compiler/tapset/library.h"
#include "runtime/run/lazy_target.h"

namespace dj {

// folders: of -I, looked into before djtap's own. Lua files may ask for the target, and fill
// `printers`. All references outlive the library.
TapsetLibrary tapset_library(const std::vector<std::string>& folders, Sources& sources,
                             LazyTarget& target, TypePrinters& printers);

}  // namespace dj
