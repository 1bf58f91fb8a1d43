// SPDX-License-Identifier: Apache-2.0
// Asks runtime/kernel, and waits for the compiler with ending signals held.
#include "runtime/run/kernel_build.h"

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/kernel/module_build.h"
#include "runtime/run/show.h"
#include "runtime/session/loop.h"

namespace dj {
namespace {

Result<std::string> build(const ModuleFiles& files, const std::string& output_path) {
  const HeldSignals held;
  if (output_path.empty() && geteuid() != 0)
    return Error{
        fmt::format("only root may keep the module in {}: run djtap as root, or name a "
                    "file (-o djtap.ko)",
                    files.kept)};
  DJ_TRY(const ModuleRecipe recipe, module_recipe(files));
  if (!output_path.empty()) {
    DJ_TRY_DO(build_module(recipe, output_path, held.before()));
    return output_path;
  }
  Result<std::string> kept = kept_module(recipe);
  if (kept.ok() || kept.error().kind != Fail::NotFound) return kept;
  return keep_module(recipe, held.before());
}

}  // namespace

int build_for_kernel(const KernelBuildChoices& choices, const std::string& output_path) {
  ModuleFiles files;
  files.release = choices.release;
  files.headers = choices.headers;
  Result<std::string> path = build(files, output_path);
  if (!path.ok()) return fail(kExitAttach, "DJ4007", path.error().message);
  return show(path.value() + "\n"), kExitOk;
}

}  // namespace dj
