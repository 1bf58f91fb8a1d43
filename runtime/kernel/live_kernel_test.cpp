// SPDX-License-Identifier: Apache-2.0
// The live kernel's file, made of a small kernel of the test; binutils are the judge.
#include "runtime/kernel/live_kernel.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/kernel/kernel_file.h"
#include "runtime/kernel/kernel_memory.h"
#include "runtime/kernel/kernel_symbols.h"
#include "runtime/kernel/small_kernel.h"

namespace dj {
namespace {

std::string file_of(const SmallKernel& kernel) {
  const Result<std::vector<uint8_t>> bytes = make_live_kernel(kernel.files());
  if (!bytes.ok()) {
    ADD_FAILURE() << bytes.error().message;
    return "";
  }
  std::ofstream out(kernel.path("kernel"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.value().data()),
            std::streamsize(bytes.value().size()));
  return kernel.path("kernel");
}

std::string why_not(const KernelFiles& files) {
  const Result<std::vector<uint8_t>> bytes = make_live_kernel(files);
  return bytes.ok() ? "" : bytes.error().message;
}

TEST(LiveKernel, HasTheFunctionsWithTheirSizes) {
  const SmallKernel kernel;
  // Value, size, binding, name, as readelf prints them.
  const std::string listed = output_of("readelf -sW " + file_of(kernel) +
                                       " | awk '$4 == \"FUNC\" {print $2, $3, $5, $8}'");
  EXPECT_EQ(listed,
            "ffffffff9a200060 7 LOCAL three.cold\n"
            "ffffffff9a200040 3 LOCAL two\n"
            "ffffffff9a200010 6 GLOBAL also_one\n"
            "ffffffff9a200010 6 GLOBAL one\n");
}

TEST(LiveKernel, HasTheBytesAtTheirAddresses) {
  const SmallKernel kernel;
  const std::string file = file_of(kernel);
  const auto section = [&](const std::string& name) {
    const std::string to = kernel.path("section");
    (void)!::system(("objcopy -O binary --only-section=" + name + " " + file + " " + to).c_str());
    std::ifstream in(to, std::ios::binary);
    return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
  };
  const auto of = [](const std::vector<uint8_t>& bytes, size_t begin, size_t end) {
    return std::vector<uint8_t>(bytes.begin() + ptrdiff_t(begin), bytes.begin() + ptrdiff_t(end));
  };
  EXPECT_EQ(section(".text"), of(kernel.text, 0, 0x800));
  EXPECT_EQ(section("__ex_table"), of(kernel.constants, 0x100, 0x118));
  EXPECT_EQ(section("__bug_table"), of(kernel.constants, 0x1800, 0x180c));
  const std::string addresses =
      output_of("readelf -SW " + file +
                " | grep -o '\\(\\.text\\|_table\\|.rodata\\) .*' | awk '{print $1, $3, $5}'");
  EXPECT_EQ(addresses,
            ".text ffffffff9a200000 000800\n"
            ".rodata ffffffff9a300000 000100\n"
            ".rodata ffffffff9a300118 0000e8\n"
            ".rodata ffffffff9a300f00 000100\n"
            "_table ffffffff9a300100 000018\n"
            "_table ffffffff9a301800 00000c\n");
  EXPECT_NE(output_of("readelf -n " + file).find("Build ID: 123456"), std::string::npos);
  EXPECT_EQ(output_of("readelf -a " + file + " 2>&1 >/dev/null"), "");  // no warnings
}

TEST(LiveKernel, SaysWhyThereIsNone) {
  SmallKernel kernel;
  KernelFiles files = kernel.files();
  files.symbols = kernel.path("none");
  EXPECT_EQ(why_not(files), "this kernel is built without " + kernel.path("none"));
  files = kernel.files();
  files.memory = kernel.path("none");
  EXPECT_EQ(why_not(files), "this kernel is built without " + kernel.path("none"));
  files = kernel.files();
  std::ofstream(files.memory) << std::string(100, 'x');
  EXPECT_EQ(why_not(files), files.memory + " is no core file of an x86-64 kernel");
  files = kernel.files();
  std::filesystem::resize_file(files.memory, 40);
  EXPECT_EQ(why_not(files), files.memory + " ends at offset 0x28");
  files = kernel.files();
  files.symbols = kernel.folder;
  EXPECT_EQ(why_not(files), "cannot read " + kernel.folder + ": Is a directory");
}

TEST(LiveKernel, SaysWhatTheListLacks) {
  SmallKernel hidden;
  hidden.symbols = "0000000000000000 T _stext\n0000000000000000 T _etext\n";
  const std::string list = hidden.files().symbols;
  EXPECT_EQ(why_not(hidden.files()), "the kernel hides its addresses in " + list +
                                         ": djtap needs root, and kernel.kptr_restrict below 2");
  hidden.symbols = "";
  EXPECT_EQ(why_not(hidden.files()), list + " names no symbol");
  hidden.symbols = "ffffffff9a200000 T\n";
  EXPECT_EQ(why_not(hidden.files()), list + " has a line that is no symbol: ffffffff9a200000 T");

  SmallKernel kernel;
  kernel.forget("__stop___bug_table");
  EXPECT_EQ(why_not(kernel.files()),
            kernel.files().symbols +
                " names no __stop___bug_table: the kernel is built without "
                "the names of its data (CONFIG_KALLSYMS_ALL)");
  kernel.forget("bug_table");  // a kernel without the table
  EXPECT_EQ(why_not(kernel.files()), "");
  kernel.forget("ex_table");
  EXPECT_NE(why_not(kernel.files()).find(" names no __start___ex_table: "), std::string::npos);

  SmallKernel turned;
  turned.symbols.replace(turned.symbols.find("9a200800 T _etext"), 8, "90000000");
  EXPECT_NE(why_not(turned.files()).find(" has _stext at 0xffffffff9a200000 and _etext at "),
            std::string::npos);
  SmallKernel far;
  far.symbols.replace(far.symbols.find("9a200800 T _etext"), 8, "9a2f0000");
  EXPECT_EQ(why_not(far.files()), far.files().memory + " has no memory at 0xffffffff9a200000");
}

TEST(LiveKernel, TellsRootsRightsFromTheKernelsOwn) {
  const Error denied = cannot_read("/proc/kcore", EACCES);
  EXPECT_EQ(denied.message, "only root may read the running kernel (/proc/kcore)");
  EXPECT_EQ(denied.kind, Fail::Permission);
  const Error locked = cannot_read("/proc/kcore", EPERM);
  EXPECT_EQ(locked.message,
            "the kernel is locked down and lets not even root read /proc/kcore "
            "(/sys/kernel/security/lockdown)");
  EXPECT_EQ(locked.kind, Fail::Permission);
  EXPECT_EQ(cannot_read("/x", ENOENT).kind, Fail::NotFound);
}

TEST(KernelSymbols, AreThoseOfTheKernelItself) {
  const SmallKernel kernel;
  const Result<KernelSymbols> symbols = KernelSymbols::read(kernel.files().symbols);
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(symbols.value().all().size(), 21u);
  EXPECT_EQ(symbols.value().bound("_etext"), 0xffffffff9a200800);
  EXPECT_EQ(symbols.value().bound("__noinstr_text_end"), 0xffffffff9a200080);
  EXPECT_FALSE(symbols.value().bound("one").has_value());
  for (const KernelSymbol& symbol : symbols.value().all())
    EXPECT_FALSE(symbol.name.starts_with("of_a_")) << symbol.name;
}

TEST(KernelMemory, ReadsWithinOneSegment) {
  const SmallKernel kernel;
  const Result<KernelMemory> memory = KernelMemory::open(kernel.files().memory);
  ASSERT_TRUE(memory.ok());
  std::vector<uint8_t> bytes(6);
  ASSERT_TRUE(memory.value().read(kText + 0x10, bytes).ok());
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0x0f, 0x1f, 0x44, 0, 0, 0xc3}));
  EXPECT_TRUE(memory.value().read(kText + 0xffa, bytes).ok());
  EXPECT_FALSE(memory.value().read(kText + 0xffb, bytes).ok());
  EXPECT_FALSE(memory.value().read(kText - 1, bytes).ok());
  EXPECT_FALSE(memory.value().read(~uint64_t{0}, bytes).ok());
}

}  // namespace
}  // namespace dj
