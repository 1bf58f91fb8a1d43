// SPDX-License-Identifier: Apache-2.0
// PageCopying on a private mapping of our own; the kernel's smaps says which of its pages are
// copies.
#include "runtime/text/page_copies.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace dj {
namespace {

constexpr size_t kPage = 4096, kPages = 2048;

// Text as a program's: of a file, and not to be written.
class FileText : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/djtap-page-copies-XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    unlink(name);
    const std::string page(kPage, '\x90');
    for (size_t i = 0; i < kPages; i++) ASSERT_EQ(write(file, page.data(), kPage), ssize_t{kPage});
    void* at = mmap(nullptr, kPages * kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    close(file);
    ASSERT_NE(at, MAP_FAILED);
    text_ = static_cast<const char*>(at);
  }
  void TearDown() override { munmap(const_cast<char*>(text_), kPages * kPage); }

  std::vector<uint64_t> bytes() const {
    std::vector<uint64_t> bytes;
    for (size_t i = 0; i < kPages; i++)
      bytes.push_back(reinterpret_cast<uint64_t>(text_) + i * kPage + i % kPage);
    return bytes;
  }
  // The mapping's pages that are the process's own.
  size_t copies() const {
    std::ostringstream begin;
    begin << std::hex << reinterpret_cast<uint64_t>(text_) << '-';
    std::ifstream in("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(in, line);) {
      here = here || line.starts_with(begin.str());
      if (here && line.starts_with("Anonymous:")) return std::stoul(line.substr(10)) * 1024 / kPage;
    }
    return 0;
  }
  bool is_unchanged() const {
    for (size_t i = 0; i < kPages * kPage; i++)
      if (text_[i] != '\x90') return false;
    return true;
  }

  const char* text_ = nullptr;
};

TEST_F(FileText, EveryPageIsCopiedOnce) {
  PageCopying copying(getpid(), bytes());
  const PageCopies done = copying.finish();
  EXPECT_EQ(done.pages, kPages);
  EXPECT_GT(done.ns, 0u);
  EXPECT_EQ(copies(), kPages);
  EXPECT_TRUE(is_unchanged());
}

TEST_F(FileText, NothingIsCopiedWhileItPauses) {
  constexpr size_t kBegun = 8;  // pages may be under way
  PageCopying copying(getpid(), bytes());
  copying.pause();
  const size_t before = copies();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_LE(copies(), before + kBegun);
  copying.go_on();
  EXPECT_EQ(copying.finish().pages, kPages);
  EXPECT_EQ(copies(), kPages);
}

TEST_F(FileText, GoneItLeavesTheRest) {
  {
    PageCopying(getpid(), bytes()).pause();
  }
  EXPECT_TRUE(is_unchanged());
}

TEST_F(FileText, WhatCannotBeWrittenIsLeft) {
  std::vector<uint64_t> wrong = bytes();
  wrong[7] = 8;  // nobody has memory there
  EXPECT_EQ(PageCopying(getpid(), wrong).finish().pages, kPages - 1);
}

}  // namespace
}  // namespace dj
