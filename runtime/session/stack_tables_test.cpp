// SPDX-License-Identifier: Apache-2.0
// The tables of a session whose objects come and go: what a handler finds at an address.
#include "runtime/session/stack_tables.h"

#include <gtest/gtest.h>

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;

MappedModule module_at(const std::string& path, uint64_t begin, uint64_t pages = 4) {
  MappedModule module;
  module.path = path;  // no such file: the path alone tells it from others
  module.open_path = path;
  module.bias = module.begin = begin;
  module.end = begin + pages * kPage;
  return module;
}

// One symbol, of the file's name, from the first byte on.
Result<StackInfo> read_module(const std::string& path) {
  if (path == "unreadable") return Error{"no"};
  StackInfo info;
  info.rules.push_back({});
  info.symbols.push_back({0, 0, path == "huge" ? std::string(65 << 20, 'x') : path});
  return info;
}

class Tables {
 public:
  explicit Tables(const std::vector<MappedModule>& modules)
      : Tables(StackTables(modules, read_module, 64, true)) {}
  explicit Tables(StackTables tables) : tables_(std::move(tables)), memory_(tables_.room()) {
    std::copy(tables_.bytes().begin(), tables_.bytes().end(), memory_.begin());
  }
  Status follow(const std::vector<MappedModule>& now) { return tables_.follow(now, memory_); }
  bool name_made_code(const std::map<uint64_t, JitFunction>& functions) {
    return tables_.name_made_code(functions, "map", memory_);
  }
  void add_elsewhere(const std::vector<MappedModule>& modules) { tables_.add_elsewhere(modules); }
  Status name_elsewhere() { return tables_.name_elsewhere(memory_); }
  // The same files elsewhere, of another process.
  Tables moved_to(const std::vector<MappedModule>& modules) const {
    return Tables(tables_.moved_to(modules));
  }
  // The name that is found there; empty: none.
  std::string name(uint64_t address, uint32_t unwanted) const {
    const auto* tables = reinterpret_cast<const abi::StackTables*>(memory_.data());
    const abi::StackModule module = abi::find_stack_module(tables, address, unwanted);
    if (module.symbol_count == 0) return "";
    const auto* rows = abi::in_tables<abi::SymbolRow>(tables, module.symbols);
    const auto* row = abi::last_row(rows, module.symbol_count, address - module.origin);
    if (row == nullptr || (row->size != 0 && address - module.origin - row->at >= row->size)) {
      return "";
    }
    const auto* text = abi::in_tables<abi::Str>(tables, row->name);
    return {text->data, text->len};
  }
  // As walks find it, a handler in the target to whom it is given, one of djtap's own.
  std::vector<std::string> names(uint64_t address) const {
    return {name(address, abi::kModuleGone), name(address, 0), name(address, abi::kModuleShared)};
  }

 private:
  StackTables tables_;
  std::vector<uint8_t> memory_;
};

using Names = std::vector<std::string>;
const MappedModule kProgram = module_at("program", 0x10000);
constexpr uint64_t kAt = 0x40000;

TEST(StackTables, ModulesThatComeAreFound) {
  Tables tables({kProgram});
  EXPECT_EQ(tables.names(kAt), Names({"", "", ""}));
  ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt)}).ok());
  EXPECT_EQ(tables.names(kAt), Names({"a", "a", "a"}));
  EXPECT_EQ(tables.names(kAt + 4 * kPage), Names({"", "", ""}));
  EXPECT_EQ(tables.names(kProgram.begin), Names({"program", "program", "program"}));
}

TEST(StackTables, WhatIsGoneIsNamedButNotWalked) {
  Tables tables({kProgram, module_at("a", kAt)});
  ASSERT_TRUE(tables.follow({kProgram}).ok());
  EXPECT_EQ(tables.names(kAt), Names({"", "a", "a"}));
}

TEST(StackTables, TheSameFileAtTheSamePlaceIsWhatItWas) {
  Tables tables({kProgram});
  for (int i = 0; i < 5000; i++) {
    ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt)}).ok());
    EXPECT_EQ(tables.names(kAt), Names({"a", "a", "a"}));
    ASSERT_TRUE(tables.follow({kProgram}).ok());
  }
}

TEST(StackTables, WhereTwoFilesHaveBeenOnlyTheOneThatIsThereIsNamed) {
  Tables tables({kProgram});
  ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt, 8)}).ok());
  ASSERT_TRUE(tables.follow({kProgram}).ok());
  ASSERT_TRUE(tables.follow({kProgram, module_at("b", kAt + kPage)}).ok());
  EXPECT_EQ(tables.names(kAt + kPage), Names({"b", "b", ""}));
  EXPECT_EQ(tables.names(kAt), Names({"", "", ""}));  // nothing, rather than half of a module
  ASSERT_TRUE(tables.follow({kProgram}).ok());
  EXPECT_EQ(tables.names(kAt + kPage), Names({"", "", ""}));
  ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt, 8)}).ok());
  EXPECT_EQ(tables.names(kAt + kPage), Names({"a", "a", ""}));
}

TEST(StackTables, WhatCannotBeReadCoversWhatWasThere) {
  Tables tables({kProgram, module_at("a", kAt)});
  ASSERT_TRUE(tables.follow({kProgram}).ok());
  ASSERT_TRUE(tables.follow({kProgram, module_at("unreadable", kAt)}).ok());
  EXPECT_EQ(tables.names(kAt), Names({"", "", ""}));
}

TEST(StackTables, WhatThereIsNoRoomForIsSaid) {
  Tables tables({kProgram});
  const Status done = tables.follow({kProgram, module_at("huge", kAt), module_at("b", 2 * kAt)});
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message,
            "the call frames and names of huge need more than the 64 MB that there are for objects "
            "that come later; attach with -p when it is open");
  EXPECT_EQ(tables.names(kAt), Names({"", "", ""}));
  EXPECT_EQ(tables.names(2 * kAt), Names({"b", "b", "b"}));
}

TEST(StackTables, CodeThatTheProgramMakesIsNamed) {
  Tables tables({kProgram, module_at("unreadable", 2 * kAt)});
  const uint64_t far = uint64_t{1} << 40;
  for (int round = 0; round < 3; round++) {
    const std::string name = "f" + std::to_string(round);
    EXPECT_TRUE(tables.name_made_code({{kProgram.begin, {kProgram.begin + 16, "lie"}},
                                       {kAt, {kAt + 16, name}},
                                       {kAt + 32, {kAt + 48, "next"}},
                                       {2 * kAt, {2 * kAt + 16, "in a file of no use"}},
                                       {far, {far + 16, "far"}}}));
    EXPECT_EQ(tables.names(kAt + 15), Names({name, name, name}));
    EXPECT_EQ(tables.names(kAt + 16), Names({"", "", ""}));
    EXPECT_EQ(tables.names(kAt + 32), Names({"next", "next", "next"}));
    EXPECT_EQ(tables.names(2 * kAt)[0], "in a file of no use");
    EXPECT_EQ(tables.names(far)[0], "far");
    EXPECT_EQ(tables.names(kProgram.begin)[0], "program");
  }
  // An object comes where it was, and goes; then there is code again.
  ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt)}).ok());
  EXPECT_EQ(tables.names(kAt), Names({"a", "a", "a"}));
  EXPECT_TRUE(tables.name_made_code({{kAt, {kAt + 16, "lie"}}}));
  EXPECT_EQ(tables.names(kAt), Names({"a", "a", "a"}));
  ASSERT_TRUE(tables.follow({kProgram}).ok());
  EXPECT_TRUE(tables.name_made_code({{kAt, {kAt + 16, "g"}}}));
  EXPECT_EQ(tables.names(kAt), Names({"g", "g", "g"}));
  EXPECT_TRUE(tables.name_made_code({}));
  EXPECT_EQ(tables.names(kAt), Names({"", "a", "a"}));
}

TEST(StackTables, CodeThatTheProgramMakesHasItsRoom) {
  Tables tables({kProgram});
  std::map<uint64_t, JitFunction> functions;
  for (uint64_t i = 0; i < 2000; i++)  // each far from the next
    functions[kAt + (i << 24)] = {kAt + (i << 24) + 16, "f"};
  EXPECT_FALSE(tables.name_made_code(functions));
  EXPECT_EQ(tables.names(kAt)[0], "f");
  EXPECT_EQ(tables.names(kAt + (1023ull << 24))[0], "f");
  EXPECT_EQ(tables.names(kAt + (1024ull << 24))[0], "");
  functions.clear();
  for (uint64_t i = 0; i < 20'000; i++)
    functions[kAt + i * 16] = {kAt + i * 16 + 16, std::string(1000, 'n') + std::to_string(i)};
  EXPECT_FALSE(tables.name_made_code(functions));
  EXPECT_EQ(tables.names(kAt)[0], std::string(1000, 'n') + "0");
  EXPECT_TRUE(tables.follow({kProgram, module_at("a", kAt << 20)}).ok());
  EXPECT_EQ(tables.names(kAt << 20)[0], "a");
}

TEST(StackTables, WhatWasClosedFirstIsForgotten) {
  Tables tables({kProgram});
  for (uint64_t i = 0; i < 3000; i++) {
    ASSERT_TRUE(tables.follow({kProgram, module_at("a", kAt + i * 16 * kPage)}).ok());
  }
  EXPECT_EQ(tables.names(kAt), Names({"", "", ""}));
  EXPECT_EQ(tables.names(kAt + uint64_t{2000} * 16 * kPage), Names({"", "a", "a"}));
  EXPECT_EQ(tables.names(kAt + uint64_t{2999} * 16 * kPage), Names({"a", "a", "a"}));
  EXPECT_EQ(tables.names(kProgram.begin), Names({"program", "program", "program"}));
}

TEST(StackTables, AnotherProcessHasTheSameFilesElsewhere) {
  Tables first({kProgram, module_at("a", kAt)});
  Tables second = first.moved_to({kProgram, module_at("a", 2 * kAt)});
  EXPECT_EQ(second.names(2 * kAt), Names({"a", "a", "a"}));
  EXPECT_EQ(second.names(kAt), Names({"", "", ""}));
  ASSERT_TRUE(second.follow({kProgram, module_at("a", 2 * kAt), module_at("b", 4 * kAt)}).ok());
  EXPECT_EQ(second.names(4 * kAt), Names({"b", "b", "b"}));
  EXPECT_EQ(first.names(kAt), Names({"a", "a", "a"}));
}

TEST(StackTables, AddressesOfOtherProcessesHaveNamesForDjtap) {
  Tables tables({kProgram, module_at("a", kAt)});
  tables.add_elsewhere({module_at("b", 2 * kAt), module_at("unreadable", 3 * kAt)});
  EXPECT_EQ(tables.names(2 * kAt), Names({"", "", ""}));
  ASSERT_TRUE(tables.name_elsewhere().ok());
  EXPECT_EQ(tables.names(2 * kAt), Names({"", "b", "b"}));
  EXPECT_EQ(tables.names(3 * kAt), Names({"", "", ""}));
  // The first process opens the same file, at another place and at that one.
  ASSERT_TRUE(tables.follow({kProgram, module_at("b", 4 * kAt), module_at("b", 2 * kAt)}).ok());
  EXPECT_EQ(tables.names(2 * kAt), Names({"b", "b", "b"}));
  EXPECT_EQ(tables.names(4 * kAt), Names({"b", "b", "b"}));
}

TEST(StackTables, WhereTwoFilesLieInTwoProcessesNeitherIsNamed) {
  Tables tables({kProgram, module_at("a", kAt)});
  tables.add_elsewhere({module_at("long", kAt, 16)});
  ASSERT_TRUE(tables.name_elsewhere().ok());
  EXPECT_EQ(tables.names(kAt), Names({"a", "a", ""}));
  EXPECT_EQ(tables.name(kAt + 4 * kPage, abi::kModuleShared), "long");
  tables.add_elsewhere({module_at("other", kAt + 8 * kPage)});
  ASSERT_TRUE(tables.name_elsewhere().ok());
  EXPECT_EQ(tables.names(kAt + 8 * kPage), Names({"", "", ""}));
  EXPECT_EQ(tables.name(kAt + 12 * kPage, abi::kModuleShared), "long");
}

TEST(StackTables, VeryManyProcessesAreToldOfOnce) {
  Tables tables({kProgram});
  for (uint64_t i = 0; i < 20'000; i++) tables.add_elsewhere({module_at("a", kAt + i * 8 * kPage)});
  EXPECT_FALSE(tables.name_elsewhere().ok());
  EXPECT_EQ(tables.name(kAt + 8 * kPage, abi::kModuleShared), "a");
  tables.add_elsewhere({module_at("a", 100 * kAt)});
  EXPECT_TRUE(tables.name_elsewhere().ok());
}

}  // namespace
}  // namespace dj
