// SPDX-License-Identifier: Apache-2.0
// Names of types, and prototypes from files that libbpf has written.
#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "compiler/btf/kernel_types.h"
#include "compiler/btf/type_name.h"

namespace dj {
namespace {

using Types = std::unique_ptr<btf, void (*)(btf*)>;
Types no_types() { return {btf__new_empty(), btf__free}; }

uint32_t add_int(btf* types, const char* name = "int") {
  return uint32_t(btf__add_int(types, name, 4, BTF_INT_SIGNED));
}
uint32_t pointer(btf* types, uint32_t to) { return uint32_t(btf__add_ptr(types, int(to))); }

struct Parameter {
  const char* name;
  uint32_t type;
};
uint32_t add_prototype(btf* types, uint32_t returns, const std::vector<Parameter>& parameters) {
  const int number = btf__add_func_proto(types, int(returns));
  for (const Parameter& p : parameters) btf__add_func_param(types, p.name, int(p.type));
  return uint32_t(number);
}
void add_function(btf* types, const char* name, uint32_t prototype) {
  btf__add_func(types, name, BTF_FUNC_GLOBAL, int(prototype));
}

// A folder of such files, as /sys/kernel/btf is one.
class TypeFiles : public testing::Test {
 protected:
  TypeFiles() {
    char name[] = "/tmp/djtap-btf-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~TypeFiles() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const btf* types) const {
    uint32_t size = 0;
    const auto* bytes = static_cast<const char*>(btf__raw_data(types, &size));
    write(name, std::string(bytes, size));
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name)) << bytes;
  }

  std::string folder_;
};

TEST(BtfTypeName, IsAsAPersonWritesIt) {
  const Types all = no_types();
  btf* t = all.get();
  const uint32_t number = add_int(t), constant = uint32_t(btf__add_const(t, int(number)));
  const uint32_t file = uint32_t(btf__add_struct(t, "file", 8));
  const auto name = [&](uint32_t type) { return btf_type_name(t, type); };
  EXPECT_EQ(name(0), "void");
  EXPECT_EQ(name(number), "int");
  EXPECT_EQ(name(constant), "const int");
  EXPECT_EQ(name(pointer(t, constant)), "const int*");
  EXPECT_EQ(name(btf__add_const(t, int(pointer(t, number)))), "int* const");
  EXPECT_EQ(name(btf__add_volatile(t, int(constant))), "volatile const int");
  EXPECT_EQ(name(btf__add_restrict(t, int(pointer(t, file)))), "struct file*");
  EXPECT_EQ(name(pointer(t, 0)), "void*");
  EXPECT_EQ(name(btf__add_const(t, 0)), "const void");
  EXPECT_EQ(name(btf__add_union(t, "u", 8)), "union u");
  EXPECT_EQ(name(btf__add_struct(t, "", 8)), "struct {...}");
  EXPECT_EQ(name(btf__add_enum(t, "color", 4)), "enum color");
  EXPECT_EQ(name(btf__add_enum64(t, "large", 8, false)), "enum large");
  EXPECT_EQ(name(btf__add_fwd(t, "hidden", BTF_FWD_STRUCT)), "struct hidden");
  EXPECT_EQ(name(btf__add_fwd(t, "hidden", BTF_FWD_UNION)), "union hidden");
  EXPECT_EQ(name(btf__add_fwd(t, "hidden", BTF_FWD_ENUM)), "enum hidden");
  EXPECT_EQ(name(btf__add_typedef(t, "size_t", int(number))), "size_t");
  EXPECT_EQ(name(btf__add_float(t, "double", 8)), "double");
}

TEST(BtfTypeName, HasDimensionsAndParameters) {
  const Types all = no_types();
  btf* t = all.get();
  const uint32_t number = add_int(t);
  const auto array = [&](uint32_t of, uint32_t count) {
    return uint32_t(btf__add_array(t, int(number), int(of), count));
  };
  const auto name = [&](uint32_t type) { return btf_type_name(t, type); };
  EXPECT_EQ(name(array(array(number, 4), 3)), "int[3][4]");
  EXPECT_EQ(name(pointer(t, array(number, 0))), "int[]*");
  const uint32_t takes = add_prototype(t, 0, {{"", number}, {"", pointer(t, number)}, {"", 0}});
  EXPECT_EQ(name(pointer(t, takes)), "void (*)(int, int*)");
  EXPECT_EQ(name(pointer(t, pointer(t, takes))), "void (*)(int, int*)*");
  EXPECT_EQ(name(takes), "void (int, int*)");
}

TEST(BtfTypeName, HasNoTagsOfClang) {
  const Types all = no_types();
  btf* t = all.get();
  const uint32_t number = add_int(t);
  const uint32_t user = uint32_t(btf__add_type_tag(t, "user", int(number)));
  const uint32_t takes = add_prototype(t, 0, {});
  const auto name = [&](uint32_t type) { return btf_type_name(t, type); };
  EXPECT_EQ(name(pointer(t, user)), "int*");
  EXPECT_EQ(name(pointer(t, uint32_t(btf__add_type_tag(t, "rcu", int(takes))))), "void (*)()");
  const uint32_t tagged = uint32_t(btf__add_type_tag(t, "rcu", int(pointer(t, number))));
  EXPECT_EQ(name(btf__add_const(t, int(tagged))), "int* const");
}

TEST(BtfTypeName, EndsWhereTypesLeadInACircle) {
  const Types all = no_types();
  btf* t = all.get();
  const auto itself = [&] { return int(btf__type_cnt(t)); };
  const int ring = btf__add_ptr(t, itself());
  EXPECT_TRUE(btf_type_name(t, uint32_t(ring)).starts_with("?*"));
  const int row = btf__add_array(t, itself(), itself(), 2);
  EXPECT_TRUE(btf_type_name(t, uint32_t(row)).starts_with("?[2]"));
  const int tag = btf__add_type_tag(t, "user", itself());
  EXPECT_EQ(btf_type_name(t, uint32_t(tag)), "?");
  EXPECT_EQ(btf_type_name(t, uint32_t(btf__add_ptr(t, tag))), "?*");
  EXPECT_EQ(btf_type_name(t, 1'000'000), "?");
}

TEST_F(TypeFiles, SayWhatFunctionsTakeAndReturn) {
  const Types all = no_types();
  const uint32_t number = add_int(all.get());
  const uint32_t text = pointer(all.get(), add_int(all.get(), "char"));
  add_function(all.get(), "print", add_prototype(all.get(), number, {{"format", text}, {"", 0}}));
  add_function(all.get(), "stop", add_prototype(all.get(), 0, {{"", number}}));
  add_function(all.get(), "", add_prototype(all.get(), 0, {{"x", number}}));
  write("vmlinux", all.get());
  const Result<BtfFile> file = BtfFile::read(this->file("vmlinux"));
  ASSERT_TRUE(file.ok()) << file.error().message;
  const std::optional<Prototype> print = file.value().prototype("print");
  ASSERT_TRUE(print);
  EXPECT_EQ(*print, (Prototype{{{"format", "char*"}}, "int"}));
  EXPECT_EQ(file.value().prototype("stop"), Prototype{});
  EXPECT_FALSE(file.value().prototype(""));
  EXPECT_FALSE(file.value().prototype("prin"));
}

TEST_F(TypeFiles, SayNothingOfFunctionsThatDiffer) {
  const Types all = no_types();
  const uint32_t number = add_int(all.get());
  add_function(all.get(), "same", add_prototype(all.get(), number, {{"x", number}}));
  add_function(all.get(), "same", add_prototype(all.get(), number, {{"x", number}}));
  add_function(all.get(), "other", add_prototype(all.get(), number, {{"x", number}}));
  add_function(all.get(), "other", add_prototype(all.get(), number, {{"y", number}}));
  write("vmlinux", all.get());
  const Result<BtfFile> file = BtfFile::read(this->file("vmlinux"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file.value().prototype("same"));
  EXPECT_FALSE(file.value().prototype("other"));
}

TEST_F(TypeFiles, OfAModuleGoOnFromTheKernels) {
  const Types kernel = no_types();
  const uint32_t file = uint32_t(btf__add_struct(kernel.get(), "file", 8));
  add_function(kernel.get(), "of_both", add_prototype(kernel.get(), 0, {{"of_kernel", file}}));
  add_function(kernel.get(), "of_kernel", add_prototype(kernel.get(), 0, {}));
  const Types module = {btf__new_empty_split(kernel.get()), btf__free};
  const uint32_t inode = uint32_t(btf__add_struct(module.get(), "ext4_inode", 8));
  const uint32_t takes = add_prototype(module.get(), pointer(module.get(), inode),
                                       {{"file", pointer(module.get(), file)}});
  add_function(module.get(), "open", takes);
  add_function(module.get(), "of_both", takes);
  write("vmlinux", kernel.get());
  write("ext4", module.get());

  KernelTypes types(folder_);
  const Prototype open = {{{"file", "struct file*"}}, "struct ext4_inode*"};
  EXPECT_EQ(types.prototype("kernel/ext4", "open"), open);
  EXPECT_EQ(types.prototype("kernel/ext4", "of_both"), open);
  EXPECT_FALSE(types.prototype("kernel/ext4", "of_kernel"));
  EXPECT_FALSE(types.prototype("kernel", "open"));
  EXPECT_EQ(types.prototype("kernel", "of_both"), (Prototype{{{"of_kernel", "struct file"}}, ""}));
  EXPECT_EQ(types.why_none("kernel"), "");
  EXPECT_FALSE(types.prototype("kernel/jbd2", "open"));
  EXPECT_EQ(types.why_none("kernel/jbd2"), "there is no " + this->file("jbd2"));
}

TEST_F(TypeFiles, SayWhyTheyAreNotRead) {
  EXPECT_EQ(BtfFile::read(file("vmlinux")).error().message, "there is no " + file("vmlinux"));
  EXPECT_EQ(KernelTypes(folder_).why_none("kernel/ext4"), "there is no " + file("vmlinux"));
  const Types all = no_types();
  add_function(all.get(), "f", add_prototype(all.get(), 0, {}));
  uint32_t size = 0;
  const auto* bytes = static_cast<const char*>(btf__raw_data(all.get(), &size));
  for (const std::string& text :
       {std::string("no types"), std::string(), std::string(bytes, size / 2)}) {
    write("vmlinux", text);
    const Result<BtfFile> read = BtfFile::read(file("vmlinux"));
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_TRUE(read.error().message.starts_with(file("vmlinux") + " is no BTF that libbpf "))
        << read.error().message;
  }
}

}  // namespace
}  // namespace dj
