// Differential: instructions of the C library run where they stand and relocated, from the same
// random state.
#include <gtest/gtest.h>
#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <random>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/test_machine.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::State;

// A zone around the two places: rip-relative operands and branch targets fall into it.
constexpr uint64_t kZone = 0x20000000;
constexpr size_t kZoneBytes = 0x1000000;
constexpr uint64_t kHere = kZone + 0x700000, kThere = kZone + 0xa00000;
constexpr uint64_t kStack = kZone + 0x200000, kData = kZone + 0x100000;

sigjmp_buf recover;
void on_fault(int signal) { siglongjmp(recover, signal); }

// Faults are outcomes like others: both sides must have the same.
int run_caught(uint64_t code, const State& in, State& out) {
  const int signal = sigsetjmp(recover, 1);
  if (signal == 0) out = test::run(code, in);
  return signal;
}

constexpr int32_t kReach = 0x1000;  // displacements that stay in what is filled anew for each run

bool worth_running(const Insn& insn, std::span<const uint8_t> bytes) {
  if (insn.memory() && !insn.rip_relative && (insn.disp >= kReach || insn.disp <= -kReach))
    return false;
  if (unsigned(insn.kind) > unsigned(Kind::Call)) return false;
  if (!insn.legacy && !insn.rip_relative) return false;  // the upper vector registers are not set
  const std::string text = disassemble(bytes, insn.address);
  for (const char* word : {"std", "popf", "rd", "xsave", "xrstor", "wr", "cpuid", "leave", "rep",
                           "in ", "ins", "out", "call qword", "sti", "cli"}) {
    if (text.rfind(word, 0) == 0) return false;  // privileged, or not the same twice
  }
  for (const char* operand : {"fs:", "gs:", "rsp", "esp"}) {
    if (text.find(operand) != std::string::npos) return false;
  }
  return true;
}

class Fuzz : public testing::Test {
 protected:
  Fuzz() : zone_(kZoneBytes, kZone), stack_(SIGSTKSZ * 4) {
    stack_t alternate = {stack_.data(), 0, stack_.size()};
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP})
      sigaction(signal, &action, nullptr);
  }
  ~Fuzz() override {
    for (const int signal : {SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP}) ::signal(signal, SIG_DFL);
    stack_t off = {nullptr, SS_DISABLE, 0};
    sigaltstack(&off, nullptr);
  }

  State random_state(std::mt19937_64& random) {
    State state;
    // Half of the registers point into memory, so that loads and stores happen.
    for (uint64_t& reg : state.regs) reg = random() % 2 ? random() : kData + random() % 0x1000;
    state.regs[4] = kStack;
    state.flags = 0x202 | (random() & 0x8d5);
    return state;
  }

  void fill(uint64_t from, size_t bytes, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t word = random();
      memcpy(zone_.at(from + i), &word, 8);
    }
  }
  // Relative ones lead into the zone and not onto themselves; few of those that are copied
  // unchanged are run.
  bool chosen(const Insn& insn, std::span<const uint8_t> bytes, std::mt19937_64& random) const {
    if (!worth_running(insn, bytes)) return false;
    if (!relative(insn)) return random() % 16 == 0;
    return insn.target - (kZone + 0x300000) <= kZoneBytes - 0x400000 &&
           (insn.target < kHere - 32 || insn.target > kHere + 32);
  }
  static bool relative(const Insn& insn) { return insn.rip_relative || insn.branches(); }

  struct Outcome {
    int signal = 0;
    State state;
    std::vector<uint8_t> memory;
    bool operator==(const Outcome& other) const {
      return signal == other.signal && memory == other.memory &&
             (signal != 0 || state == other.state);
    }
  };

  Outcome outcome(const Insn& insn, uint64_t where, const std::vector<uint8_t>& code,
                  const State& in, uint64_t seed) {
    fill(kData - kReach, kDataBytes, seed);
    fill(kStack - 64, 128, seed);
    if (insn.rip_relative) fill(insn.target & ~uint64_t(7), 32, seed + 1);
    if (insn.branches()) {
      static const std::vector<uint8_t> arrived = test::assemble("mov $0xb0,%r15b");
      zone_.put(insn.target, arrived);
      zone_.put_exit(insn.target + arrived.size());
    }
    zone_.put(where, code);
    zone_.put_exit(where + code.size());
    Outcome result;
    result.signal = run_caught(where, in, result.state);
    const auto keep = [&](uint64_t from, size_t bytes) {
      result.memory.insert(result.memory.end(), zone_.at(from), zone_.at(from) + bytes);
    };
    keep(kData - kReach, kDataBytes);
    keep(kStack - 64, 128);
    if (insn.rip_relative) keep(insn.target, 16);
    return result;
  }

  static constexpr size_t kDataBytes = 0x4000;
  test::Memory zone_;
  std::vector<char> stack_;
};

TEST_F(Fuzz, LibcInstructionsRelocated) {
  const test::Victim libc = test::read_elf("/lib/x86_64-linux-gnu/libc.so.6");
  const uint64_t seed = std::random_device{}();
  RecordProperty("seed", std::to_string(seed));
  printf("seed %lu\n", seed);
  std::mt19937_64 random(seed);
  int ran = 0, relatives = 0, faults = 0;
  const TextRange& text = *std::max_element(
      libc.text.text.begin(), libc.text.text.end(),
      [](const TextRange& a, const TextRange& b) { return a.bytes.size() < b.bytes.size(); });
  while (ran < 3000) {
    const FunctionRange& f = libc.text.functions[random() % libc.text.functions.size()];
    if (f.begin < text.address || f.end > text.address + text.bytes.size()) continue;
    const auto all = std::span(text.bytes).subspan(f.begin - text.address, f.end - f.begin);
    Insn insn;
    for (size_t offset = 0; offset < all.size() && decode(all.subspan(offset), kHere, insn);
         offset += insn.length) {
      const auto bytes = all.subspan(offset, insn.length);
      if (!chosen(insn, bytes, random)) continue;
      auto moved = relocate(bytes, kHere, kThere);
      ASSERT_TRUE(moved.ok()) << moved.error().message;
      const State in = random_state(random);
      const Outcome bare = outcome(insn, kHere, {bytes.begin(), bytes.end()}, in, seed);
      const Outcome elsewhere = outcome(insn, kThere, moved.value(), in, seed);
      ASSERT_TRUE(bare == elsewhere) << disassemble(bytes, kHere) << " seed " << seed;
      ran++;
      relatives += relative(insn);
      faults += bare.signal != 0;
    }
  }
  printf("%d instructions, %d of them relative, %d faulted on both sides\n", ran, relatives,
         faults);
  EXPECT_GT(relatives, 300);
  EXPECT_LT(faults, ran / 2);
}

}  // namespace
}  // namespace dj::arch
