// SPDX-License-Identifier: Apache-2.0
// What libdjtap_lower.so exports.
#include <fmt/format.h>
#include <llvm-c/Core.h>

#include <memory>

#include "compiler/lower/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/stages/lowering.h"

namespace dj {
namespace {

std::shared_ptr<ir::Backend> make_backend() { return std::make_shared<ir::Backend>(); }

// Of the libLLVM that was loaded, which may be a later one than was compiled with.
std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace
}  // namespace dj

extern "C" {
extern const dj::Lowering dj_lowering;
const dj::Lowering dj_lowering = {DJTAP_VERSION,   dj::make_backend, dj::ir::lower,
                                  dj::link,        dj::link_bytes,   dj::link_host,
                                  dj::ir::warm_up, dj::llvm_version};
}
