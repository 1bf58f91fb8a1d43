// What is kept comes back; what is not whole, not ours or of another file does not.
#include "runtime/patch/plan_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace dj {
namespace {

namespace fs = std::filesystem;

arch::Known some_answers() {
  arch::Known known;
  std::vector<arch::Judged::Answer> answers(3);
  for (uint64_t i = 0; i < answers.size(); i++) {
    answers[i].address = 0x1000 + 16 * i;
    answers[i].region.address = answers[i].address;
    answers[i].region.length = static_cast<uint8_t>(5 + i);
  }
  known.judged[1].add(answers);
  known.syscalls.emplace(2);
  known.syscalls->back().number = 39;
  known.rseq_sections.push_back({0x1005, 0x1010});
  return known;
}

class PlanCacheTest : public testing::Test {
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
  PlanCache cache = PlanCache::none();
};

KeptFiles files_in(const fs::path& folder, const char* version) {
  return KeptFiles(folder / "cache", version);
}

class PlanCacheFile : public PlanCacheTest {
 protected:
  void SetUp() override {
    PlanCacheTest::SetUp();
    cache = PlanCache(files_in(folder, "this build"));
    cache.save(now(), some_answers());
  }
};

TEST_F(PlanCacheTest, WithoutAFolderNothingIsKept) {
  EXPECT_FALSE(cache.load(now()).has_value());
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(PlanCacheFile, GivesBackWhatItGot) {
  std::optional<arch::Known> known = cache.load(now());
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->size(), some_answers().size());
  arch::Region asked;
  asked.address = 0x1010;
  const arch::Region* region = known->judged[1].find(asked);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->length, 6);
  EXPECT_EQ(known->judged[0].find(asked), nullptr);
  EXPECT_EQ(known->syscalls->back().number, 39);
  ASSERT_EQ(known->rseq_sections.size(), 1u);
  EXPECT_EQ(known->rseq_sections[0].begin, 0x1005u);
}

TEST_F(PlanCacheFile, IgnoresWhatIsNotWhole) {
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

TEST_F(PlanCacheFile, EveryBuildHasItsOwn) {
  const PlanCache other(files_in(folder, "another build"));
  EXPECT_FALSE(other.load(now()).has_value());
  other.save(now(), some_answers());
  EXPECT_TRUE(other.load(now()).has_value());
  EXPECT_TRUE(cache.load(now()).has_value());
}

TEST_F(PlanCacheFile, WhatWasNotUsedForLongestGoes) {
  const fs::path first = file();
  const uint64_t bytes = fs::file_size(first);
  const PlanCache other(files_in(folder, "another build"));
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

TEST_F(PlanCacheFile, FilesAreCounted) {
  const fs::path first = file();
  const KeptFiles& files = cache.files();
  files.save("one more", "key", std::string("content"));
  fs::last_write_time(first, fs::last_write_time(first) - std::chrono::hours(1));
  files.trim(KeptFiles::kMostKept, 2);
  EXPECT_TRUE(fs::exists(first));
  files.trim(KeptFiles::kMostKept, 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(files.load("one more", "key").has_value());
}

TEST_F(PlanCacheFile, IgnoresWhatIsOfAnotherFile) {
  ASSERT_TRUE(cache.load(now()).has_value());
  fs::last_write_time(module, fs::last_write_time(module) + std::chrono::seconds(1));
  EXPECT_FALSE(cache.load(now()).has_value());
}

TEST_F(PlanCacheFile, KeepsWhereSystemCallsAre) {
  EXPECT_FALSE(cache.load_syscalls(now()).has_value());
  const PlanCache::Addresses addresses = {{0x1000, 0x1010, 0x1024}, {}, {7}};
  cache.save_syscalls(now(), addresses);
  EXPECT_EQ(cache.load_syscalls(now()), addresses);
  EXPECT_TRUE(cache.load(now()).has_value());  // the one is not the other
  fs::last_write_time(module, fs::last_write_time(module) + std::chrono::seconds(1));
  EXPECT_FALSE(cache.load_syscalls(now()).has_value());
}

TEST_F(PlanCacheFile, AFileIsOfItsKey) {
  const KeptFiles& files = cache.files();
  const std::string text = "content";
  files.save("name", "key", text);
  const std::optional<KeptBytes> kept = files.load("name", "key");
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(std::string(kept->bytes.begin(), kept->bytes.end()), text);
  EXPECT_FALSE(files.load("name", "kez").has_value());
  EXPECT_FALSE(files.load("name", "key and more").has_value());
  EXPECT_FALSE(files.load("another name", "key").has_value());
}

TEST_F(PlanCacheFile, IgnoresWhatOthersMayWrite) {
  ASSERT_EQ(chmod(file().c_str(), 0666), 0);
  EXPECT_FALSE(cache.load(now()).has_value());
  ASSERT_EQ(chmod(file().c_str(), 0600), 0);
  EXPECT_TRUE(cache.load(now()).has_value());
}

}  // namespace
}  // namespace dj
