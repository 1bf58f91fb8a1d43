// SPDX-License-Identifier: Apache-2.0
// module_codes(): the analyses of a session's modules, with those that earlier sessions have kept.
#pragma once
#include "runtime/patch/module_code.h"

namespace dj {

// cache: what is kept on the disk may be used, and kept anew. verbose: tells on stderr what of it
// does not count.
ModuleCodes module_codes(bool cache, bool verbose);

}  // namespace dj
