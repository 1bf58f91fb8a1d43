// SPDX-License-Identifier: Apache-2.0
// What libdjtap_lower.so exports.
#include <fmt/format.h>
#include <llvm-c/Core.h>

#include "compiler/lower/emit.h"
#include "compiler/stages/lowering.h"

namespace dj {
namespace {

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
const dj::Lowering dj_lowering = {DJTAP_VERSION, dj::lower,       dj::link,        dj::link_bytes,
                                  dj::link_host, dj::ir::warm_up, dj::llvm_version};
}
