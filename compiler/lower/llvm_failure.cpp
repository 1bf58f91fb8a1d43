// SPDX-License-Identifier: Apache-2.0
// The handler throws through LLVM, which is compiled without exceptions: nobody there catches it,
// and no destructor runs.
#include "compiler/lower/llvm_failure.h"

#include <llvm/Support/ErrorHandling.h>

#include <string>

namespace dj::ir {
namespace {

struct Fatal {
  std::string reason;
};

void raise_fatal(void*, const char* reason, bool) { throw Fatal{reason}; }

// Of the process; only work within survive() can fail so.
void install_handler() {
  static const bool installed = [] {
    llvm::install_fatal_error_handler(raise_fatal);
    return true;
  }();
  static_cast<void>(installed);
}

}  // namespace

Status survive(const std::function<Status()>& work) {
  install_handler();
  try {
    return work();
  } catch (const Fatal& fatal) {
    return Error{"bug: LLVM gives up: " + fatal.reason};
  }
}

}  // namespace dj::ir
