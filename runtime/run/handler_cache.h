// SPDX-License-Identifier: Apache-2.0
// Handlers that earlier sessions have compiled, in the user's kept files
// (runtime/patch/file_cache.h): a script that is run again, on a target with the same layout, is
// not compiled again.
#pragma once
#include "compiler/stages/image.h"
#include "runtime/patch/module_code.h"

namespace dj {

// For lower(): looks at once into what this session has compiled (objects that a program opens one
// after the other often get the same handlers) and into the kept files; what is new is written by
// codes.remember(). `codes` outlives the result.
ObjectCache handler_cache(ModuleCodes& codes);

}  // namespace dj
