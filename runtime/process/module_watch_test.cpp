// SPDX-License-Identifier: Apache-2.0
// What a watch and single questions say of this process is what its whole list of mappings says.
#include "runtime/process/module_watch.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

std::vector<std::string> names(const std::vector<MappedModule>& modules) {
  std::vector<std::string> all;
  for (const MappedModule& m : modules) {
    std::string text = m.path + " " + m.open_path + " " + std::to_string(m.begin) + " " +
                       std::to_string(m.end) + " " + std::to_string(m.bias);
    for (const AddressRange& range : m.text)
      text += " " + std::to_string(range.begin) + "-" + std::to_string(range.end);
    all.push_back(text + (m.is_executable_file ? " program" : "") + (m.partial ? " partial" : ""));
  }
  return all;
}

void expect_as_listed(ModuleWatch& watch) {
  const Result<bool> looked = watch.look();
  ASSERT_TRUE(looked.ok()) << looked.error().message;
  EXPECT_EQ(names(watch.modules()), names(mapped_modules(getpid()).value()));
}

constexpr char kFirst[] = "int twice(int n) { return 2 * n; }";
constexpr char kSecond[] = "int thrice(int n) { return 3 * n; }";

TEST(ModuleWatch, SeesWhatComesAndGoes) {
  const std::string first = compile_victim(kFirst, "-shared -fPIC");
  const std::string second = compile_victim(kSecond, "-shared -fPIC");
  ModuleWatch watch(getpid());
  expect_as_listed(watch);
  void* const one = dlopen(first.c_str(), RTLD_NOW);
  ASSERT_NE(one, nullptr);
  EXPECT_FALSE(watch.has_as_much_code());
  expect_as_listed(watch);
  EXPECT_TRUE(watch.has_as_much_code());
  EXPECT_FALSE(watch.look().value());
  void* const two = dlopen(second.c_str(), RTLD_NOW);
  ASSERT_NE(two, nullptr);
  expect_as_listed(watch);
  dlclose(one);
  expect_as_listed(watch);
  void* const again = dlopen(first.c_str(), RTLD_NOW);
  expect_as_listed(watch);
  dlclose(again);
  dlclose(two);
  expect_as_listed(watch);
}

TEST(ModuleWatch, OfNobodySaysWhy) {
  ModuleWatch watch(-1);
  EXPECT_FALSE(watch.look().ok());
}

// Objects that come one after the other are below each other; one that goes takes a look at all.
TEST(ModuleWatch, SeesWhatComesBelow) {
  if (!MapQuery::open(getpid())) GTEST_SKIP() << "the kernel has no PROCMAP_QUERY (Linux 6.11)";
  ModuleWatch watch(getpid());
  EXPECT_FALSE(watch.look_below());  // nothing is known
  expect_as_listed(watch);
  void* const first = dlopen(compile_victim(kFirst, "-shared -fPIC").c_str(), RTLD_NOW);
  expect_as_listed(watch);
  const std::string path = compile_victim(kSecond, "-shared -fPIC");
  void* const second = dlopen(path.c_str(), RTLD_NOW);
  const auto more = watch.look_below();
  ASSERT_TRUE(more);
  ASSERT_EQ(more->size(), 1u);
  EXPECT_EQ(more->front().path, path);
  EXPECT_EQ(names(watch.modules()), names(mapped_modules(getpid()).value()));
  EXPECT_FALSE(watch.look().value());
  EXPECT_FALSE(watch.look_below());  // nothing has come
  dlclose(first);
  EXPECT_FALSE(watch.look_below());
  dlclose(second);
  expect_as_listed(watch);
}

void expect_each_found(MapFinder finder) {
  const std::vector<Mapping> maps = read_maps(getpid()).value();
  for (const Mapping& m : maps) {
    if (m.path == "[vsyscall]" || m.path.empty() || m.path[0] == '[') continue;  // grow meanwhile
    for (const uint64_t address : {m.begin, m.end - 1}) {
      const std::optional<Mapping> found = finder.at(address).value();
      ASSERT_TRUE(found) << m.path;
      EXPECT_EQ(found->begin, m.begin);
      EXPECT_EQ(found->end, m.end);
      EXPECT_EQ(found->path, m.path);
      EXPECT_EQ(found->inode, m.inode);
      EXPECT_EQ(found->device, m.device);
      EXPECT_EQ(found->offset, m.offset);
      EXPECT_EQ(found->exec, m.exec);
      EXPECT_EQ(found->write, m.write);
    }
  }
  EXPECT_FALSE(finder.at(0x1000).value());
}

TEST(MapFinder, FindsEachMapping) { expect_each_found(MapFinder(getpid())); }

TEST(MapFinder, ReadsAllWhereTheKernelAnswersNoSingleQuestions) {
  expect_each_found(MapFinder(getpid(), std::nullopt));
}

TEST(MapQuery, ListsWhatIsExecutable) {
  const std::optional<MapQuery> query = MapQuery::open(getpid());
  if (!query) GTEST_SKIP() << "the kernel has no PROCMAP_QUERY (Linux 6.11)";
  const std::optional<std::vector<Mapping>> code = query->code_of_files();
  ASSERT_TRUE(code);
  size_t expected = 0;
  const std::vector<Mapping> all = read_maps(getpid()).take();
  for (const Mapping& m : all) expected += m.exec && m.inode != 0 ? 1 : 0;
  EXPECT_EQ(code->size(), expected);
}

}  // namespace
}  // namespace dj
