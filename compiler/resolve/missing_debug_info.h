// SPDX-License-Identifier: Apache-2.0
// What helps where an object's debug information is missing, or is there and cannot be read.
#pragma once
#include <string>

#include "compiler/debuginfo/module.h"
#include "compiler/diag/diag.h"

namespace dj {

// Where a person gets the debug information of this object from: a package, a server. Empty: nobody
// knows, or a diagnostic among `told` has said so already.
std::string where_to_get_debug_info(const Module& object, const Diags& told);

// Helps with the diagnostic that was reported last. object: null: of no single one.
void help_to_debug_info(Diags& diags, Module* object = nullptr);

}  // namespace dj
