// SPDX-License-Identifier: Apache-2.0
// module_codes() makes the analyses of a session's modules, with those that earlier sessions have
// kept.
#pragma once
#include "runtime/patch/module_code.h"

namespace dj {

// cache: djtap may use and keep analyses on the disk. verbose: djtap tells on stderr which of those
// do not count.
ModuleCodes module_codes(bool cache, bool verbose);

}  // namespace dj
