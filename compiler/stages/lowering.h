// SPDX-License-Identifier: Apache-2.0
// The functions of image.h as a shared object has them: compiler/lower is loaded while djtap does
// other things (runtime/run/lowering.h), because LLVM takes longer to load than a script to check.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/stages/image.h"

namespace dj {

namespace ir {
class Backend;  // compiler/lower/backend.h
}

// What libdjtap_lower.so exports as dj_lowering. Both sides are of one build; of files that were
// mixed up, `version` is all that is read.
struct Lowering {
  const char* version;  // own_version() of its build
  // Makes what all runs of `lower` share. It is cheap: the work is left to the first use. Destroy
  // it before djtap destroys its static objects.
  std::shared_ptr<ir::Backend> (*make_backend)();
  Result<Image> (*lower)(ir::Backend& backend, const Program& program, const Plan& plan,
                         const Layout& layout, const EmitOptions& options,
                         std::vector<HandlerAbi>& abis);
  decltype(&dj::link) link;
  decltype(&dj::link_bytes) link_bytes;
  decltype(&dj::link_host) link_host;
  void (*warm_up)(ir::Backend& backend);  // makes the first lower() cheaper; any thread
  std::string (*llvm_version)();
};
constexpr const char* kLoweringSymbol = "dj_lowering";

}  // namespace dj
