// SPDX-License-Identifier: Apache-2.0
// handler_cache() gives access to handlers that earlier sessions have compiled, in the user's kept
// files (runtime/patch/file_cache.h). A script that runs again, on a target with the same layout,
// needs no compilation.
#pragma once
#include "compiler/stages/image.h"
#include "runtime/patch/module_code.h"

namespace dj {

// Returns the cache for lower(). It looks into what this session has compiled (objects that a
// program opens one after the other often get the same handlers) and into the kept files.
// codes.remember() writes new handlers. `codes` must outlive the result.
ObjectCache handler_cache(ModuleCodes& codes);

}  // namespace dj
