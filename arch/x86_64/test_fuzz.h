// SPDX-License-Identifier: Apache-2.0
// For tests: the relocator's fuzzer chooses windows of instructions and states, runs each window
// bare and in a detour, and compares (fuzz_test.cpp).
#pragma once
#include <string>
#include <vector>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/test_sandbox.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch::test {

constexpr uint64_t kFuzzHere = 0x3'0400'0800;  // where windows stand
// Pages for detours, each with a page for handlers behind: near, far, and as far as jumps go.
constexpr uint64_t kFuzzPage = 0x1000;
constexpr uint64_t kFuzzDetours[] = {0x3'0401'0000, 0x3'03ff'0000, 0x3'1634'5000, 0x3'83ff'0000,
                                     0x2'8401'0000};
// Bits cleared in an address of data do not make one of code: that reads differently when patched.
constexpr uint64_t kFuzzData = 0x3'0010'0000, kFuzzDataBytes = 0x2000;

// Where windows come from: a file's text and the functions in it.
struct Source {
  Victim victim;
};
std::vector<Source> read_sources();

// Written by the child that runs windows, read by its parent.
struct Progress {
  uint64_t next = 0;  // number of the window that is running
  uint64_t instructions = 0, relative = 0, through = 0, faulted = 0;
  char message[4096] = {};  // a difference; the run ends with the first
};

// A small generator: one for each window, so that any window can be repeated alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  bool one_in(uint64_t n) { return (*this)() % n == 0; }

 private:
  uint64_t state_;
};

struct Window {
  std::vector<uint8_t> bytes;
  std::vector<Insn> insns;
  std::string text;
  bool relative = false, moves_sp = false, red_zone = false;
};

class Fuzzer {
 public:
  Fuzzer(const std::vector<Source>& sources, uint64_t seed, Progress& progress);
  // Windows progress.next .. end; stops at the first difference.
  void run(uint64_t end);

 private:
  struct Trial;  // one window with one state

  bool choose(Random& random, Window& window) const;
  bool take(std::span<const uint8_t> code, Random& random, Window& window) const;
  Frame random_frame(Random& random) const;
  void try_window(uint64_t number);
  const Ending& run_bare(const Trial& trial);
  const Ending& run_detoured(const Trial& trial);
  void refill(const Trial& trial);
  std::vector<uint8_t> dead_stack(const Trial& trial, uint64_t live);
  bool ends_otherwise(const Trial& trial, const Ending& bare, const std::vector<uint8_t>& dead,
                      uint8_t code);
  bool reads_astray(const Trial& trial, const Ending& bare);
  std::string difference(const Trial& trial, const Ending& bare, const Ending& detoured) const;

  const std::vector<Source>& sources_;
  uint64_t seed_;
  Progress& progress_;
  Sandbox sandbox_;
  Frame host_;
  uint8_t* code_ = nullptr;  // writable view of all pages that hold code
  std::vector<uint8_t> bare_memory_;
};

}  // namespace dj::arch::test
