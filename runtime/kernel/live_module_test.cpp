// SPDX-License-Identifier: Apache-2.0
// The file of a kernel's module; binutils are the judge.
#include "runtime/kernel/live_module.h"

#include <gtest/gtest.h>

#include "compiler/debuginfo/text.h"
#include "runtime/kernel/small_kernel.h"

namespace dj {
namespace {

// Two functions, one of which jumps into the kernel; tables; text of the start, which is gone.
struct WithModule : SmallKernel {
  WithModule() {
    std::fill(module.begin() + 0x10, module.begin() + 0x50, 0xcc);
    put(0x10, {0x0f, 0x1f, 0x44, 0, 0, 0xc3, 0xcc, 0xcc});
    put(0x20, {0xe9});  // jmp one
    put_distance(0x21, kText + 0x10 - 4);
    put(0x28, {0xe9, 0x10, 0, 0, 0, 0, 0, 0});        // jmp, and zeros up to the next section
    put(0x40, {0xe9, 0, 0, 0, 0, 0x0f, 0xb9, 0xcc});  // a static call's trampoline: jmp outside
    put_distance(0x41, kModule + 0x100000 - 4);
    put(0x50, {0x0f, 0x84});  // je to a label that is no function
    put_distance(0x52, kText + 0x14 - 4);
    put(0x56, {0xc3});
    put_distance(0x1100, kModule + 0x10);  // __bug_table
    symbols +=
        "ffffffffc0001010 t first\t[fs_x]\n"
        "ffffffffc0001020 T second\t[fs_x]\n"
        "ffffffffc0001028 t fourth\t[fs_x]\n"
        "ffffffffc0001040 t __SCT__x\t[fs_x]\n"
        "ffffffffc0001050 t third\t[fs_x]\n"
        "ffffffffc0002010 d datum\t[fs_x]\n"
        "ffffffffc0101000 t of_another\t[another]\n";
    sections = {{".text", "0xffffffffc0001010"},       {".text.unlikely", "0xffffffffc0001030"},
                {".exit.text", "0xffffffffc0001050"},  {".data", "0xffffffffc0002000"},
                {"__bug_table", "0xffffffffc0002100"}, {".rodata", "0xffffffffc0002110"},
                {".init.text", "0xffffffffc0009000"},  {".static_call.text", "0xffffffffc0001040"}};
  }
  void put(size_t at, std::initializer_list<uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), module.begin() + ptrdiff_t(at));
  }
  // The distance from itself to an address.
  void put_distance(size_t at, uint64_t address) {
    const auto distance = uint32_t(address - (kModule + at));
    memcpy(&module[at], &distance, sizeof distance);
  }
  std::string file(const std::string& name = "fs-x") const {
    const Result<LiveKernel> live = LiveKernel::open(files());
    if (!live.ok()) return live.error().message;
    const Result<std::vector<uint8_t>> bytes = live.value().module(name);
    if (!bytes.ok()) return bytes.error().message;
    std::ofstream(path("module"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.value().data()),
               std::streamsize(bytes.value().size()));
    return path("module");
  }
};

TEST(LiveModule, HasItsFunctionsAndThoseThatItJumpsTo) {
  const WithModule kernel;
  const std::string listed = output_of("readelf -sW " + kernel.file() +
                                       " | awk '$4 == \"FUNC\" {print $2, $3, $5, $7, $8}'");
  EXPECT_EQ(listed,
            "ffffffffc0001050 7 LOCAL 1 third\n"
            "ffffffffc0001040 8 LOCAL 1 __SCT__x\n"
            "ffffffffc0001028 5 LOCAL 1 fourth\n"
            "ffffffffc0001010 6 LOCAL 1 first\n"
            "ffffffffc0001020 5 GLOBAL 1 second\n"
            "ffffffff9a200010 0 GLOBAL ABS one\n"
            "ffffffff9a200010 0 GLOBAL ABS also_one\n"
            "ffffffffc0101000 0 GLOBAL ABS of_another\n");
}

TEST(LiveModule, EndsWhereTheNextSectionBegins) {
  const WithModule kernel;
  const std::string sections = output_of(
      "readelf -SW " + kernel.file() +
      " | grep -o '\\(\\.text\\|__bug_table\\|\\.rodata\\) .*' | awk '{print $1, $3, $5}'");
  EXPECT_EQ(sections,
            ".text ffffffffc0001010 000047\n"
            "__bug_table ffffffffc0002100 000010\n"
            ".rodata ffffffffc0002110 000ef0\n");
  EXPECT_EQ(output_of("readelf -lW " + kernel.file() + " | awk '$1 == \"LOAD\" {print $3, $5}'"),
            "0xffffffffc0001010 0x000047\n");
  EXPECT_NE(output_of("readelf -n " + kernel.file()).find("Build ID: 123456"), std::string::npos);
  EXPECT_EQ(output_of("readelf -a " + kernel.file() + " 2>&1 >/dev/null"), "");  // no warnings
}

TEST(LiveModule, MayHaveNoBuildId) {
  const WithModule kernel;
  const KernelFiles files = kernel.files();
  std::filesystem::remove_all(kernel.path("modules/fs_x/notes"));
  const Result<LiveKernel> live = LiveKernel::open(files);
  ASSERT_TRUE(live.ok());
  const Result<std::vector<uint8_t>> bytes = live.value().module("fs_x");
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  std::ofstream(kernel.path("module"), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.value().data()),
             std::streamsize(bytes.value().size()));
  EXPECT_TRUE(read_text(kernel.path("module")).ok());
  EXPECT_EQ(output_of("readelf -a " + kernel.path("module") + " 2>&1 >/dev/null"), "");
}

TEST(LiveModule, IsNotFoundWithoutText) {
  WithModule kernel;
  kernel.sections = {{".data", "0xffffffffc0002000"}};
  const Result<LiveKernel> live = LiveKernel::open(kernel.files());
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(live.value().module("fs_x").error().kind, Fail::NotFound);
}

TEST(LiveModule, IsTextForTheChecks) {
  const WithModule kernel;
  const Result<arch::ModuleText> text = read_text(kernel.file());
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text.value().functions_outside,
            (std::vector<uint64_t>{kText + 0x10, kText + 0x10, kModule + 0x100000}));
  ASSERT_EQ(text.value().fixed.size(), 1u);
  EXPECT_EQ(text.value().fixed[0].begin, kModule + 0x10);
  EXPECT_TRUE(text.value().code_space.has_value());
}

TEST(LiveModule, SaysWhyThereIsNone) {
  WithModule kernel;
  EXPECT_EQ(kernel.file("nothing"), "the kernel has loaded no module nothing");
  EXPECT_EQ(kernel.file("young"), "the kernel has loaded no module young");  // not yet
  kernel.sections = {{".text", "hidden"}};
  EXPECT_NE(kernel.file().find("/.text holds no address"), std::string::npos);
  std::filesystem::remove_all(kernel.path("modules"));
  kernel.sections = {{".data", "0xffffffffc0002000"}};
  EXPECT_NE(kernel.file().find("/fs_x has no text"), std::string::npos);
  std::filesystem::remove_all(kernel.path("modules"));
  kernel.sections = {{".text", "0xffffffffc0900000"}};
  EXPECT_NE(kernel.file().find("has no memory at 0xffffffffc0900000"), std::string::npos);
  std::filesystem::remove_all(kernel.path("modules"));
  kernel.sections = {{".text", "0xffffffffc0001010"}, {".exit.text", "0xffffffffe0001010"}};
  EXPECT_NE(kernel.file().find("has text from 0xffffffffc0001010 to "), std::string::npos);
  std::filesystem::remove_all(kernel.path("modules"));
  kernel.sections = {};
  EXPECT_EQ(kernel.file(), "this kernel is built without " + kernel.path("modules/fs_x/sections"));
}

TEST(LiveModule, ListsThoseThatHaveStarted) {
  const SmallKernel kernel;
  const Result<LiveKernel> live = LiveKernel::open(kernel.files());
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(live.value().modules().value(), std::vector<std::string>{"fs_x"});
}

}  // namespace
}  // namespace dj
