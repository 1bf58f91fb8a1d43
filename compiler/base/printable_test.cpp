// SPDX-License-Identifier: Apache-2.0
// What terminals obey becomes visible; what people write stays.
#include "compiler/base/printable.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

TEST(Printable, NamesStay) {
  for (const char* name :
       {"", "main", "std::vector<int, std::allocator<int>>::~vector()",
        "core::ptr::drop_in_place<T>", "r\xc3\xa9sum\xc3\xa9", "\xe5\x90\x8d\xe5\x89\x8d",
        "\xf0\x9f\xa6\x80", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf", "C:\\x1b"}) {
    EXPECT_EQ(printable(name), name);
    EXPECT_EQ(printable_lines(name), name);
  }
}

TEST(Printable, CommandsOfTerminalsAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\t\a\x7f"), "a\\x1b[31mb\\x0d\\x0a\\x09\\x07\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\x80\xc2\xa0"),
            "\\u009b31m\\u0080\xc2\xa0");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil\xe2\x81\xa9\xe2\x80\x8f\xe2\x80\xa8\xd8\x9c"),
            "\\u202eevil\\u2069\\u200f\\u2028\\u061c");
}

TEST(Printable, BytesThatAreNoCharacterAreEscaped) {
  EXPECT_EQ(printable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(printable("\xc0\x9b\xc1\xbf"), "\\xc0\\x9b\\xc1\\xbf");  // overlong
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");           // overlong, of C1
  EXPECT_EQ(printable("\xf0\x80\x80\x9b"), "\\xf0\\x80\\x80\\x9b");  // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  EXPECT_EQ(printable("\xe5\x90"), "\\xe5\\x90");                    // cut
  EXPECT_EQ(printable("\xe5\x1b[m"), "\\xe5\\x1b[m");                // hides none behind it
}

TEST(Printable, LinesKeepTheirEnds) {
  EXPECT_EQ(printable_lines("a\tb\n\x1b[2Jc\r\n"), "a\tb\n\\x1b[2Jc\\x0d\n");
  EXPECT_EQ(printable_line("{}: {}", "a\nb", 7), "a\\x0ab: 7\n");
}

TEST(Printable, OnceIsEnough) {
  for (const char* text : {"\x1b[m", "\\x1b", "\xc2\x9b\xff", "a\nb"}) {
    EXPECT_EQ(printable(printable(text)), printable(text));
  }
}

TEST(Printable, APieceOfAScriptIsOneLine) {
  EXPECT_EQ(unwrapped("func(\"a  b\"),\n    func(\"c\")"), "func(\"a  b\"), func(\"c\")");
  EXPECT_EQ(unwrapped("f(1,\r\n\n  2)"), "f(1, 2)");
  EXPECT_EQ(unwrapped("\nf()\n"), " f() ");
}

}  // namespace
}  // namespace dj
