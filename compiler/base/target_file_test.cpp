// SPDX-License-Identifier: Apache-2.0
// What a file's owner does to it while it is read.
#include "compiler/base/target_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace dj {
namespace {

namespace fs = std::filesystem;
constexpr size_t kBytes = size_t{5} * 4096;

class TargetFileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/djtap-target-file-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    write("file", 'a');
  }
  void TearDown() override {
    forget_target_files();
    fs::remove_all(folder);
  }
  void write(const std::string& name, char byte) const {
    std::ofstream(folder / name) << std::string(kBytes, byte);
  }
  Result<TargetFilePtr> open(const std::string& name) const {
    return open_target_file(folder / name);
  }
  static bool holds(const TargetFilePtr& file, uint8_t byte) {
    const auto bytes = file->bytes();
    return bytes.size() == kBytes &&
           std::all_of(bytes.begin(), bytes.end(), [&](uint8_t each) { return each == byte; });
  }

  fs::path folder;
};

TEST_F(TargetFileTest, ANameMeansOneFileForTheSession) {
  const TargetFilePtr first = open("file").take();
  write("other", 'b');
  fs::rename(folder / "other", folder / "file");
  EXPECT_TRUE(holds(open("file").take(), 'a'));
  EXPECT_EQ(version_of(folder / "file"), first->version());
  forget_target_files();
  EXPECT_TRUE(holds(open("file").take(), 'b'));
  EXPECT_TRUE(holds(first, 'a'));
}

TEST_F(TargetFileTest, AFileThatIsCutShortEndsInZeros) {
  const TargetFilePtr file = open("file").take();
  ASSERT_TRUE(holds(file, 'a'));
  fs::resize_file(folder / "file", 4096);
  const auto bytes = file->bytes();
  EXPECT_EQ(bytes[4095], 'a');
  EXPECT_EQ(std::count(bytes.begin() + 4096, bytes.end(), 0), long(kBytes - 4096));
  EXPECT_NE(file->version_now(), file->version());
}

TEST_F(TargetFileTest, WhatOthersMayWriteIsCopied) {
  fs::permissions(folder / "file", fs::perms(0666));
  const TargetFilePtr file = open("file").take();
  ASSERT_TRUE(holds(file, 'a'));
  write("file", 'b');
  EXPECT_TRUE(holds(file, 'a'));
  const int fd = file->duplicate();
  ASSERT_GE(fd, 0);
  EXPECT_LT(::write(fd, "b", 1), 0);
  EXPECT_NE(::ftruncate(fd, 0), 0);
  close(fd);
}

TEST_F(TargetFileTest, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0666), 0);
  for (const std::string& path : {(folder / "fifo").string(), folder.string(),
                                  std::string("/dev/zero"), (folder / "none").string()}) {
    EXPECT_FALSE(open_target_file(path).ok()) << path;
    EXPECT_FALSE(open_found_file(path).ok()) << path;
  }
  EXPECT_EQ(open("none").error().kind, Fail::NotFound);
}

TEST_F(TargetFileTest, AHeldFileKeepsItsNameOrGetsAnother) {
  const std::string path = folder / "file";
  EXPECT_EQ(hold_target_file(open_regular(path), path), path);
  const FileVersion version = open("file").value()->version();
  EXPECT_EQ(held_target_file(path, version.device, version.inode), path);
  write("other", 'b');
  fs::rename(folder / "other", folder / "file");
  const std::string other = hold_target_file(open_regular(path), path);
  EXPECT_NE(other, path);
  EXPECT_TRUE(holds(open_target_file(other).take(), 'b'));
  EXPECT_TRUE(holds(open_target_file(path).take(), 'a'));
}

TEST_F(TargetFileTest, FoundNamesAreOpenedAsTheReader) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has other rights to give away";
  fs::permissions(folder, fs::perms(0755));
  fs::permissions(folder / "file", fs::perms(0600));
  const std::string path = folder / "file";
  EXPECT_TRUE(open_found_file(path).ok());
  constexpr uid_t kNobody = 65534;
  read_found_names_as(FileReader{kNobody, kNobody, {}, ""});
  EXPECT_EQ(open_found_file(path).error().kind, Fail::Permission);
  EXPECT_TRUE(open_target_file(path).ok());  // not a name that was found
  read_found_names_as(FileReader{0, 0, {}, folder});
  EXPECT_TRUE(open_found_file("/file").ok());
  fs::create_symlink("/etc/passwd", folder / "link");
  EXPECT_FALSE(open_found_file("/link").ok());
  EXPECT_FALSE(open_found_file("/../../../etc/passwd").ok());
  read_found_names_as(std::nullopt);
}

// As a djtap without rights reads for a container of its own user's.
TEST_F(TargetFileTest, FoundNamesAreOfTheTargetsRootFirst) {
  if (geteuid() == 0) GTEST_SKIP() << "root has rights over the target";
  FileReader reader;
  reader.root = folder;
  read_found_names_as(reader);
  EXPECT_TRUE(open_found_file("/file").ok());
  EXPECT_TRUE(open_found_file("/etc/passwd").ok());  // of djtap's root
  fs::create_directory(folder / "etc");
  write("etc/passwd", 'c');
  EXPECT_TRUE(holds(open_found_file("/etc/passwd").take(), 'c') == false);
  read_found_names_as(reader);
  EXPECT_TRUE(holds(open_found_file("/etc/passwd").take(), 'c'));
  read_found_names_as(std::nullopt);
}

}  // namespace
}  // namespace dj
