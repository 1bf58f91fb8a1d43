// SPDX-License-Identifier: Apache-2.0
// What ends the process elsewhere is an error here, and the next work goes on.
#include "compiler/lower/llvm_failure.h"

#include <gtest/gtest.h>

// Of llvm/Support/ErrorHandling.h: tests see no headers of LLVM.
namespace llvm {
[[noreturn]] void report_fatal_error(const char* reason, bool gen_crash_diag);
}

namespace dj::ir {
namespace {

TEST(LlvmFailure, IsAnError) {
  for (int round = 0; round < 2; round++) {
    const Status failed =
        survive([]() -> Status { llvm::report_fatal_error("no fixpoint", false); });
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().message, "bug: LLVM gives up: no fixpoint");
    EXPECT_TRUE(survive([] { return ok_status(); }).ok());
  }
}

}  // namespace
}  // namespace dj::ir
