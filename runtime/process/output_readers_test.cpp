// SPDX-License-Identifier: Apache-2.0
// Who has which end of a pipe.
#include "runtime/process/output_readers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace dj {
namespace {

// A child that waits, with one end of the pipe alone.
pid_t keep_end(const int (&pipe)[2], int kept) {
  const pid_t child = fork();
  if (child == 0) {
    close(pipe[1 - kept]);
    while (true) pause();
  }
  return child;
}

TEST(OutputReaders, HaveTheEndForReading) {
  int pipe[2], other[2];
  ASSERT_EQ(pipe2(pipe, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(other, O_CLOEXEC), 0);
  const pid_t reader = keep_end(pipe, 0), writer = keep_end(pipe, 1);
  while (reads_pipe(reader, pipe[1]) && reads_pipe(writer, pipe[1])) usleep(1000);
  EXPECT_TRUE(reads_pipe(reader, pipe[1]));
  EXPECT_FALSE(reads_pipe(writer, pipe[1]));
  close(other[0]);
  EXPECT_FALSE(reads_pipe(getpid(), other[1]));
  for (const pid_t child : {reader, writer}) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  EXPECT_FALSE(reads_pipe(reader, pipe[1]));
  for (const int fd : {pipe[0], pipe[1], other[1]}) close(fd);
}

TEST(OutputReaders, OfAFileThereAreNone) {
  const int file = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(reads_pipe(getpid(), file));
  close(file);
}

}  // namespace
}  // namespace dj
