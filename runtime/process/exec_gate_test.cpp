// SPDX-License-Identifier: Apache-2.0
// Who passes the gate, and when. Skipped without the right to such events.
#include "runtime/process/exec_gate.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/process/os_error.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

const char* const kSpeaks = R"(
#include <stdio.h>
int main() { printf("runs\n"); })";

class Gate : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(compile_victim(kSpeaks), path_);
    Result<std::unique_ptr<ExecGate>> gate = ExecGate::open({path_}, 2'000'000'000);
    if (!gate.ok()) GTEST_SKIP() << gate.error().message;
    gate_ = gate.take();
  }
  // Executes it in a process that does not descend from this one.
  Victim execute() {
    opens_ = false;
    return Victim({"sh", "-c", "(sleep 0.1; " + path_ + "; :) & exit"});
  }
  // Who waits, within five seconds.
  std::optional<pid_t> wait() const {
    pollfd bell = {gate_->fd(), POLLIN, 0};
    poll(&bell, 1, 5000);
    const std::optional<ExecGate::Visitor> visitor = gate_->next();
    if (!visitor) return std::nullopt;
    EXPECT_EQ(visitor->opens_library, opens_);
    return visitor->tid;
  }
  // Reads it in a process that does not descend from this one.
  Victim open() {
    opens_ = true;
    return Victim({"sh", "-c", "(sleep 0.1; wc -c < " + path_ + " >&2; echo read; :) & exit"});
  }
  // Expects that who executes it now waits, and runs when it may pass.
  void expect_wait() {
    Victim victim = execute();
    const std::optional<pid_t> tid = wait();
    ASSERT_TRUE(tid);
    EXPECT_NE(*tid, victim.pid());  // it is the shell's child
    EXPECT_FALSE(gate_->next());
    gate_->let_pass(*tid);
    EXPECT_EQ(victim.line(), "runs");
  }
  // Expects that who reads it now waits, and reads when it may pass.
  void expect_reader_waits() {
    Victim reader = open();
    const std::optional<pid_t> tid = wait();
    ASSERT_TRUE(tid);
    gate_->let_pass(*tid);
    EXPECT_EQ(reader.line(), "read");
  }
  const std::string& path() const { return path_; }
  std::unique_ptr<ExecGate> gate_;

 private:
  bool opens_ = false;  // who waits
  VictimFolder folder_;
  std::string path_ = folder_.path() + "/speaks";
};

TEST_F(Gate, AThreadWaitsUntilItMayPass) {
  expect_wait();
  EXPECT_EQ(gate_->take_missed(), 0u);
}

TEST_F(Gate, ItPassesByItselfAfterAWhile) {
  const uint64_t begin = now_ns();
  Victim victim = execute();
  EXPECT_EQ(victim.line(), "runs");
  EXPECT_GE(now_ns() - begin, 1'900'000'000u);
  EXPECT_FALSE(gate_->next());
  EXPECT_EQ(gate_->take_missed(), 1u);
  EXPECT_EQ(gate_->take_missed(), 0u);
}

TEST_F(Gate, OwnChildrenPassAtOnce) {
  Victim victim({path()});
  EXPECT_EQ(victim.line(), "runs");
  EXPECT_FALSE(gate_->next());
}

TEST_F(Gate, AllPassWhenItGoes) {
  Victim victim = execute();
  ASSERT_TRUE(wait());
  Victim second = execute();
  gate_.reset();
  EXPECT_EQ(victim.line(), "runs");
  EXPECT_EQ(second.line(), "runs");
}

TEST_F(Gate, AllPassWhileItDoesNotWatch) {
  Victim first = execute();
  ASSERT_TRUE(wait());
  gate_->set_watching(false);
  EXPECT_EQ(first.line(), "runs");
  EXPECT_EQ(execute().line(), "runs");
  EXPECT_FALSE(gate_->next());
  gate_->set_watching(true);
  usleep(500'000);
  expect_wait();
}

TEST_F(Gate, WhatReplacesTheFileIsWatched) {
  std::filesystem::copy_file(path(), path() + ".new");
  std::filesystem::rename(path() + ".new", path());
  usleep(500'000);  // five looks at the file
  expect_wait();
}

TEST_F(Gate, WhoOpensALibraryWaits) {
  ASSERT_TRUE(gate_->watch_libraries({path()}).ok());
  expect_reader_waits();
}

// This test's own open() would wait for itself, in any thread.
TEST_F(Gate, OwnThreadsOpenLibrariesAtOnce) {
  ASSERT_TRUE(gate_->watch_libraries({path()}).ok());
  std::thread([this] { EXPECT_TRUE(std::ifstream(path()).good()); }).join();
  EXPECT_TRUE(std::ifstream(path()).good());
  EXPECT_FALSE(gate_->next());
}

TEST_F(Gate, SomeOpenLibrariesAtOnce) {
  ASSERT_TRUE(gate_->watch_libraries({path()}).ok());
  gate_->let_pass_if([](const ExecGate::Visitor& who, pid_t) { return who.opens_library; });
  EXPECT_EQ(open().line(), "read");
  gate_->let_pass_if([](const ExecGate::Visitor&, pid_t) { return false; });
  expect_reader_waits();
}

TEST_F(Gate, SomeExecuteAtOnce) {
  gate_->let_pass_if([](const ExecGate::Visitor& who, pid_t) { return !who.opens_library; });
  EXPECT_EQ(execute().line(), "runs");
  gate_->let_pass_if([](const ExecGate::Visitor&, pid_t) { return false; });
  expect_wait();
}

// Of another file system than the one that is watched, perhaps.
TEST_F(Gate, AnyProgramIsWatched) {
  const std::string other = path() + ".other";
  std::filesystem::copy_file(path(), other);
  gate_->watch_all_programs();
  Victim victim({"sh", "-c", "(sleep 0.1; " + other + "; :) & exit"});
  std::vector<std::string> files;
  for (std::optional<ExecGate::Visitor> visitor; std::ranges::find(files, other) == files.end();
       gate_->let_pass(visitor->tid)) {
    pollfd bell = {gate_->fd(), POLLIN, 0};
    ASSERT_EQ(poll(&bell, 1, 5000), 1);
    visitor = gate_->next();
    ASSERT_TRUE(visitor);
    EXPECT_FALSE(visitor->opens_library);
    files.push_back(visitor->file);
  }
  gate_->set_watching(false);
  EXPECT_EQ(victim.line(), "runs");
  EXPECT_FALSE(gate_->next());
  std::filesystem::remove(other);
}

TEST_F(Gate, AProcessThatWaitsIsLetThrough) {
  ASSERT_TRUE(gate_->watch_libraries({path()}).ok());
  Victim reader = open();
  pollfd bell = {gate_->fd(), POLLIN, 0};
  ASSERT_EQ(poll(&bell, 1, 5000), 1);
  for (const pid_t pid : all_processes()) gate_->let_through(pid, true);
  EXPECT_EQ(reader.line(), "read");
  EXPECT_FALSE(gate_->next());
}

TEST(ExecGate, AFileThatIsNotThereCannotBeWatched) {
  const Result<std::unique_ptr<ExecGate>> gate = ExecGate::open({"/nonexistent/file"});
  EXPECT_FALSE(gate.ok());
}

}  // namespace
}  // namespace dj
