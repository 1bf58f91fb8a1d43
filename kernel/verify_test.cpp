// SPDX-License-Identifier: GPL-2.0-only
// Provokes every answer of dj_verify(). The program is built with ASan and UBSan.
#include "verify.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr uint64_t kText = 0xffffffff81000000, kCode = 0xffffffffc0100000;
constexpr uint64_t kPlace = kText + 0x1005;

struct Case {
  djtap_site site = {};
  std::vector<__u64> copies;
  std::vector<dj_range> fixed;
  dj_facts facts = {.text = {kText, kText + 0x100000}, .code = {kCode, kCode + 0x1000}};
  dj_place place = {.function = {kText + 0x1000, kText + 0x1040}};
  std::vector<__u8> bytes = std::vector<__u8>(DJTAP_WINDOW);

  // push %r15; push %r14; push %r13, and what follows.
  Case() {
    const __u8 code[] = {0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x41, 0x54, 0x55, 0x53};
    std::memcpy(site.original, code, sizeof code);
    site.address = kPlace;
    site.detour = kCode + 0x40;
    site.length = 6;
    site.form = DJTAP_JUMP;
  }

  djtap_answer verify() {
    facts.fixed = fixed.data();
    facts.fixed_count = fixed.size();
    return dj_verify(&site, copies.data(), __u32(copies.size()), &facts, &place, bytes.data());
  }
};

std::vector<__u8> first(const std::vector<__u8>& bytes, size_t count) {
  return {bytes.begin(), bytes.begin() + long(count)};
}

TEST(Verify, AJumpHasItsDistance) {
  Case c;
  ASSERT_EQ(c.verify(), DJTAP_ARMED);
  const auto distance = uint32_t(c.site.detour - (kPlace + 5));
  EXPECT_EQ(c.bytes[0], 0xe9);
  uint32_t written;
  std::memcpy(&written, &c.bytes[1], 4);
  EXPECT_EQ(written, distance);
  EXPECT_EQ(std::memcmp(&c.bytes[5], &c.site.original[5], DJTAP_WINDOW - 5), 0);
}

TEST(Verify, AnInt3IsOneByte) {
  Case c;
  c.site.form = DJTAP_INT3;
  c.site.length = 2;
  ASSERT_EQ(c.verify(), DJTAP_ARMED);
  EXPECT_EQ(first(c.bytes, 3), (std::vector<__u8>{0xcc, 0x57, 0x41}));
  EXPECT_EQ(dj_extent(&c.site), 2u);
}

TEST(Verify, PrefixesStandBeforeTheJump) {
  Case c;
  c.site.prefixes = 1;
  ASSERT_EQ(c.verify(), DJTAP_ARMED);
  EXPECT_EQ(first(c.bytes, 2), (std::vector<__u8>{0x2e, 0xe9}));
  EXPECT_EQ(dj_extent(&c.site), 6u);
  c.site.length = 1;
  EXPECT_EQ(c.verify(), DJTAP_BAD_FORM);
  c.site.length = 32;
  c.site.prefixes = 11;
  EXPECT_EQ(c.verify(), DJTAP_BAD_FORM);
}

TEST(Verify, AGuardIsInt3WhereverItLies) {
  Case c;
  c.site.guards = 1 << 2;  // in the displacement
  c.copies = {kCode + 0x80};
  EXPECT_EQ(c.verify(), DJTAP_BAD_JUMP);
  for (uint64_t at = kCode; at < kCode + 0x10000; at += 0x10) {
    if (((at - (kPlace + 5)) >> 8 & 0xff) == 0xcc) c.site.detour = at;
  }
  c.facts.code.end += 0x10000;
  ASSERT_EQ(c.verify(), DJTAP_ARMED);
  EXPECT_EQ(c.bytes[2], 0xcc);

  Case behind;
  behind.site.length = 8;
  behind.site.guards = 1 << 6;
  behind.copies = {kCode + 0x80};
  ASSERT_EQ(behind.verify(), DJTAP_ARMED);
  EXPECT_EQ(behind.bytes[6], 0xcc);
  EXPECT_EQ(behind.bytes[7], 0x54);
}

TEST(Verify, BytesBehindTheMovedOnesStay) {
  Case c;
  c.site.length = 4;
  EXPECT_EQ(c.verify(), DJTAP_BAD_JUMP);
  c.site.original[4] = 0x3e;  // the highest byte of this distance
  EXPECT_EQ(c.verify(), DJTAP_BAD_JUMP);
  const uint32_t top = uint32_t(c.site.detour - (kPlace + 5)) >> 24;
  c.site.original[4] = __u8(top);
  EXPECT_EQ(c.verify(), DJTAP_ARMED);
}

TEST(Verify, FormsThatContradictThemselves) {
  const auto refused = [](auto change) {
    Case c;
    change(c.site);
    return c.verify() == DJTAP_BAD_FORM;
  };
  EXPECT_TRUE(refused([](djtap_site& s) { s.length = 0; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.length = 33; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.form = 2; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.guards = 1; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.guards = 1 << 6; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.prefixes = 1, s.guards = 2; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.form = DJTAP_INT3, s.guards = 2; }));
  EXPECT_TRUE(refused([](djtap_site& s) { s.form = DJTAP_INT3, s.prefixes = 1; }));
  for (int i = 0; i < 5; i++) EXPECT_TRUE(refused([&](djtap_site& s) { s.reserved[i] = 1; }));
}

TEST(Verify, OnlyTheKernelsText) {
  Case c;
  for (uint64_t address : {uint64_t(0), uint64_t(0x400000), kText - 1, kText + 0x100000,
                           kText + 0x100000 - 5, ~uint64_t(0), ~uint64_t(0) - 3, kCode}) {
    c.site.address = address;
    EXPECT_EQ(c.verify(), DJTAP_NOT_TEXT) << std::hex << address;
  }
}

TEST(Verify, WhatKprobesMayNotHave) {
  Case c;
  c.place.forbidden = 1;
  EXPECT_EQ(c.verify(), DJTAP_FORBIDDEN);
}

TEST(Verify, AllBytesAreInOneFunction) {
  Case c;
  c.place.function = {0, 0};
  EXPECT_EQ(c.verify(), DJTAP_TWO_FUNCTIONS);
  c.place.function = {kPlace - 5, kPlace + 5};  // the sixth byte is moved, too
  EXPECT_EQ(c.verify(), DJTAP_TWO_FUNCTIONS);
  c.place.function = {kPlace, kPlace + 6};
  EXPECT_EQ(c.verify(), DJTAP_ARMED);
  c.place.function = {kPlace + 1, kPlace + 60};
  EXPECT_EQ(c.verify(), DJTAP_TWO_FUNCTIONS);
}

TEST(Verify, FixedPlacesStay) {
  for (uint64_t bytes = 1; bytes <= DJ_FIXED_BYTES; bytes++) {
    for (uint64_t begin = kPlace - 8; begin < kPlace + 10; begin++) {
      Case c;
      for (uint64_t other = kPlace - 400; other < kPlace - 8; other += 3)
        c.fixed.push_back({other, other + 2});
      c.fixed.push_back({begin, begin + bytes});
      for (uint64_t other = kPlace + 10; other < kPlace + 400; other += 7)
        c.fixed.push_back({other, other + 5});
      const bool meets = begin + bytes > kPlace && begin < kPlace + 6;
      EXPECT_EQ(c.verify(), meets ? DJTAP_FIXED_PLACE : DJTAP_ARMED)
          << begin - kPlace << " " << bytes;
    }
  }
}

TEST(Verify, DetoursLieInTheSealedBlock) {
  Case c;
  for (uint64_t detour : {uint64_t(0), kCode - 1, kCode + 0x1000, ~uint64_t(0), kPlace}) {
    c.site.detour = detour;
    EXPECT_EQ(c.verify(), DJTAP_BAD_DETOUR) << std::hex << detour;
  }
  Case unsealed;
  unsealed.facts.code = {0, 0};
  EXPECT_EQ(unsealed.verify(), DJTAP_BAD_DETOUR);

  Case guarded;
  guarded.site.length = 10;
  guarded.site.guards = 1 << 6 | 1 << 8;
  EXPECT_EQ(guarded.verify(), DJTAP_BAD_DETOUR);
  guarded.copies = {kCode + 1};
  EXPECT_EQ(guarded.verify(), DJTAP_BAD_DETOUR);
  guarded.copies = {kCode + 1, kCode + 0x1000};
  EXPECT_EQ(guarded.verify(), DJTAP_BAD_DETOUR);
  guarded.copies = {kCode + 1, kCode + 2};
  EXPECT_EQ(guarded.verify(), DJTAP_ARMED);
  guarded.site.first_copy = ~0u;
  EXPECT_EQ(guarded.verify(), DJTAP_BAD_DETOUR);
}

TEST(Verify, ADistanceHas32Bits) {
  Case c;
  c.facts.code = {kText - (uint64_t(3) << 30), kText};
  c.site.detour = kText - (uint64_t(2) << 30) - 64;
  EXPECT_EQ(c.verify(), DJTAP_BAD_JUMP);
  c.site.detour = kText - (uint64_t(1) << 30);
  EXPECT_EQ(c.verify(), DJTAP_ARMED);
}

// Whatever comes, all bytes that change lie in the text, the function and no fixed place, and lead
// to the block.
TEST(Verify, AnyNumbersDoNoHarm) {
  std::mt19937_64 random(20261128);
  size_t armed = 0;
  for (int round = 0; round < 200000; round++) {
    Case c;
    c.copies = {kCode + 1, kCode + 2, kCode + 0x2000};
    c.fixed = {{kPlace + 20, kPlace + 22}};
    auto* raw = reinterpret_cast<__u8*>(&c.site);
    for (size_t changes = random() % 4; changes > 0; changes--)
      raw[random() % sizeof c.site] = __u8(random());
    if (random() % 4 == 0) c.site.address = kPlace + random() % 64;
    if (random() % 4 == 0) c.site.length = __u8(random() % 40);
    if (random() % 4 == 0) c.site.guards = 1u << random() % 32;
    if (c.verify() != DJTAP_ARMED) continue;
    armed++;
    const uint64_t end = c.site.address + dj_extent(&c.site);
    EXPECT_GE(c.site.address, c.place.function.begin);
    EXPECT_LE(end, c.place.function.end);
    EXPECT_TRUE(end <= c.fixed[0].begin || c.site.address >= c.fixed[0].end);
    for (uint32_t i = dj_extent(&c.site); i < DJTAP_WINDOW; i++)
      EXPECT_EQ(c.bytes[i], c.site.original[i]);
    EXPECT_TRUE(c.bytes[0] == 0xe9 || c.bytes[0] == 0xcc || c.bytes[0] == 0x2e);
  }
  EXPECT_GT(armed, 1000u);
}

}  // namespace
