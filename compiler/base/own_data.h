// SPDX-License-Identifier: Apache-2.0
// Where djtap's own files lie: beside the program (a build folder, a tree that was unpacked or
// moved as a whole), else in the prefix that the program is installed in. Both are asked for once;
// the answer stays when djtap has become another user or has entered a view.
#pragma once
#include <string>

#include "compiler/base/result.h"

namespace dj {

// The version of this program: what the file VERSION of its source tree says.
const char* own_version();

// The folder of the tapsets that come with djtap, without links on its path. An error names the
// places where it should be, or the version that is not this program's.
const Result<std::string>& own_tapsets();

// The same of libdjtap_lower.so, but for its version: the file itself tells that.
const Result<std::string>& own_lowering();

// The folder of the kernel module's sources: djtap-VERSION, in a prefix where dkms looks for it.
const Result<std::string>& own_module_sources();

}  // namespace dj
