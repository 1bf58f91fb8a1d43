// SPDX-License-Identifier: Apache-2.0
// Processes that fork and end while they are looked for.
#include "runtime/process/session_processes.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dj {
namespace {

// A file as sessions have them, mapped here and so in what is forked.
uint64_t mapped_file() {
  const int file = memfd_create(kMemoryName, MFD_CLOEXEC);
  struct stat facts = {};
  EXPECT_EQ(ftruncate(file, 4096), 0);
  EXPECT_NE(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), MAP_FAILED);
  EXPECT_EQ(fstat(file, &facts), 0);
  close(file);
  return facts.st_ino;
}

TEST(SessionProcesses, ChildOfOneThatEndsBeforeItIsActedOnIsFound) {
  const uint64_t inode = mapped_file();
  int go[2] = {};
  ASSERT_EQ(pipe(go), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    char c;
    if (read(go[0], &c, 1) == 1 && fork() == 0) {
      alarm(10);  // where it is not found
      pause();
    }
    _exit(0);
  }
  std::vector<pid_t> met;
  std::vector<std::string> failures;
  const auto act = [&](pid_t pid) -> Result<bool> {
    met.push_back(pid);
    if (pid == parent) {
      EXPECT_EQ(write(go[1], "x", 1), 1);
      EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
      return false;  // it has no memory any more
    }
    kill(pid, SIGKILL);
    return true;
  };
  const std::vector<pid_t> done = for_session_processes(inode, 0, act, failures);
  EXPECT_EQ(met.size(), 2U);
  EXPECT_EQ(done.size(), 1U);
  EXPECT_TRUE(failures.empty());
}

TEST(SessionProcesses, EachFileHasItsUsers) {
  const uint64_t first = mapped_file();
  const pid_t older = fork();
  if (older == 0) {
    alarm(10);
    pause();
  }
  const uint64_t second = mapped_file();
  const pid_t younger = fork();
  if (younger == 0) {
    alarm(10);
    pause();
  }
  const MemoryUsers users = find_memory_users();
  ASSERT_TRUE(users.contains(first));
  EXPECT_EQ(users.at(first), (std::set<pid_t>{older, younger}));
  ASSERT_TRUE(users.contains(second));
  EXPECT_EQ(users.at(second), (std::set<pid_t>{younger}));
  for (const pid_t pid : {older, younger}) {
    kill(pid, SIGKILL);
    EXPECT_EQ(waitpid(pid, nullptr, 0), pid);
  }
}

TEST(SessionProcesses, VforkChildSharesItsParentsMemoryAndAForkDoesNot) {
  const uint64_t inode = mapped_file();
  int told[2] = {};
  ASSERT_EQ(pipe(told), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    alarm(10);
    if (vfork() == 0) {  // NOLINT(bugprone-unsafe-functions): this is what is tested
      const pid_t own = getpid();
      static_cast<void>(write(told[1], &own, sizeof own));
      pause();
    }
    _exit(0);
  }
  pid_t child = 0;
  ASSERT_EQ(read(told[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  EXPECT_TRUE(shares_parents_memory(child));
  EXPECT_FALSE(shares_parents_memory(parent));
  EXPECT_EQ(find_sharing_processes(parent, inode), std::vector<pid_t>{child});
  EXPECT_EQ(find_sharing_processes(child, inode), std::vector<pid_t>{parent});
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  EXPECT_FALSE(shares_parents_memory(child));
}

}  // namespace
}  // namespace dj
