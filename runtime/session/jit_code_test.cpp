// SPDX-License-Identifier: Apache-2.0
// What programs say of the code that they compile, said well and badly, in pieces of any size.
#include "runtime/session/jit_code.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace dj {
namespace {

std::string name_at(const JitCode& code, uint64_t address) {
  auto next = code.functions().upper_bound(address);
  if (next == code.functions().begin()) return "";
  const auto& [begin, function] = *std::prev(next);
  return address < function.end ? function.name : "";
}

void expect_disjoint(const JitCode& code) {
  uint64_t end = 0;
  for (const auto& [begin, function] : code.functions()) {
    EXPECT_GE(begin, end);
    EXPECT_GT(function.end, begin);
    end = function.end;
  }
}

TEST(PerfMap, TakesLinesInPieces) {
  const std::string text =
      "1000 20 JS:*f /a b.js:1\n0x2000 0x10 g\r\n3000 0 stub\n1010 8 newer\n4000 10 cut";
  for (size_t piece : {size_t{1}, size_t{7}, text.size()}) {
    JitCode code;
    PerfMap map(code);
    for (size_t at = 0; at < text.size(); at += piece) map.take(text.substr(at, piece));
    EXPECT_EQ(name_at(code, 0x1010), "newer");
    EXPECT_EQ(name_at(code, 0x1000), "");  // the new function overlaps it
    EXPECT_EQ(name_at(code, 0x200f), "g");
    EXPECT_EQ(name_at(code, 0x2010), "");
    EXPECT_EQ(name_at(code, 0x4000), "");  // its line is not complete
    EXPECT_EQ(map.wrong_lines(), 0u);
    map.take("er\n");
    EXPECT_EQ(name_at(code, 0x4000), "cuter");
  }
}

TEST(PerfMap, CountsWhatIsNoLine) {
  JitCode code;
  PerfMap map(code);
  for (const char* line :
       {"x", "1000", "1000 20", "1000 20 ", "zz 20 f", "1000 zz f", " 1000 20 f", "0 10 f",
        "ffffffffffffffff 10 f", "7fffffffffff 10 f", "1000 ffffffffffffffff f",
        "11111111111111111 10 f", "-1000 10 f", "1000\t10\tf"}) {
    const uint64_t before = map.wrong_lines();
    map.take(std::string(line) + "\n");
    EXPECT_EQ(map.wrong_lines(), before + 1) << line;
  }
  EXPECT_TRUE(code.functions().empty());
  map.take("\n");
  const std::string zeros(1'000'000, '\0');
  for (int i = 0; i < 100; ++i) map.take(zeros);  // takes no room
  map.take("\n5000 10 after\n");
  EXPECT_EQ(name_at(code, 0x5000), "after");
}

TEST(PerfMap, NamesAreTexts) {
  JitCode code;
  PerfMap map(code);
  map.take("1000 10 a\x1b[31mred\n2000 10 caf\xc3\xa9\n3000 10 " + std::string(5000, 'n') + "\n");
  EXPECT_EQ(name_at(code, 0x1000), "a\\x1b[31mred");
  EXPECT_EQ(name_at(code, 0x2000), "caf\xc3\xa9");
  EXPECT_EQ(name_at(code, 0x3000), std::string(1024, 'n'));
}

TEST(JitCode, FunctionsNeverOverlap) {
  std::minstd_rand random(1);
  JitCode code;
  for (int i = 0; i < 20'000; i++) {
    if (i % 5 == 0) {
      code.move(random() % 4096 + 1, random() % 4096 + 1);
    } else {
      code.add(random() % 4096 + 1, random() % 64, std::to_string(i));
    }
  }
  expect_disjoint(code);
}

TEST(JitCode, IsBounded) {
  JitCode code;
  for (uint64_t i = 0; i < JitCode::kMost + 1000; i++) code.add(0x1000 + i * 16, 16, "f");
  EXPECT_TRUE(code.is_full());
  EXPECT_EQ(code.functions().size(), JitCode::kMost);
}

// A jit-PID.dump in memory.
struct Dump {
  std::string bytes;
  template <typename T>
  void put(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  Dump() {
    for (uint32_t word : {0x4A695444u, 1u, 40u, 62u, 0u, 7u}) put(word);
    put(uint64_t{0});
    put(uint64_t{0});
  }
  void record(uint32_t kind, const std::vector<uint64_t>& words, const std::string& rest) {
    const size_t size = 16 + 8 + 8 * words.size() + rest.size();
    put(kind);
    put(static_cast<uint32_t>(size));
    put(uint64_t{0});
    put(uint64_t{7});
    for (uint64_t word : words) put(word);
    bytes += rest;
  }
  void load(uint64_t at, uint64_t size, const std::string& name) {
    record(0, {at, at, size, 0}, name + '\0' + std::string(size, '\x90'));
  }
  bool read(uint64_t at, std::span<uint8_t> to) const {
    if (at > bytes.size() || bytes.size() - at < to.size()) return false;
    std::memcpy(to.data(), bytes.data() + at, to.size());
    return true;
  }
  void take_into(JitDump& dump) const {
    const auto reader = [this](uint64_t at, std::span<uint8_t> to) { return read(at, to); };
    while (dump.take(reader)) {
    }
  }
};

TEST(JitDump, TakesRecords) {
  Dump file;
  file.load(0x1000, 0x40, "first");
  file.load(0x2000, 0x40, "second");
  file.record(2, {0, 0}, "lines");  // debug information: left out
  file.record(1, {0x1000, 0x1000, 0x5000, 0x40, 0}, "");
  JitCode code;
  JitDump dump(code);
  for (size_t cut = 0; cut <= file.bytes.size(); cut++) {  // as it grows
    Dump part = file;
    part.bytes.resize(cut);
    part.take_into(dump);
  }
  EXPECT_FALSE(dump.is_broken());
  EXPECT_EQ(dump.at(), file.bytes.size());
  EXPECT_EQ(name_at(code, 0x1000), "");
  EXPECT_EQ(name_at(code, 0x5000), "first");
  EXPECT_EQ(name_at(code, 0x203f), "second");
}

TEST(JitDump, EndsWhereItIsBroken) {
  Dump file;
  file.load(0x1000, 0x40, "first");
  const size_t good = file.bytes.size();
  for (int i = 0; i < 10; i++) file.put(uint32_t{3});  // records of three bytes
  JitCode code;
  JitDump dump(code);
  file.take_into(dump);
  EXPECT_TRUE(dump.is_broken());
  EXPECT_EQ(dump.at(), good);
  EXPECT_EQ(name_at(code, 0x1000), "first");

  Dump other;
  other.bytes = std::string(1000, 'x');
  JitDump garbage(code);
  other.take_into(garbage);
  EXPECT_TRUE(garbage.is_broken());
}

TEST(JitDump, AnyBytesDo) {
  std::minstd_rand random(1);
  for (int round = 0; round < 500; round++) {
    Dump file;
    for (int i = 0; i < 20; i++) file.load(random() % (1 << 20), random() % 256, "name");
    for (int i = 0; i < 30; i++)
      file.bytes[random() % file.bytes.size()] = static_cast<char>(random());
    JitCode code;
    JitDump dump(code);
    file.take_into(dump);
    expect_disjoint(code);
  }
}

}  // namespace
}  // namespace dj
