// SPDX-License-Identifier: Apache-2.0
// -L of the kernel. gcc writes the same functions' types as DWARF, too, and a process's listing is
// the judge of a kernel's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "compiler/debuginfo/victim_support.h"
#include "compiler/resolve/listing.h"

namespace dj {
namespace {

const char* const kFunctions = R"(
struct file { int a; };
struct hidden;
typedef long loff_t;
typedef unsigned long size_t;
typedef int (*compare)(const void*, const void*);
typedef struct { int z; } nameless;
typedef int row[3];
enum color { RED, GREEN };
union either { int a; long b; };
struct holder { struct { int x; } *inner; };

long f_read(struct file *restrict file, char *buf, size_t count, loff_t *pos) { return file->a; }
int f_const(const char *a, char *const b, const char *const *c, const struct file *d) { return 0; }
void f_volatile(volatile int *a, const volatile char *b, int *volatile c) {}
void f_tagged(enum color a, union either *b, struct hidden *c, nameless d) {}
void f_calls(compare a, int (*b)(int, const char*), void (**c)(void), int (*(*d)(int))(char)) {}
void f_arrays(int a[3][4], row *b, row c[2], const char (*d)[8], struct file *(*e)[5]) {}
int f_varies(const char *format, ...) { return 0; }
void f_varies_inside(int (*a)(const char *, ...)) {}
const struct file *f_pointer(void) { return 0; }
compare f_typedef(_Bool a, unsigned char b, signed char c, short d, long long e, __int128 g) { return 0; }
void *f_void(void *a, const void *b) { return a; }
enum color f_enum(void) { return RED; }
static __attribute__((noinline, used)) int f_static(unsigned a) { return a; }
void f_nothing(void) {}
struct file f_struct(struct file a, union either b) { return a; }
void _start(void) { f_static(1); }
)";
const std::vector<std::string> kNames = {"f_read",    "f_const",   "f_volatile", "f_tagged",
                                         "f_calls",   "f_arrays",  "f_varies",   "f_varies_inside",
                                         "f_pointer", "f_typedef", "f_void",     "f_enum",
                                         "f_static",  "f_nothing", "f_struct"};

// A kernel's file, and its types in a folder as /sys/kernel/btf is one.
struct SmallKernel {
  Folder folder;
  TargetFiles files;

  explicit SmallKernel(const std::string& source) {
    const std::string path = folder.build(
        "gcc -gbtf -O1 -fno-pie -nostdlib -static -mcmodel=kernel -Wl,-Ttext=0xffffffff81000000 "
        "-Wl,--build-id=none",
        folder.file("kernel.c", source), "kernel.elf");
    std::filesystem::create_directory(types());
    output_of("objcopy -O binary --only-section=.BTF --set-section-flags .BTF=alloc " + path + " " +
              types() + "/vmlinux 2>&1");
    files.modules = {"kernel"};
    files.open_paths = {path};
    files.has_target = files.is_kernel = true;
    files.kernel_types = types();
  }
  std::string types() const { return folder.path + "/btf"; }
};

using Argument = std::variant<std::monostate, int64_t, std::string>;

ast::ProbePoint point(const std::vector<std::pair<std::string, Argument>>& components,
                      bool returns) {
  ast::ProbePoint made;
  for (const auto& [name, argument] : components)
    made.components.push_back({name, {}, argument, {}});
  if (returns) made.components.push_back({"return", {}, {}, {}});
  return made;
}
ast::ProbePoint of_kernel(const std::string& name, bool returns = false) {
  return point({{"kernel", {}}, {"function", name}}, returns);
}

// What is listed of one function behind its name.
std::string variables(const std::string& text) {
  std::string found = text.substr(0, text.find('\n'));
  found.erase(0, found.rfind("\")") + 2);
  return found.starts_with(".return") ? found.substr(7) : found;
}

TEST(KernelVariables, AreThoseOfDwarf) {
  SmallKernel kernel(kFunctions);
  const Folder folder;
  TargetFiles process;
  process.modules = {
      folder.build("gcc -g -O1 -nostdlib -static", folder.file("t.c", kFunctions), "t")};
  process.has_target = true;
  for (const bool returns : {false, true}) {
    for (const std::string& name : kNames) {
      Diags diags;
      const std::string expected = list({point({{"func", name}}, returns)}, process, true, diags);
      ASSERT_NE(expected, "") << name;
      EXPECT_EQ(variables(list({of_kernel(name, returns)}, kernel.files, true, diags)),
                variables(expected))
          << name;
      EXPECT_TRUE(diags.ok());
    }
  }
}

TEST(KernelVariables, StandInTheLinesOfFunctions) {
  SmallKernel kernel(kFunctions);
  Diags diags;
  EXPECT_EQ(list({of_kernel("f_read"), of_kernel("f_read", true)}, kernel.files, true, diags),
            "kernel.function(\"f_read\") $file:struct file* $buf:char* $count:size_t $pos:loff_t*\n"
            "kernel.function(\"f_read\").return $return:long int $file:struct file* $buf:char* "
            "$count:size_t $pos:loff_t*\n");
  EXPECT_EQ(list({of_kernel("f_read")}, kernel.files, false, diags),
            "kernel.function(\"f_read\")\n");
  EXPECT_TRUE(diags.all().empty());
}

TEST(KernelVariables, AreUnknownOfNamesThatSeveralFunctionsHave) {
  SmallKernel kernel(
      "int f(int a) { return a; }\n"
      "int g(int a) { return a; }\n"
      "void _start(void) {}\n"
      "asm(\".type f_too,@function\\nf_too: ret\\n.size f_too,.-f_too\\n\");");
  output_of("objcopy --redefine-sym f_too=f " + kernel.files.open_paths[0] + " 2>&1");
  forget_target_files();
  Diags diags;
  const std::string text = list({of_kernel("f"), of_kernel("g")}, kernel.files, true, diags);
  EXPECT_NE(text.find("(\"g\") $a:int\n"), std::string::npos) << text;
  const std::string of_f = text.substr(0, text.find("(\"g\")"));
  EXPECT_EQ(std::ranges::count(of_f, '\n'), 2);
  EXPECT_EQ(of_f.find('$'), std::string::npos) << text;
  EXPECT_TRUE(diags.all().empty());
}

TEST(KernelVariables, AreMissedAloud) {
  SmallKernel kernel(kFunctions);
  Diags known;
  list({of_kernel("_start"), of_kernel("f_void")}, kernel.files, true, known);
  EXPECT_TRUE(known.all().empty());
  kernel.files.kernel_types = "/nowhere";
  Diags diags;
  EXPECT_EQ(list({of_kernel("f_void")}, kernel.files, true, diags),
            "kernel.function(\"f_void\")\n");
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(diags.all()[0].code, "DJ3902");
  EXPECT_EQ(diags.all()[0].notes, std::vector<std::string>{"there is no /nowhere/vmlinux"});
  EXPECT_TRUE(diags.ok());
  Diags silent;
  list({of_kernel("f_void")}, kernel.files, false, silent);
  EXPECT_TRUE(silent.all().empty());
}

}  // namespace
}  // namespace dj
