// SPDX-License-Identifier: Apache-2.0
// Which bytes are a wrgsbase, by what the assembler makes of it.
#include "arch/x86_64/gs_base.h"

#include <gtest/gtest.h>

#include <vector>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

TEST(GsBase, EveryFormIsFoundWhereverItStands) {
  for (const char* code : {"wrgsbase %rax", "wrgsbase %r15", "wrgsbase %edi", "wrgsbase %r9d"}) {
    for (const size_t before : {0, 1, 4090, 4093, 4094, 4095, 4096, 9000}) {
      std::vector<uint8_t> text(before, 0x90);
      EXPECT_FALSE(has_wrgsbase(text));
      const auto bytes = test::assemble(code);
      text.insert(text.end(), bytes.begin(), bytes.end());
      EXPECT_TRUE(has_wrgsbase(text)) << code << " at " << before;
      text.pop_back();
      EXPECT_FALSE(has_wrgsbase(text)) << code << " cut, at " << before;
    }
  }
}

TEST(GsBase, ItsKinAreNot) {
  for (const char* code :
       {"rdgsbase %rax", "wrfsbase %rax", "stmxcsr (%rax)", "sfence", "mfence"}) {
    EXPECT_FALSE(has_wrgsbase(test::assemble(code))) << code;
  }
  EXPECT_FALSE(has_wrgsbase({}));
}

}  // namespace
}  // namespace dj::arch
