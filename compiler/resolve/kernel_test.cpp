// SPDX-License-Identifier: Apache-2.0
// Which target the points of a script mean, and what they mean in a kernel.
#include <gtest/gtest.h>

#include "compiler/debuginfo/victim_support.h"
#include "compiler/resolve/listing.h"
#include "compiler/resolve/meant_target.h"

namespace dj {
namespace {

using Argument = std::variant<std::monostate, int64_t, std::string>;

ast::ProbePoint point(const std::vector<std::pair<std::string, Argument>>& components,
                      bool optional = false) {
  ast::ProbePoint made;
  made.optional = optional;
  for (const auto& [name, argument] : components)
    made.components.push_back({name, {}, argument, {}});
  return made;
}
ast::ProbePoint of_kernel(const std::string& name, const std::string& suffix = "") {
  ast::ProbePoint made = point({{"kernel", {}}, {"function", name}});
  if (!suffix.empty()) made.components.push_back({suffix, {}, {}, {}});
  return made;
}
ast::ProbePoint of_process(bool optional = false) {
  return point({{"process", {}}, {"function", std::string("main")}}, optional);
}
ast::ProbePoint func(const std::string& name) { return point({{"func", name}}); }

// What the points mean: "kernel", "process", or the code of a mistake.
std::string meant(const std::vector<ast::ProbePoint>& points, bool has_process) {
  MeantTarget target(has_process);
  target.add(points);
  Diags diags;
  target.check(diags);
  return !diags.ok() ? diags.all().front().code : target.is_kernel() ? "kernel" : "process";
}

TEST(MeantTarget, IsWhatThePointsSay) {
  const ast::ProbePoint begin = point({{"begin", {}}});
  EXPECT_EQ(meant({begin}, false), "process");
  EXPECT_EQ(meant({begin, of_kernel("f")}, false), "kernel");
  EXPECT_EQ(meant({of_kernel("f")}, true), "kernel");
  EXPECT_EQ(meant({point({{"module", std::string("m")}, {"function", std::string("f")}})}, false),
            "kernel");
  EXPECT_EQ(meant({point({{"kprobe", {}}, {"function", std::string("f")}})}, false), "kernel");
  EXPECT_EQ(meant({func("f")}, false), "kernel");
  EXPECT_EQ(meant({func("f")}, true), "process");
  EXPECT_EQ(meant({func("libc.so.6!f")}, false), "process");
  EXPECT_EQ(meant({of_kernel("f"), of_process()}, true), "DJ3023");
  EXPECT_EQ(meant({of_kernel("f"), func("f")}, true), "DJ3023");
  EXPECT_EQ(meant({of_kernel("f"), func("f")}, false), "kernel");
}

TEST(MeantTarget, WhatMayBeMissingDecidesNothing) {
  ast::ProbePoint maybe = of_kernel("f");
  maybe.optional = true;
  EXPECT_EQ(meant({maybe}, false), "kernel");
  EXPECT_EQ(meant({maybe}, true), "process");
  EXPECT_EQ(meant({maybe, of_process()}, true), "process");
  EXPECT_EQ(meant({of_kernel("f"), of_process(true)}, true), "kernel");
  EXPECT_EQ(meant({maybe, of_process(true)}, true), "process");
}

TEST(MeantTarget, KnowsTheModules) {
  MeantTarget meant(false);
  meant.add({of_kernel("f"), of_kernel("jbd2!f"),
             point({{"module", std::string("ext*")}, {"function", std::string("f")}})});
  meant.add({point({{"module", std::string("snd-hda-*")}, {"function", std::string("f")}})});
  EXPECT_TRUE(meant.means_module("snd_hda_intel"));
  EXPECT_TRUE(meant.means_module("ext4"));
  EXPECT_TRUE(meant.means_module("jbd2"));
  EXPECT_FALSE(meant.means_module("xfs"));
}

const char* const kKernel = R"(asm(".text\n"
#define FUNCTION(name, begin) ".globl " name "\n.type " name ",@function\n" name ": " begin \
                              " mov %rdi,%rax\n add %rsi,%rax\n ret\n .size " name ",.-" name "\n"
  FUNCTION("vfs_read", ".byte 0x0f,0x1f,0x44,0,0;")
  FUNCTION("vfs_readv", "endbr64; .byte 0x0f,0x1f,0x44,0,0;")
  FUNCTION("vfs_raw", "")
  FUNCTION("_start", "")
  ".section __ksymtab_gpl,\"a\"\n .long vfs_readv - ., 0, 0\n");
)";

// A file with a kernel's addresses, under the kernel's name.
TargetFiles kernel_files() {
  static const Folder folder;
  static const std::string file =
      folder.build("gcc -nostdlib -static -Wl,-Ttext=0xffffffff81000000",
                   folder.file("kernel.c", kKernel), "kernel.elf");
  TargetFiles files;
  files.modules = {"kernel"};
  files.open_paths = {file};
  files.has_target = files.is_kernel = true;
  return files;
}

std::string listed(const ast::ProbePoint& wanted) {
  Diags diags;
  const std::string text = list({wanted}, kernel_files(), true, diags);
  return diags.ok() ? text : diags.all().front().code + ": " + diags.all().front().message;
}

TEST(Kernel, WildcardsMeanWhatTheKernelCanTrace) {
  EXPECT_EQ(listed(of_kernel("vfs_*")),
            "kernel.function(\"vfs_read\")\nkernel.function(\"vfs_readv\")\n");
  EXPECT_EQ(listed(of_kernel("vfs_raw")), "kernel.function(\"vfs_raw\")\n");
  EXPECT_EQ(listed(of_kernel("vfs_read", "return")), "kernel.function(\"vfs_read\").return\n");
  EXPECT_EQ(listed(of_kernel("vfs_read", "call")), "kernel.function(\"vfs_read\")\n");
  EXPECT_EQ(listed(func("vfs_read")), "kernel.function(\"vfs_read\")\n");
}

TEST(Kernel, ExportsWhatItsTablesName) {
  EXPECT_EQ(listed(of_kernel("vfs_*", "exported")), "kernel.function(\"vfs_readv\")\n");
  EXPECT_EQ(listed(of_kernel("vfs_read", "exported")),
            "DJ3018: vfs_read is not exported (not by EXPORT_SYMBOL)");
}

TEST(Kernel, SaysWhatItHasNot) {
  EXPECT_EQ(listed(of_kernel("vfs_raed")), "DJ3004: no function matches \"vfs_raed\" in kernel");
  EXPECT_EQ(listed(point({{"module", std::string("ext4")}, {"function", std::string("f")}})),
            "DJ3005: the kernel has no module \"ext4\" loaded");
  EXPECT_EQ(listed(of_kernel("vfs_read", "inline")).substr(0, 6), "DJ3003");
}

TEST(Kernel, PointsOfItAreNothingInAProcess) {
  static const Folder folder;
  TargetFiles files;
  files.modules = {folder.build("gcc", folder.file("t.c", "int main(void) { return 0; }"), "t")};
  files.has_target = true;
  ast::ProbePoint maybe = of_kernel("main");
  maybe.optional = true;
  Diags diags;
  EXPECT_EQ(list({maybe}, files, false, diags), "");
  EXPECT_TRUE(diags.ok());
}

TEST(Kernel, AProcessWithoutTheFunctionIsToldOfTheKernels) {
  static const Folder folder;
  TargetFiles files;
  files.modules = {folder.build("gcc", folder.file("t.c", "int main(void) { return 0; }"), "t")};
  files.has_target = true;
  files.is_in_kernel = [](const std::string& name) { return name == "vfs_read"; };
  Diags diags;
  list({func("vfs_read"), func("vfs_raed")}, files, false, diags);
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(diags.all()[0].help, "the kernel has it: kernel.function(\"vfs_read\")");
  EXPECT_EQ(diags.all()[1].help.find("kernel"), std::string::npos);
}

}  // namespace
}  // namespace dj
