// SPDX-License-Identifier: Apache-2.0
// Reading and writing pages of a stopped program that tells what its memory holds.
#include "runtime/text/text_image.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/process/victim.h"

namespace dj {
namespace {

// Four pages at a known address: byte i of them is i % 251. The third is not there, the fourth only
// a debugger may read. A line on its input, and it prints the sum of bytes that are not so.
constexpr char kPages[] = R"(
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned char* text = (unsigned char*)0x10000000;
static void* rest(void* p) {
  char c;
  puts("ready"); fflush(stdout);
  if (read(0, &c, 1) != 1) return 0;
  mprotect(text + 12288, 4096, PROT_READ);
  for (int i = 0; i < 16384; i++)
    if (i / 4096 != 2 && text[i] != i % 251) printf("%d:%d ", i, text[i]);
  puts(""); fflush(stdout);
  _exit(0);
}
int main(int argc, char** argv) {
  pthread_t t;
  if (mmap(text, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != text) return 1;
  for (int i = 0; i < 16384; i++) text[i] = i % 251;
  mprotect(text, 8192, PROT_READ | PROT_EXEC);
  munmap(text + 8192, 4096);
  mprotect(text + 12288, 4096, PROT_NONE);
  if (argc < 2) return rest(0) != 0;
  pthread_create(&t, 0, rest, 0);
  pthread_exit(0);
})";

constexpr uint64_t kText = 0x10000000;

PatchSite site_at(uint64_t offset) {
  PatchSite site;
  site.address = kText + offset;
  for (uint64_t i = 0; i < 5; i++) {
    site.original.push_back(static_cast<uint8_t>((offset + i) % 251));
  }
  return site;
}

// `argv`: behind the program's name.
void read_and_write(const std::vector<std::string>& argv) {
  std::vector<std::string> command = {compile_victim(kPages)};
  command.insert(command.end(), argv.begin(), argv.end());
  Victim victim(command);
  ASSERT_EQ(victim.line(), "ready");
  PatchSite inside = site_at(16), across = site_at(4094), gone = site_at(8300),
            hidden = site_at(12300), more = site_at(40);
  TextImage text({&inside, &across, &gone, &hidden}, {&more});
  EXPECT_EQ(text.spans().size(), 4u);
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    text.read(stopped.value());
    bool readable = false;
    for (const PatchSite* site : {&inside, &across, &hidden, &more}) {
      EXPECT_TRUE(text.equals(site->address, site->original, &readable));
      EXPECT_TRUE(readable);
    }
    EXPECT_FALSE(text.equals(gone.address, gone.original, &readable));
    EXPECT_FALSE(readable);
    EXPECT_FALSE(text.equals(inside.address, across.original, &readable));
    EXPECT_TRUE(readable);
    const Status written = text.write(
        stopped.value(), {{inside.address, {0xcc}}, {across.address, {252, 253, 254, 255, 251}}});
    ASSERT_TRUE(written.ok()) << written.error().message;
    // A second batch leaves the first as it is.
    ASSERT_TRUE(text.write(stopped.value(), {{more.address, {0xcc}}}).ok());
    EXPECT_TRUE(text.equals(inside.address, std::vector<uint8_t>{0xcc}, &readable));
  }
  victim.say("x");
  EXPECT_EQ(victim.line(), "16:204 40:204 4094:252 4095:253 4096:254 4097:255 4098:251 ");
}

TEST(TextImage, ReadsAndWritesWhatIsThere) { read_and_write({}); }

TEST(TextImage, AlsoWhenTheFirstThreadHasEnded) { read_and_write({"first-thread-ends"}); }

// Offset 204 holds 204, an int3: a kernel probe's, for example.
void take_away_between(bool ascending) {
  Victim victim({compile_victim(kPages)});
  ASSERT_EQ(victim.line(), "ready");
  PatchSite low = site_at(90), middle = site_at(190), high = site_at(220);
  TextImage text({&low, &middle, &high});
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    text.read(stopped.value());
    const uint8_t original = 0x90;
    ASSERT_TRUE(stopped.value().write(kText + 204, std::span(&original, 1)).ok());
    std::vector<TextPatch> patches = {
        {low.address, {1}}, {middle.address, {2}}, {high.address, {3}}};
    if (!ascending) std::reverse(patches.begin(), patches.end());
    const Status written = text.write(stopped.value(), patches);
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  victim.say("x");
  EXPECT_EQ(victim.line(), "90:1 190:2 204:144 220:3 ");
}

TEST(TextImage, WhatOthersTakeAwayBetweenTwoPatchesStaysAway) { take_away_between(true); }

TEST(TextImage, AlsoWherePatchesDescend) { take_away_between(false); }

// As of a write that failed at the second page.
TEST(SiteText, AJumpThatWasWrittenHalfIsTakenOut) {
  Victim victim({compile_victim(kPages)});
  ASSERT_EQ(victim.line(), "ready");
  PatchSite site = site_at(4094), other = site_at(300);
  for (PatchSite* each : {&site, &other}) {
    each->jump = true;
    each->detour = kText + 0x11223344;
    for (SiteState state : {SiteState::Optimizing, SiteState::Optimized}) set_state(*each, state);
  }
  std::string damage;
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    const arch::JumpBytes jump = site.patched();
    ASSERT_TRUE(stopped.value().write(site.address, std::span(jump).first(2)).ok());
    const uint8_t others = 1;
    ASSERT_TRUE(stopped.value().write(other.address, std::span(&others, 1)).ok());
    ASSERT_TRUE(restore_sites(stopped.value(), {&site, &other}, damage).ok());
  }
  EXPECT_EQ(site.state, SiteState::Disarmed);
  EXPECT_EQ(other.state, SiteState::Gone);
  EXPECT_NE(damage.find("changed by somebody else"), std::string::npos);
  victim.say("x");
  EXPECT_EQ(victim.line(), "300:1 ");
}

}  // namespace
}  // namespace dj
