// SPDX-License-Identifier: Apache-2.0
// MD5 (RFC 1321) of bytes that are all there.
#include "compiler/base/md5.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace dj {
namespace {

constexpr size_t kBlock = 64;  // bytes

using State = std::array<uint32_t, 4>;

// The parts of 2^32 that the sines of 1 to 64 are.
std::array<uint32_t, 64> sines() {
  std::array<uint32_t, 64> table{};
  for (size_t i = 0; i < table.size(); i++)
    table[i] = static_cast<uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 0x1p32);
  return table;
}

void take_block(const uint8_t* block, State& state) {
  static const std::array<uint32_t, 64> table = sines();
  constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  constexpr uint32_t kStep[4] = {1, 5, 3, 7}, kFirst[4] = {0, 1, 5, 0};  // of the words of a round
  uint32_t words[16];
  std::memcpy(words, block, kBlock);
  auto [a, b, c, d] = state;
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t round = i / 16;
    const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (b & d) | (c & ~d)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
    const uint32_t word = words[(kFirst[round] + kStep[round] * i) % 16];
    const uint32_t turned = b + std::rotl(a + mixed + table[i] + word, kTurns[round][i % 4]);
    a = d, d = c, c = b, b = turned;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

}  // namespace

std::string md5(std::span<const uint8_t> bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  const size_t whole = bytes.size() / kBlock * kBlock, rest = bytes.size() - whole;
  for (size_t at = 0; at < whole; at += kBlock) take_block(bytes.data() + at, state);
  // What remains, a one, zeros, and how many bits all has.
  std::array<uint8_t, 2 * kBlock> end{};
  if (rest > 0) std::memcpy(end.data(), bytes.data() + whole, rest);
  end[rest] = 0x80;
  const size_t size = rest < kBlock - sizeof(uint64_t) ? kBlock : 2 * kBlock;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  std::memcpy(end.data() + size - sizeof bits, &bits, sizeof bits);
  for (size_t at = 0; at < size; at += kBlock) take_block(end.data() + at, state);
  std::string text;
  for (uint32_t word : state) {
    for (int byte = 0; byte < 4; byte++) text += fmt::format("{:02x}", word >> (8 * byte) & 0xff);
  }
  return text;
}

}  // namespace dj
