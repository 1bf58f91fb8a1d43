// A script as far as it can be judged without a target: parsed, completed by tapsets, checked.
#pragma once
#include "compiler/diag.h"
#include "compiler/source.h"
#include "runtime/control/options.h"

namespace dj {

// Tells what is wrong with file `file` of `sources`. A name that ends in .stp is strict, as in
// SystemTap. What a target would say of it (functions, variables) is not asked.
void check_script(const Options& options, Sources& sources, uint32_t file, Diags& diags);

}  // namespace dj
