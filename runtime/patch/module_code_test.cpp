// SPDX-License-Identifier: Apache-2.0
// ModuleCodes: what is read ahead is what would be read, once, and only if it is needed; what is
// found is of the file that was read, though another has come to have its name.
#include "runtime/patch/module_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "compiler/debuginfo/text.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

class Codes : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/djtap-module-code-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    const std::vector<MappedModule> modules = mapped_modules(getpid()).take();
    const auto is_own = [](const MappedModule& m) { return m.is_executable_file; };
    own_ = *std::find_if(modules.begin(), modules.end(), is_own);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ModuleCodes codes() {
    const ReadText read = [this](const std::string& path) {
      ++reads_;
      return read_text(path);
    };
    return ModuleCodes(read, VerdictCache(FileCache(folder_ / "cache", "this build")));
  }
  static arch::Region own_function(ModuleCodes& codes, const MappedModule& module) {
    std::vector<arch::Region> regions(1);
    regions[0].address = reinterpret_cast<uint64_t>(&arch::verdict_name) - module.bias;
    codes.get(module).value()->checker->check(regions);
    return regions[0];
  }

  // A copy of this program's file, and a module that is mapped from it; again: another file.
  MappedModule copied() const {
    const std::filesystem::path beside = folder_ / "beside", file = folder_ / "module";
    std::filesystem::copy_file(own_.open_path, beside);
    std::filesystem::rename(beside, file);
    forget_target_files();  // by another session
    MappedModule module = own_;
    module.open_path = file;
    module.version = version_of(file);
    return module;
  }

  std::filesystem::path folder_;
  MappedModule own_;
  std::atomic<int> reads_{0};
};
using ReadAhead = Codes;
using Replaced = Codes;

TEST_F(ReadAhead, IsReadOnceAndTheSame) {
  ModuleCodes plain = codes(), ahead = codes();
  ahead.read_ahead(own_);
  ModuleCodes moved = std::move(ahead);
  const arch::Region region = own_function(moved, own_);
  EXPECT_EQ(reads_, 1);
  EXPECT_EQ(region.verdict, arch::Verdict::Ok);
  EXPECT_EQ(region.length, own_function(plain, own_).length);
}

TEST_F(ReadAhead, AnswersOfAnEarlierSessionNeedNoText) {
  ModuleCodes first = codes();
  own_function(first, own_);
  first.remember();
  {
    ModuleCodes second = codes();
    second.read_ahead(own_);
    own_function(second, own_);
  }
  EXPECT_EQ(reads_, 1);
}

TEST_F(ReadAhead, WhatNobodyAsksForIsLetGo) {
  {
    codes().read_ahead(own_);
  }
  EXPECT_LE(reads_, 1);
}

TEST_F(Replaced, WhatWasFoundIsOfTheFileThatWasRead) {
  ModuleCodes first = codes(), second = codes();
  own_function(first, copied());
  const MappedModule dlopened = copied();
  first.remember();
  own_function(second, dlopened);
  EXPECT_EQ(reads_, 2) << "answers of the file before count for this one";
}

TEST_F(Replaced, AnotherFileOfTheNameIsReadAnew) {
  ModuleCodes all = codes();
  const MappedModule before = copied();
  own_function(all, before);
  const MappedModule after = copied();
  own_function(all, after);
  EXPECT_EQ(reads_, 2);
  EXPECT_NE(all.get(before).value(), all.get(after).value());
}

TEST_F(Replaced, WhatIsMappedMayBeNoMore) {
  ModuleCodes all = codes(), ahead = codes();
  const MappedModule gone = copied();
  ahead.read_ahead(gone);
  copied();
  EXPECT_TRUE(all.raw(gone).empty());
  EXPECT_FALSE(all.get(gone).ok());
  EXPECT_FALSE(ahead.get(gone).ok());
}

// It is searched in pieces, side by side.
TEST(SyscallBytes, AreFoundAcrossAnyPieces) {
  std::vector<uint8_t> bytes((3 << 20) + 1);
  std::vector<uint64_t> put;
  constexpr uint64_t kAddress = 0x401000;
  for (uint64_t at = 0xffff; at + 2 <= bytes.size(); at += 1 << 16) {
    bytes[at] = 0x0f, bytes[at + 1] = 0x05;
    put.push_back(kAddress + at);
  }
  EXPECT_EQ(find_syscall_bytes({kAddress, bytes}), put);
  EXPECT_TRUE(find_syscall_bytes({kAddress, std::span(bytes).first(1)}).empty());
  EXPECT_TRUE(find_syscall_bytes({kAddress, {}}).empty());
}

}  // namespace
}  // namespace dj
