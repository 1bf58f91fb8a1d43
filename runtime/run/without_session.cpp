// SPDX-License-Identifier: Apache-2.0
// Prints what the room below answers.
#include "runtime/run/without_session.h"

#include "compiler/base/object_point.h"
#include "compiler/debuginfo/text.h"
#include "runtime/kernel/running_kernel.h"
#include "runtime/patch/coverage.h"
#include "runtime/run/show.h"

namespace dj {

namespace {

int show_kernel_coverage() {
  const Result<std::vector<MappedModule>> kernel =
      running_kernel([](const std::string&) { return false; });
  if (!kernel.ok()) return fail_attach(kernel.error());
  return print_result(
      coverage_table(kernel.value().front().open_path, std::string(kKernelPath), read_text),
      fail_attach);
}

}  // namespace

int show_coverage(const std::string& path) {
  if (path == kKernelPath) return show_kernel_coverage();
  return print_result(coverage_table(path, path, read_text), [](const Error& error) {
    return fail(kExitScript, "DJ3005", error.message);
  });
}

}  // namespace dj
