// SPDX-License-Identifier: Apache-2.0
// The bell's descriptor becomes readable at each change of the word, and at nothing else.
#include "runtime/session/doorbell.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace dj {
namespace {

bool rings(const Doorbell& bell, int within_ms) {
  pollfd fd = {bell.fd(), POLLIN, 0};
  return poll(&fd, 1, within_ms) == 1;
}

void change(std::atomic<uint32_t>& word) {
  ++word;
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

TEST(Doorbell, RingsAtEachChange) {
  std::atomic<uint32_t> word{7};
  Doorbell bell(reinterpret_cast<uint64_t>(&word));
  ASSERT_GE(bell.fd(), 0);
  EXPECT_FALSE(rings(bell, 20));
  for (int i = 0; i < 100; i++) {
    change(word);
    EXPECT_TRUE(rings(bell, 5000)) << i;
    bell.answer();
  }
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  EXPECT_FALSE(rings(bell, 20));
}

// A change that nobody has told it of is seen, if later.
TEST(Doorbell, RingsWithoutAWake) {
  std::atomic<uint32_t> word{0};
  Doorbell bell(reinterpret_cast<uint64_t>(&word));
  EXPECT_FALSE(rings(bell, 20));
  ++word;
  EXPECT_TRUE(rings(bell, 5000));
}

}  // namespace
}  // namespace dj
