// SPDX-License-Identifier: Apache-2.0
// The word changes when the object ends, and when its process is killed.
#include "runtime/process/presence.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace dj {
namespace {

uint32_t* shared_word() {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return static_cast<uint32_t*>(page);
}

uint32_t holder(const uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
}

TEST(Presence, EndsWithTheObject) {
  uint32_t* const word = shared_word();
  {
    const Presence presence(word);
    EXPECT_NE(holder(word), 0u);
  }
  EXPECT_EQ(holder(word), 0u);
}

TEST(Presence, EndsWithAProcessThatIsKilled) {
  uint32_t* const word = shared_word();
  const pid_t child = fork();
  if (child == 0) {
    const Presence presence(word);
    raise(SIGSTOP);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_NE(holder(word), 0u);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(holder(word), 0u);
}

// The word's memory may be gone by then.
TEST(Presence, NeedsTheWordNoMore) {
  uint32_t* const word = shared_word();
  {
    const Presence presence(word);
    munmap(word, 4096);
  }
}

}  // namespace
}  // namespace dj
