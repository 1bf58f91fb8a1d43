// SPDX-License-Identifier: Apache-2.0
// What is kept comes back; what is not whole, not ours or of another file does not.
#include "runtime/patch/verdict_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace dj {
namespace {

namespace fs = std::filesystem;

arch::CheckResults some_answers() {
  arch::CheckResults known;
  std::vector<arch::Verdicts::Answer> answers(3);
  for (uint64_t i = 0; i < answers.size(); i++) {
    answers[i].address = 0x1000 + 16 * i;
    answers[i].region.address = answers[i].address;
    answers[i].region.length = static_cast<uint8_t>(5 + i);
  }
  known.verdicts[1].add(answers);
  known.syscalls.emplace(2);
  known.syscalls->back().number = 39;
  known.unmovable.push_back({0x1005, 0x1010});
  return known;
}

class VerdictCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/djtap-plan-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    module = folder / "module";
    fs::copy_file("/proc/self/exe", module);
    cache.save(now(), some_answers());
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string now() const { return file_identity(module); }
  fs::path file() const { return fs::directory_iterator(folder / "cache")->path(); }
  void overwrite(std::streamoff at, char byte) const {
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(at, at < 0 ? std::ios::end : std::ios::beg);
    stream.put(byte);
  }

  fs::path folder, module;
  VerdictCache cache = VerdictCache::none();
};

FileCache files_in(const fs::path& folder, const char* version) {
  return FileCache(folder / "cache", version);
}

class VerdictCacheFile : public VerdictCacheTest {
 protected:
  void SetUp() override {
    VerdictCacheTest::SetUp();
    cache = VerdictCache(files_in(folder, "this build"));
    cache.save(now(), some_answers());
  }
};

TEST_F(VerdictCacheTest, WithoutAFolderNothingIsKept) {
  EXPECT_FALSE(cache.load(now()).has_value());
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(VerdictCacheFile, GivesBackWhatItGot) {
  std::optional<arch::CheckResults> known = cache.load(now());
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->size(), some_answers().size());
  arch::Region asked;
  asked.address = 0x1010;
  const arch::Region* region = known->verdicts[1].find(asked);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->length, 6);
  EXPECT_EQ(known->verdicts[0].find(asked), nullptr);
  EXPECT_EQ(known->syscalls->back().number, 39);
  ASSERT_EQ(known->unmovable.size(), 1u);
  EXPECT_EQ(known->unmovable[0].begin, 0x1005u);
}

TEST_F(VerdictCacheFile, IgnoresWhatIsNotWhole) {
  overwrite(-1, 'x');
  EXPECT_FALSE(cache.load(now()).has_value());
  cache.save(now(), some_answers());
  ASSERT_TRUE(cache.load(now()).has_value());
  overwrite(0, 'x');
  EXPECT_FALSE(cache.load(now()).has_value());
  cache.save(now(), some_answers());
  fs::resize_file(file(), fs::file_size(file()) - 8);
  EXPECT_FALSE(cache.load(now()).has_value());
  fs::resize_file(file(), 3);
  EXPECT_FALSE(cache.load(now()).has_value());
}

TEST_F(VerdictCacheFile, EveryBuildHasItsOwn) {
  const VerdictCache other(files_in(folder, "another build"));
  EXPECT_FALSE(other.load(now()).has_value());
  other.save(now(), some_answers());
  EXPECT_TRUE(other.load(now()).has_value());
  EXPECT_TRUE(cache.load(now()).has_value());
}

TEST_F(VerdictCacheFile, WhatWasNotUsedForLongestGoes) {
  const fs::path first = file();
  const uint64_t bytes = fs::file_size(first);
  const VerdictCache other(files_in(folder, "another build"));
  other.save(now(), some_answers());
  uint64_t both = 0;
  for (const auto& entry : fs::directory_iterator(folder / "cache")) both += entry.file_size();
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  other.files().trim(both);
  EXPECT_TRUE(fs::exists(first));
  other.files().trim(both - 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(other.load(now()).has_value());

  cache.save(now(), some_answers());
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  ASSERT_TRUE(cache.load(now()).has_value());  // used: now the other one is older
  cache.files().trim(bytes);
  EXPECT_TRUE(fs::exists(first));
  EXPECT_FALSE(other.load(now()).has_value());
}

TEST_F(VerdictCacheFile, FilesAreCounted) {
  const fs::path first = file();
  const FileCache& files = cache.files();
  files.save("one more", "key", std::string("content"));
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  files.trim(FileCache::kMostKept, 2);
  EXPECT_TRUE(fs::exists(first));
  files.trim(FileCache::kMostKept, 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(files.load("one more", "key").has_value());
}

TEST_F(VerdictCacheFile, IgnoresWhatIsOfAnotherFile) {
  ASSERT_TRUE(cache.load(now()).has_value());
  fs::last_write_time(module, fs::last_write_time(module) + std::chrono::seconds(1));
  EXPECT_FALSE(cache.load(now()).has_value());
}

TEST_F(VerdictCacheFile, KeepsWhereSystemCallsAre) {
  EXPECT_FALSE(cache.load_syscalls(now()).has_value());
  const VerdictCache::Addresses addresses = {{0x1000, 0x1010, 0x1024}, {}, {7}};
  cache.save_syscalls(now(), addresses);
  EXPECT_EQ(cache.load_syscalls(now()), addresses);
  EXPECT_TRUE(cache.load(now()).has_value());  // the one is not the other
  fs::last_write_time(module, fs::last_write_time(module) + std::chrono::seconds(1));
  EXPECT_FALSE(cache.load_syscalls(now()).has_value());
}

TEST_F(VerdictCacheFile, AFileIsOfItsKey) {
  const FileCache& files = cache.files();
  const std::string text = "content";
  files.save("name", "key", text);
  const std::optional<CachedBytes> kept = files.load("name", "key");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(std::string(kept->bytes.begin(), kept->bytes.end()), text);
  EXPECT_FALSE(files.load("name", "kez").has_value());
  EXPECT_FALSE(files.load("name", "key and more").has_value());
  EXPECT_FALSE(files.load("another name", "key").has_value());
}

TEST_F(VerdictCacheFile, IgnoresWhatOthersMayWrite) {
  ASSERT_EQ(chmod(file().c_str(), 0666), 0);
  EXPECT_FALSE(cache.load(now()).has_value());
  ASSERT_EQ(chmod(file().c_str(), 0600), 0);
  EXPECT_TRUE(cache.load(now()).has_value());
}

// What a cache in this folder says of it, and whether it gives back what it kept.
std::pair<bool, std::string> asked(const fs::path& folder, const std::string& identity) {
  std::string told;
  const VerdictCache cache(
      FileCache(folder, "this build", [&](const std::string& what) { told += what; }));
  const bool kept = cache.load(identity).has_value();
  return {kept, told};
}

TEST_F(VerdictCacheFile, IgnoresAFolderThatOthersMayWrite) {
  EXPECT_EQ(asked(folder / "cache", now()), std::pair(true, std::string()));
  for (const mode_t mode : {0770, 0707}) {
    ASSERT_EQ(chmod((folder / "cache").c_str(), mode), 0);
    const auto [kept, told] = asked(folder / "cache", now());
    EXPECT_FALSE(kept);
    EXPECT_NE(told.find("others may write it"), std::string::npos) << told;
  }
  ASSERT_EQ(chmod((folder / "cache").c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);  // somebody may put another folder there
  EXPECT_FALSE(asked(folder / "cache", now()).first);
}

TEST_F(VerdictCacheFile, FollowsOnlyLinksOfItsUser) {
  fs::create_directory_symlink(folder / "cache", folder / "link");
  EXPECT_TRUE(asked(folder / "link", now()).first);
  const fs::path kept = file();
  fs::rename(kept, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", kept);
  EXPECT_NE(asked(folder / "cache", now()).second.find("it is a link"), std::string::npos);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give links away";
  fs::rename(folder / "elsewhere", kept);
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(lchown((folder / "link").c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(asked(folder / "link", now()).first);
  ASSERT_EQ(chown((folder / "cache").c_str(), kNobody, kNobody), 0);
  EXPECT_FALSE(asked(folder / "cache", now()).first);
  VerdictCache(files_in(folder, "another build")).save(now(), some_answers());
  files_in(folder, "another build").trim(0, 0);  // nothing of others is removed
  EXPECT_TRUE(fs::exists(kept));
}

// With a right checksum, whatever the content.
TEST_F(VerdictCacheFile, ContentThatIsChangedAtRandomDoesNoHarm) {
  const FileCache& files = cache.files();
  const std::string identity = now(), name = identity.substr(0, identity.find(' '));
  const std::optional<CachedBytes> kept = files.load(name, identity);
  ASSERT_TRUE(kept.has_value());
  const std::string content(kept->bytes.begin(), kept->bytes.end());
  const std::vector<arch::TextRange> text = {{0x1000, {}}};
  std::mt19937 luck(1);
  for (int i = 0; i < 2000; i++) {
    std::string changed = content;
    for (uint32_t n = 0; n <= luck() % 3; n++) {
      changed[luck() % changed.size()] = static_cast<char>(luck() % 4 == 0 ? 0xff : luck());
    }
    files.save(name, identity, changed);
    const std::optional<arch::CheckResults> known = cache.load(identity);
    if (known) {
      EXPECT_FALSE(arch::agrees(*known, text));  // there is no byte of what they tell of
    }
    files.save(name + "-syscalls", identity, changed);
    cache.load_syscalls(identity);
  }
}

}  // namespace
}  // namespace dj
