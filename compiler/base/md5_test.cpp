// SPDX-License-Identifier: Apache-2.0
// Sums that RFC 1321 gives, and those of each length by md5sum.
#include "compiler/base/md5.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace dj {
namespace {

std::string sum_of(const std::string& text) {
  return md5({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string by_md5sum(const std::string& text) {
  FILE* pipe = popen(("printf '" + text + "' | md5sum").c_str(), "r");
  char sum[33] = {};
  const size_t count = pipe != nullptr ? fread(sum, 1, 32, pipe) : 0;
  if (pipe != nullptr) pclose(pipe);
  return std::string(sum, count);
}

TEST(Md5, IsThatOfTheStandard) {
  EXPECT_EQ(sum_of(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(sum_of("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(sum_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
}

// Where the length fits into the last block, and where it needs another one.
TEST(Md5, IsThatOfMd5sumForEachLength) {
  for (size_t bytes : {1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000}) {
    const std::string text(bytes, 'x');
    EXPECT_EQ(sum_of(text), by_md5sum(text)) << bytes;
  }
}

}  // namespace
}  // namespace dj
