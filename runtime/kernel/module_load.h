// SPDX-License-Identifier: Apache-2.0
// open_kernel() opens the running kernel for a session, and loads djtap's module first where it is
// not loaded. Each failure is one sentence that says the way out.
#pragma once
#include <csignal>
#include <memory>
#include <string>

#include "compiler/base/result.h"
#include "runtime/kernel/kernel_link.h"
#include "runtime/kernel/module_files.h"

namespace dj {

// Returns the link to the module of this djtap's interface (DJTAP_ABI). Where none is loaded, loads
// the one that is installed (dkms), else the kept one, else builds and keeps one. A loaded module
// of another interface is exchanged if no session uses it. The module stays loaded. mask: the
// signals that are blocked in a compiler.
Result<std::unique_ptr<KernelLink>> open_kernel(const ModuleFiles& files, const sigset_t& mask);

// Fails if djtap is not root, or is root in a container only.
Status check_root(const ModuleFiles& files);

// Fails if the kernel takes no module, or not djtap's: it has no modules, loads no more of them, or
// is locked down.
Status check_takes_modules(const ModuleFiles& files);

// Whether a module of djtap's is loaded.
bool is_module_loaded(const ModuleFiles& files);

// Returns the path of the installed module, as depmod has listed it; empty: none is installed.
std::string installed_module(const ModuleFiles& files);

// Returns what it means that the kernel did not load the file `path`: `number` is the errno.
Error load_refusal(int number, const std::string& path, const ModuleFiles& files);

}  // namespace dj
