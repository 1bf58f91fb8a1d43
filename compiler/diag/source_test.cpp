// SPDX-License-Identifier: Apache-2.0
// Offsets to lines: at the edges of lines and files.
#include "compiler/diag/source.h"

#include <gtest/gtest.h>

namespace dj {

TEST(Source, LinesAndColumnsAreOneBased) {
  Source source{"s", "ab\n\ncd"};
  auto at = [&](uint32_t offset) {
    LineCol found = source.line_col(offset);
    return std::pair(found.line, found.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(2), std::pair(1u, 3u));
  EXPECT_EQ(at(3), std::pair(2u, 1u));
  EXPECT_EQ(at(4), std::pair(3u, 1u));
  EXPECT_EQ(at(6), std::pair(3u, 3u));
  EXPECT_EQ(at(99), std::pair(3u, 3u));
}

TEST(Source, LineTextHasNoNewline) {
  Source source{"s", "ab\r\n\ncd"};
  EXPECT_EQ(source.line(1), "ab");
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(3), "cd");
  EXPECT_EQ(source.line(4), "");
}

TEST(Source, SpansNameTheirFile) {
  Sources sources;
  EXPECT_EQ(sources.add("a", "hello"), 0u);
  EXPECT_EQ(sources.add("b", "world"), 1u);
  EXPECT_EQ(sources.text({1, 1, 3}), "or");
}

}  // namespace dj
