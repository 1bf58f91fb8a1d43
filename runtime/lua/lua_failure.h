// SPDX-License-Identifier: Apache-2.0
// report_failure() makes a diagnostic of a Lua file's failure.
#pragma once
#include "compiler/diag/diag.h"
#include "runtime/lua/sandbox.h"

namespace dj {

// Adds the error, if there is one, to `diags`, at its line of file number `file` of `sources`.
// Returns true if there is none.
bool report_failure(const std::optional<LuaFailure>& failed, const Sources& sources, uint32_t file,
                    Diags& diags);

}  // namespace dj
