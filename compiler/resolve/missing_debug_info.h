// SPDX-License-Identifier: Apache-2.0
// What helps where an object's debug information is missing, or is there and cannot be read.
#pragma once
#include <string>

#include "compiler/diag/diag.h"

namespace dj {

// Where a person gets the debug information of this file from: a package, a server. Empty: nobody
// knows, or a diagnostic among `told` has said so already.
std::string where_to_get_debug_info(const std::string& path, const Diags& told);

// Helps with the diagnostic that was reported last. path: of the object; empty: of no single one.
// unreadable: as Module::why_unreadable() says it.
void help_to_debug_info(Diags& diags, const std::string& path = "",
                        const std::string& unreadable = "");

}  // namespace dj
