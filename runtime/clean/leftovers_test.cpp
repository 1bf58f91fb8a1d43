// SPDX-License-Identifier: Apache-2.0
// What a djtap has mapped by the time it is killed, made by hand.
#include "runtime/clean/leftovers.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/memory/address_space.h"
#include "runtime/memory/shared_file.h"
#include "runtime/memory/target_maps.h"
#include "runtime/memory/unmade_mark.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr uint64_t kPage = 4096, kData = 4 * kPage, kPrivate = 8 * kPage;

constexpr char kWaits[] = R"(
#include <stdio.h>
#include <unistd.h>
int main(void) { char c; puts("ready"); fflush(stdout); return read(0, &c, 1) == 1; }
)";

// Its child is a process of its own in the same memory, until a line comes.
constexpr char kShares[] = R"(
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static char stack[65536];
static int gate[2];
static int wait_there(void* unused) { char c; (void)unused; return read(gate[0], &c, 1) != 1; }
int main(void) {
  char c;
  if (pipe(gate) != 0 || clone(wait_there, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL) < 0) return 1;
  puts("ready"); fflush(stdout);
  if (read(0, &c, 1) != 1 || write(gate[1], "x", 1) != 1) return 1;
  wait(NULL);
  puts("alone"); fflush(stdout);
  return read(0, &c, 1) == 1;
}
)";

size_t mapping_count(pid_t pid) { return read_maps(pid).value().size(); }

// Data, and private memory behind these, without a journal.
void map_some(pid_t pid, bool with_private) {
  const std::vector<Mapping> maps = read_maps(pid).value();
  const uint64_t base = choose_arena_base(maps, read_maps(0).value(), 0, kData + kPrivate).value();
  const SharedFile data =
      SharedFile::make(std::string(kMemoryName) + "-data", kData, SharedFile::Use::Written).take();
  mark_unmade(data.view(), kPrivate);
  Stopped stopped = Stopped::stop(pid).take();
  RemoteCall call = RemoteCall::borrow(stopped).take();
  const SharedFile* const files[] = {&data};
  TargetMaps there = TargetMaps::begin(call, files).take();
  ASSERT_TRUE(there.map("data", {base, base + kData}, PROT_READ | PROT_WRITE, data, 0).ok());
  if (with_private) {
    ASSERT_TRUE(there.map_private("private", {base + kData, base + kData + kPrivate}, {}).ok());
  }
  ASSERT_TRUE(there.run(ok_status()).ok());
  ASSERT_TRUE(there.end().ok());
  ASSERT_TRUE(call.give_back().ok());
}

TEST(Leftovers, WhatWasMappedBeforeThereWasAJournalGoes) {
  for (const bool with_private : {false, true}) {
    Victim victim({compile_victim(kWaits)});
    victim.line();
    const size_t before = mapping_count(victim.pid());
    map_some(victim.pid(), with_private);
    EXPECT_EQ(mapping_count(victim.pid()), before + (with_private ? 2 : 1));
    ASSERT_TRUE(clear_leftovers(victim.pid()).ok());
    EXPECT_EQ(mapping_count(victim.pid()), before);
  }
}

TEST(Leftovers, NothingGoesUnderAProcessThatRunsInTheSameMemory) {
  Victim victim({compile_victim(kShares)});
  victim.line();
  const size_t before = mapping_count(victim.pid());
  map_some(victim.pid(), true);
  ASSERT_TRUE(clear_leftovers(victim.pid()).ok());
  EXPECT_EQ(mapping_count(victim.pid()), before + 2);
  victim.say("x");
  EXPECT_EQ(victim.line(), "alone");
  ASSERT_TRUE(clear_leftovers(victim.pid()).ok());
  EXPECT_EQ(mapping_count(victim.pid()), before);
}

}  // namespace
}  // namespace dj
