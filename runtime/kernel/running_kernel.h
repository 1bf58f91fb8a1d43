// SPDX-License-Identifier: Apache-2.0
// running_kernel() finds what a session of the kernel can probe, before djtap changes it.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the running kernel as mapped files with its live text (make_live_kernel()), ascending.
// The path of the kernel itself is kKernelPath. djtap holds the files, which nothing else can
// change, until forget_target_files(). Fails with Fail::Permission where djtap is not root, or the
// kernel is locked down.
Result<std::vector<MappedModule>> running_kernel();

// Whether the running kernel has a function of that name. Needs no rights; false where the kernel
// names none to djtap.
bool is_kernel_function(const std::string& name);

}  // namespace dj
