// SPDX-License-Identifier: Apache-2.0
// What is remembered of heads is what the decoder says of each instruction: over real programs'
// code and random bytes, from any number of threads.
#include "arch/x86_64/decode_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

constexpr uint64_t kHere = 0x401000;
constexpr size_t kLongest = 15;

struct Tally {
  size_t decoded = 0, different = 0, remembered = 0;
};

// The instruction at the start of `bytes`, by whichever way, against the decoder's word: of bytes
// that end with the instruction no head is looked up.
size_t compare(std::span<const uint8_t> bytes, Tally& tally) {
  Insn any, decoded;
  const size_t size = head_size(bytes);
  Head known;
  if (size != 0 && known_head(bytes.data(), size, known)) tally.remembered++;
  if (!decode(bytes, kHere, any)) return 1;
  tally.decoded++;
  std::vector<uint8_t> alone(bytes.begin(), bytes.begin() + any.length);
  if (alone.size() < kLongest && (!decode(alone, kHere, decoded) || !(decoded == any))) {
    if (tally.different++ < 10) ADD_FAILURE() << disassemble(bytes, kHere);
  }
  return any.length;
}

TEST(Heads, SayWhatTheDecoderSaysOfRealCode) {
  for (const char* path : {"/proc/self/exe", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                           "/usr/lib/x86_64-linux-gnu/libc.so.6"}) {
    const test::Victim victim = test::read_elf(path);
    Tally tally;
    for (const TextRange& range : victim.text.text) {
      const std::span<const uint8_t> bytes(range.bytes);
      for (size_t at = 0; at < bytes.size();) at += compare(bytes.subspan(at), tally);
    }
    EXPECT_EQ(tally.different, 0) << path;
    EXPECT_GT(tally.decoded, 10'000) << path;
    EXPECT_GT(double(tally.remembered), 0.8 * double(tally.decoded)) << path;
  }
}

// Every opcode of the maps 0f, 0f38, 0f3a and VEX, with every kind of ModRM, comes up many times.
TEST(Heads, SayWhatTheDecoderSaysOfRandomBytes) {
  std::mt19937_64 random(7);
  const std::vector<std::vector<uint8_t>> starts = {
      {},     {0x0f}, {0x48}, {0x41, 0x0f}, {0x66, 0x0f, 0x38}, {0xf3, 0x0f},      {0xc5},
      {0xc4}, {0x62}, {0x67}, {0x0f, 0x0f}, {0x66, 0x0f, 0x3a}, {0xf2, 0x48, 0x0f}};
  Tally tally;
  for (int i = 0; i < 2'000'000; i++) {
    std::array<uint8_t, 24> bytes;
    for (uint8_t& byte : bytes) byte = uint8_t(random());
    const auto& start = starts[size_t(i) % starts.size()];
    std::copy(start.begin(), start.end(), bytes.begin());
    compare(bytes, tally);
    for (size_t at = head_size(bytes); at < bytes.size(); at++) bytes[at] ^= 0xff;  // other values
    compare(bytes, tally);
  }
  EXPECT_EQ(tally.different, 0);
  EXPECT_GT(tally.remembered, 100'000);
}

TEST(Heads, AreAddedByThreadsAtOnce) {
  std::array<Tally, 4> tallies;
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < tallies.size(); t++) {
      threads.emplace_back([&tally = tallies[t]] {
        for (uint32_t i = 0; i < 100'000; i++) {
          std::array<uint8_t, 16> bytes = {
              0x64, 0x4b, 0x8b, uint8_t(i), uint8_t(i >> 8), uint8_t(i >> 16)};
          compare(bytes, tally);
        }
      });
    }
  }
  for (const Tally& tally : tallies) EXPECT_EQ(tally.different, 0);
}

}  // namespace
}  // namespace dj::arch
