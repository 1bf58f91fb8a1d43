// SPDX-License-Identifier: Apache-2.0
// running_kernel() finds what a session of the kernel can probe, before djtap changes it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Returns the running kernel, and those of its modules for whose names is_meant says true, as
// mapped files with their live text (LiveKernel), ascending. The path of the kernel itself is
// kKernelPath, that of a module begins with kKernelModules. djtap holds the files, which nothing
// else can change, until forget_target_files(). Fails with Fail::Permission where djtap is not
// root, or the kernel is locked down.
Result<std::vector<MappedModule>> running_kernel(
    const std::function<bool(const std::string& module)>& is_meant);

// Whether the running kernel has a function of that name. Needs no rights; false where the kernel
// names none to djtap.
bool is_kernel_function(const std::string& name);

}  // namespace dj
