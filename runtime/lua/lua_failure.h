// SPDX-License-Identifier: Apache-2.0
// A Lua file's failure as a diagnostic.
#pragma once
#include "compiler/diag/diag.h"
#include "runtime/lua/sandbox.h"

namespace dj {

// Adds the error to `diags`, at the line of file number `file` where it was. Returns whether there
// was none.
bool report_failure(const std::optional<LuaFailure>& failed, const Sources& sources, uint32_t file,
                    Diags& diags);

}  // namespace dj
