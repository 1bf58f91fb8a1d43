// SPDX-License-Identifier: Apache-2.0
// Asks each part for its version.
#include "runtime/run/versions.h"

#include <fmt/format.h>

#include "compiler/base/own_data.h"
#include "compiler/base/printable.h"
#include "compiler/debuginfo/libdw_version.h"
#include "runtime/patch/build_id.h"
#include "runtime/run/lowering.h"

namespace dj {

std::string versions() {
  const Result<std::string> llvm = llvm_version();
  const std::string id = build_id("/proc/self/exe");
  return fmt::format(
      "djtap {}\nLLVM {}\nlibdw {}\nbuild-id {}\n", own_version(),
      llvm.ok() ? llvm.value() : "cannot be told: " + printable(llvm.error().message),
      libdw_version(), id.empty() ? "none" : id);
}

}  // namespace dj
