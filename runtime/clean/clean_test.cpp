// SPDX-License-Identifier: Apache-2.0
// What a killed djtap may leave at one place, made by hand.
#include "runtime/clean/clean.h"

#include "runtime/install/trial.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

constexpr char kWaits[] = R"(
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) long work(long a, long b) { __asm__ volatile("" ::: "memory"); return a * 3 + b; }
int main(void) { char c; puts("ready"); fflush(stdout); return read(0, &c, 1) == 1 ? (int)work(c, 1) : 0; }
)";

using Bytes = std::vector<uint8_t>;

Bytes text_at(const Stopped& stopped, uint64_t address) {
  Bytes bytes(5);
  EXPECT_TRUE(stopped.read(address, bytes).ok());
  return bytes;
}

// A victim whose work() is probed by a jump; djtap is "killed" while it writes there.
struct Torn : ::testing::Test {
  Torn() : victim({compile_victim(kWaits)}) {}
  void SetUp() override {
    victim.line();
    session.modules = mapped_modules(victim.pid()).value();
    session.add_handler(Handler::Form::Boundary);
    session.add_site("djtap-victim", "work", SiteKind::Entry, 0);
    Result<Stopped> made = Stopped::stop(victim.pid());
    ASSERT_TRUE(made.ok());
    stopped.emplace(made.take());
    session.modules = mapped_modules(victim.pid()).value();
    for (const MappedModule& module : session.modules) {
      if (module.is_executable_file) {
        address = find_symbol(module.open_path, "work").value().address + module.bias;
      }
    }
    original = text_at(*stopped, address);
    session.install(*stopped);
    patched = text_at(*stopped, address);
    ASSERT_NE(original, patched);
    journal = find_journals(victim.pid()).value().front();
  }
  Victim victim;
  Trial session;
  std::optional<Stopped> stopped;
  uint64_t address = 0;
  Bytes original, patched;
  FoundJournal journal;
};

TEST_F(Torn, APlaceIsRestoredFromAnyMixOfItsBytes) {
  bool hooks_clean = false;
  for (unsigned mix = 0; mix < 32; mix++) {
    Bytes bytes = original;
    for (size_t i = 0; i < bytes.size(); i++) {
      bytes[i] = (mix >> i & 1) != 0 ? patched[i] : original[i];
    }
    ASSERT_TRUE(stopped->write(address, bytes).ok());
    EXPECT_EQ(is_patched(victim.pid(), journal, Effort(victim.pid())).value(),
              bytes != original || !hooks_clean)
        << mix;
    ASSERT_TRUE(clean(*stopped, journal).ok());
    hooks_clean = true;
    EXPECT_EQ(text_at(*stopped, address), original) << mix;
    EXPECT_EQ(is_patched(victim.pid(), journal, Effort(victim.pid())).value(), false) << mix;
  }
}

TEST_F(Torn, WhatOthersWroteIsLeft) {
  Bytes foreign = patched;
  foreign[2] ^= 0x55;
  foreign[2] = foreign[2] == 0xcc || foreign[2] == original[2] ? 0x90 : foreign[2];
  ASSERT_TRUE(stopped->write(address, foreign).ok());
  ASSERT_TRUE(clean(*stopped, journal).ok());
  EXPECT_EQ(text_at(*stopped, address), foreign);
  ASSERT_TRUE(stopped->write(address, original).ok());
}

TEST_F(Torn, TheJournalNamesItsHolderUntilAllIsPutBack) {
  EXPECT_TRUE(journal.is_held());
  EXPECT_FALSE(check_unheld(victim.pid()).ok());
  ASSERT_TRUE(session.installation->disarm(*stopped).ok());
  EXPECT_TRUE(find_journals(victim.pid()).value().front().is_held());
  session.installation->finish(victim.pid());
  EXPECT_FALSE(find_journals(victim.pid()).value().front().is_held());
  EXPECT_TRUE(check_unheld(victim.pid()).ok());
  JournalHeader& header = journal.header;
  header.controller_start++;  // another process with its pid
  EXPECT_FALSE(journal.is_held());
}

}  // namespace
}  // namespace dj
