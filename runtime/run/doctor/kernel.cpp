// SPDX-License-Identifier: Apache-2.0
// Asks what a session on the kernel asks first, and looks for the module where it would look.
#include "runtime/run/doctor/kernel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "runtime/kernel/live_kernel.h"
#include "runtime/kernel/module_build.h"
#include "runtime/kernel/module_load.h"

namespace dj {
namespace {

// The message names the way out itself.
Verdicts note(const Error& error) { return {{Health::Note, error.message}}; }

Verdicts look_at_root(ModuleFiles& files) {
  const Status root = check_root(files);
  return root.ok() ? Verdicts{{Health::Ok, "djtap may probe the kernel"}} : note(root.error());
}

Verdicts look_at_loading(ModuleFiles& files) {
  const Status taken = check_takes_modules(files);
  if (!taken.ok()) return note(taken.error());
  return {{Health::Ok, "the kernel takes modules, and is not locked down"}};
}

Verdicts look_at_headers(ModuleFiles& files) {
  const Result<ModuleRecipe> recipe = module_recipe(files);
  if (!recipe.ok()) return note(recipe.error());
  return {{Health::Ok, fmt::format("{}, for {}", recipe.value().headers, recipe.value().compiler)}};
}

Verdicts look_at_module(ModuleFiles& files) {
  if (is_module_loaded(files)) return {{Health::Ok, "djtap's module is loaded"}};
  const std::string installed = installed_module(files);
  if (!installed.empty()) return {{Health::Ok, installed + " is installed"}};
  const Result<ModuleRecipe> recipe = module_recipe(files);
  if (!recipe.ok())
    return {{Health::Note, "none is there, and it cannot be built without headers"}};
  const Result<std::string> kept = kept_module(recipe.value());
  if (kept.ok()) return {{Health::Ok, kept.value() + " is kept"}};
  if (kept.error().kind != Fail::NotFound && kept.error().kind != Fail::Permission)
    return note(kept.error());
  const Status tools = check_tools(recipe.value());
  if (!tools.ok()) return note(tools.error());
  return {{Health::Ok, "the first session on the kernel builds it, or: djtap kernel-build"}};
}

// Those who may not see addresses read 0. Variables of each CPU, which come first, begin at 0.
Verdicts look_at_symbols(ModuleFiles&) {
  constexpr int kEnough = 10'000;
  const std::string path = KernelFiles().symbols;
  std::ifstream file(path);
  std::string line;
  for (int i = 0; i < kEnough && std::getline(file, line); ++i) {
    if (line.find_first_not_of('0') < line.find(' '))
      return {{Health::Ok, path + " tells where functions are"}};
  }
  return {{Health::Note, path + " does not tell where functions are",
           "as root; or there: sysctl kernel.kptr_restrict=1"}};
}

Verdicts look_at_memory(ModuleFiles&) {
  const std::string path = KernelFiles().memory;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char head[4] = {};
  const bool readable = fd >= 0 && read(fd, head, sizeof head) == sizeof head;
  if (fd >= 0) close(fd);
  if (readable) return {{Health::Ok, path + " shows the kernel's text"}};
  return {{Health::Note, path + " cannot be read",
           "as root, in a kernel that has it (CONFIG_PROC_KCORE) and is not locked down"}};
}

constexpr Row<ModuleFiles> kOfKernel[] = {
    {"kernel probes", look_at_root, ""},     {"kernel modules", look_at_loading, ""},
    {"kernel headers", look_at_headers, ""}, {"kernel module", look_at_module, ""},
    {"kernel symbols", look_at_symbols, ""}, {"kernel text", look_at_memory, ""},
};

}  // namespace

void examine_kernel(Findings& findings) {
  ModuleFiles files;
  for (const Row<ModuleFiles>& row : kOfKernel) examine(row, files, findings);
}

}  // namespace dj
