// SPDX-License-Identifier: Apache-2.0
// djtap's kernel module as a file: built of the sources that come with djtap, by the compiler and
// with the headers of a kernel, and kept for later sessions. Each failure is one sentence that says
// the way out.
#pragma once
#include <csignal>
#include <string>

#include "compiler/base/result.h"
#include "runtime/kernel/module_files.h"

namespace dj {

// ModuleRecipe: what a module is made of, for one kernel.
struct ModuleRecipe {
  std::string release;   // of the kernel
  std::string headers;   // their folder
  std::string sources;   // the folder of djtap's own
  std::string compiler;  // the one that the kernel was compiled by: gcc-12
  std::string folder;    // where the built module is kept: KEPT/RELEASE-HASH

  // The kept file. The hash is of the sources and of what the headers say of the kernel.
  std::string kept() const { return folder + "/djtap.ko"; }
};

// Returns the recipe for the kernel of `files`. Fails if sources or headers are missing, the
// headers are another kernel's, or the kernel lacks what a module or this one needs.
Result<ModuleRecipe> module_recipe(const ModuleFiles& files);

// Fails if make or the recipe's compiler is missing.
Status check_tools(const ModuleRecipe& recipe);

// Returns the path of the kept module. Fail::NotFound: none is kept. Other failures: one is there
// that others could have written.
Result<std::string> kept_module(const ModuleRecipe& recipe);

// Builds the module and keeps it, in place of those that were kept for this kernel before. Returns
// its path. mask: the signals that are blocked in the compiler. A failure leaves the compiler's
// words in build.log beside the kept folders, and nothing else.
Result<std::string> keep_module(const ModuleRecipe& recipe, const sigset_t& mask);

// Builds the module and writes it to the file `to`; needs no rights. A failure leaves TO.log.
Status build_module(const ModuleRecipe& recipe, const std::string& to, const sigset_t& mask);

// Opens the file for reading if djtap's user or root alone can have written it and the folders of
// its path (own_folder.h). Returns the descriptor, which is the caller's to close. Fail::NotFound:
// it is not there.
Result<int> open_own_file(const std::string& path);

}  // namespace dj
