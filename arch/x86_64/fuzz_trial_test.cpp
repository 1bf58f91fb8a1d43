// SPDX-License-Identifier: Apache-2.0
// The fuzzer's trials: a window runs bare and in its detour, and both endings are compared.
#include <fmt/format.h>

#include <algorithm>

#include "arch/x86_64/test_fuzz.h"

namespace dj::arch::test {
namespace {

constexpr uint64_t kPage = kFuzzPage, kPages = 1 + 2 * std::size(kFuzzDetours);
constexpr uint64_t kHerePage = kFuzzHere & ~(kPage - 1);
constexpr uint64_t kStack = 0x3'0020'0000, kStackBytes = 0x2000, kSp = kStack + 0x1400;
constexpr uint64_t kRedZone = 128;
constexpr uint32_t kFlags = 0x40cd5;  // AC OF DF SF ZF AF PF CF

// A handler changes what it may: r11, and in the middle of functions the flags.
constexpr uint64_t kHandlerOf[] = {0x800, 0x900};  // by Form

void map_fixed(uint64_t address, uint64_t bytes, int protection, int flags, int fd, uint64_t at) {
  void* got = mmap(reinterpret_cast<void*>(address), bytes, protection, flags | MAP_FIXED_NOREPLACE,
                   fd, off_t(at));
  CHECK(got == reinterpret_cast<void*>(address));
}

uint8_t* memory(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

}  // namespace

struct Fuzzer::Trial {
  Window window;
  Frame start;
  Form form = Form::Middle;
  uint32_t handlers_at = 0;
  size_t place = 0;  // index in kFuzzDetours
  bool by_jump = false;
  Detour detour;
  std::vector<uint8_t> memory;  // data, then stack

  uint64_t end() const { return kFuzzHere + window.bytes.size(); }
  // A call through memory or a register that faulted before it was done: its copy has pushed the
  // return address by then. A program could only see that from a signal handler.
  bool call_failed(const Ending& bare) const {
    const Insn& last = window.insns.back();
    return last.kind == Kind::CallIndirect && uint64_t(bare.frame.general[REG_RIP]) == last.address;
  }
  // Where the bare run would be.
  uint64_t map_back(uint64_t rip) const {
    const uint64_t offset = rip - kFuzzDetours[place];
    if (offset >= detour.bytes.size()) return rip;
    uint64_t mapped = 0;
    for (const auto& [at, copy] : detour.copies) {
      if (copy <= offset) mapped = kFuzzHere + at;
    }
    return mapped;
  }
};

Fuzzer::Fuzzer(const std::vector<Source>& sources, uint64_t seed, Progress& progress)
    : sources_(sources), seed_(seed), progress_(progress), host_(Sandbox::present()) {
  const int file = memfd_create("code", MFD_CLOEXEC);
  CHECK(file >= 0 && ftruncate(file, kPages * kPage) == 0);
  code_ = static_cast<uint8_t*>(
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::memset(code_, kInt3, kPages * kPage);
  map_fixed(kHerePage, kPage, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  uint64_t at = kPage;
  const std::string change = "movabs $0xdeadbeefcafe,%r11";
  const auto boundary = assemble(change + "; ret");
  const auto middle = assemble(change + "; cmp $7,%r11; ret");
  for (const uint64_t place : kFuzzDetours) {
    map_fixed(place, 2 * kPage, PROT_READ | PROT_EXEC, MAP_SHARED, file, at);
    std::copy(boundary.begin(), boundary.end(), code_ + at + kPage + kHandlerOf[0]);
    std::copy(middle.begin(), middle.end(), code_ + at + kPage + kHandlerOf[1]);
    at += 2 * kPage;
  }
  close(file);
  const int plain = MAP_PRIVATE | MAP_ANONYMOUS;
  map_fixed(kFuzzData, kFuzzDataBytes, PROT_READ | PROT_WRITE, plain, -1, 0);
  map_fixed(kStack, kStackBytes, PROT_READ | PROT_WRITE, plain, -1, 0);
}

Frame Fuzzer::random_frame(Random& random) const {
  Frame frame = host_;
  for (size_t i = 0; i < REG_RSP; i++) {
    const uint64_t to_data = kFuzzData + random() % kFuzzDataBytes;
    const uint64_t kind = random() % 8;
    frame.general[i] = int64_t(kind < 3   ? to_data
                               : kind < 5 ? to_data & ~uint64_t(63)
                               : kind < 6 ? random() % 256
                                          : random());
  }
  frame.general[REG_RSP] = int64_t(kSp + (random.one_in(4) ? random() % 64 : 8 * (random() % 8)));
  frame.general[REG_RIP] = kFuzzHere;
  frame.general[REG_EFL] = int64_t(0x202 | (random() & 0x8d5) | (random.one_in(8) ? 0x400 : 0));
  const auto fill = [&](size_t at, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
      const uint64_t word = random.one_in(4) ? 0x3ff0000000000000 >> random() % 4 * 16 : random();
      std::memcpy(frame.floats.data() + at + i, &word, std::min<size_t>(8, bytes - i));
    }
  };
  frame.floats[4] = random.one_in(2) ? 0xff : 0;  // x87 registers in use
  for (size_t at = 32; at < 160; at += 16) fill(at, 10);
  const uint32_t mxcsr = 0x1f80 | (uint32_t(random()) & 0xe040);  // rounding, denormals
  std::memcpy(frame.floats.data() + 24, &mxcsr, 4);
  fill(160, 256);
  uint64_t present = 3;
  for (const Component& part : components(host_)) {
    if (random.one_in(4)) continue;
    present |= uint64_t(1) << part.bit;
    fill(part.offset, part.bytes);
  }
  uint64_t others;
  std::memcpy(&others, frame.floats.data() + kComponentsAt, 8);
  present |= others & ~uint64_t(0xe7);
  std::memcpy(frame.floats.data() + kComponentsAt, &present, 8);
  return frame;
}

// Code everywhere else is int3: whatever leaves the window stops there.
void Fuzzer::refill(const Trial& trial) {
  std::memcpy(memory(kFuzzData), trial.memory.data(), kFuzzDataBytes);
  std::memcpy(memory(kStack), trial.memory.data() + kFuzzDataBytes, kStackBytes);
  std::memset(code_ + (kFuzzHere - kHerePage), kInt3, 64);
}

const Ending& Fuzzer::run_bare(const Trial& trial) {
  refill(trial);
  std::copy(trial.window.bytes.begin(), trial.window.bytes.end(), code_ + (kFuzzHere - kHerePage));
  return Sandbox::run(trial.start);
}

const Ending& Fuzzer::run_detoured(const Trial& trial) {
  refill(trial);
  uint8_t* detour = code_ + kPage + 2 * kPage * trial.place;
  std::copy(trial.detour.bytes.begin(), trial.detour.bytes.end(), detour);
  Frame start = trial.start;
  if (trial.by_jump) {
    const auto jump = encode_jump(kFuzzHere, kFuzzDetours[trial.place]);
    CHECK(jump.ok());
    std::copy(jump.value().begin(), jump.value().end(), code_ + (kFuzzHere - kHerePage));
  } else {
    start.general[REG_RIP] = int64_t(kFuzzDetours[trial.place]);
  }
  return Sandbox::run(start);
}

// What lies in the dead stack when the handlers have run.
std::vector<uint8_t> Fuzzer::dead_stack(const Trial& trial, uint64_t live) {
  Trial stopped = trial;
  for (const Detour::Piece& piece : trial.detour.pieces) {
    if (piece.offset == trial.handlers_at) stopped.detour.bytes[piece.begin] = kInt3;
  }
  run_detoured(stopped);
  return {memory(kStack), memory(live)};
}

// Does the bare run end in other registers when `dead` lies in the dead stack, and `code` around?
bool Fuzzer::ends_otherwise(const Trial& trial, const Ending& bare,
                            const std::vector<uint8_t>& dead, uint8_t code) {
  refill(trial);
  std::copy(dead.begin(), dead.end(), memory(kStack));
  const auto surround = [&](uint8_t byte) {
    std::memset(code_, byte, kPage);
    for (size_t place = 0; place < std::size(kFuzzDetours); place++)
      std::memset(code_ + kPage + 2 * kPage * place, byte, kPage);
  };
  surround(code);
  std::copy(trial.window.bytes.begin(), trial.window.bytes.end(), code_ + (kFuzzHere - kHerePage));
  const Ending& other = Sandbox::run(trial.start);
  surround(kInt3);
  for (size_t i = 0; i < REG_RIP; i++) {
    if (other.frame.general[i] != bare.frame.general[i]) return true;
  }
  return (other.frame.general[REG_EFL] ^ bare.frame.general[REG_EFL]) & int64_t(kFlags) ||
         comparable_floats(other.frame) != comparable_floats(bare.frame) ||
         std::memcmp(bare_memory_.data(), memory(kFuzzData), kFuzzDataBytes) != 0;
}

// By chance, an address lies in code, or in the dead stack where detours save registers. True: with
// other bytes there the bare run ends in other registers.
bool Fuzzer::reads_astray(const Trial& trial, const Ending& bare) {
  constexpr uint8_t kHlt = 0xf4;
  const uint64_t sp = uint64_t(trial.start.general[REG_RSP]);
  const uint64_t live = trial.form == Form::Middle ? sp - kRedZone : sp;
  if (ends_otherwise(trial, bare, dead_stack(trial, live), kInt3)) return true;
  const uint8_t* stack = trial.memory.data() + kFuzzDataBytes;
  std::vector<uint8_t> dead(stack, stack + (live - kStack));
  for (uint8_t& byte : dead) byte ^= 0x55;
  return ends_otherwise(trial, bare, dead, kHlt);
}

std::string Fuzzer::difference(const Trial& trial, const Ending& bare,
                               const Ending& detoured) const {
  if (bare.signal != detoured.signal || bare.code != detoured.code ||
      bare.address != detoured.address)
    return fmt::format("signal {} code {} at {:#x}, in the detour {} {} {:#x}", bare.signal,
                       bare.code, bare.address, detoured.signal, detoured.code, detoured.address);
  const uint64_t rip = trial.map_back(uint64_t(detoured.frame.general[REG_RIP]));
  if (rip != uint64_t(bare.frame.general[REG_RIP]))
    return fmt::format("rip {:#x}, in the detour {:#x}", bare.frame.general[REG_RIP], rip);
  for (int i = 0; i <= REG_TRAPNO; i++) {
    if (i == REG_RIP || i == REG_CSGSFS) continue;
    const int64_t mask = i == REG_EFL ? int64_t(kFlags) : -1;
    const int64_t more = i == REG_RSP && trial.call_failed(bare) ? 8 : 0;
    if ((bare.frame.general[size_t(i)] & mask) !=
        ((detoured.frame.general[size_t(i)] + more) & mask))
      return fmt::format("ucontext register {} is {:#x}, in the detour {:#x}", i,
                         bare.frame.general[size_t(i)], detoured.frame.general[size_t(i)]);
  }
  if (comparable_floats(bare.frame) != comparable_floats(detoured.frame)) return "vectors or x87";
  if (std::memcmp(bare_memory_.data(), memory(kFuzzData), kFuzzDataBytes) != 0) return "data";
  // Below the red zone (at a function's entry: below the stack pointer) nothing lives.
  uint64_t live =
      std::max(uint64_t(bare.frame.general[REG_RSP]), uint64_t(trial.start.general[REG_RSP]));
  if (live - kStack >= kStackBytes) live = uint64_t(trial.start.general[REG_RSP]);
  const bool red_zone = trial.form == Form::Middle && !trial.call_failed(bare);
  if (trial.handlers_at != 0) live += 8 * trial.window.insns.size();  // as far as pops raise it
  live = (red_zone ? live - kRedZone : live) - kStack;
  if (live < kStackBytes && std::memcmp(bare_memory_.data() + kFuzzDataBytes + live,
                                        memory(kStack + live), kStackBytes - live) != 0)
    return "stack";
  return "";
}

void Fuzzer::try_window(uint64_t number) {
  Random random(seed_ * 0x2545f4914f6cdd1d + number);
  Trial trial;
  while (!choose(random, trial.window)) trial.window = {};
  const Window& window = trial.window;
  trial.start = random_frame(random);
  trial.form = !window.red_zone && random.one_in(4) ? Form::Boundary : Form::Middle;
  if (!window.moves_sp && random.one_in(4))
    trial.handlers_at = uint32_t(window.insns[random() % window.insns.size()].address - kFuzzHere);
  trial.place = random() % std::size(kFuzzDetours);
  trial.by_jump = window.bytes.size() >= 5 && !random.one_in(4);
  trial.memory.resize(kFuzzDataBytes + kStackBytes);
  for (size_t i = 0; i < trial.memory.size(); i += 8) {
    const uint64_t word = random.one_in(4) ? kFuzzData + random() % kFuzzDataBytes : random();
    std::memcpy(trial.memory.data() + i, &word, 8);
  }
  DetourRequest request{window.bytes, kFuzzHere, trial.form, {}, trial.handlers_at};
  for (;; trial.place = (trial.place + 1) % std::size(kFuzzDetours)) {  // some are out of reach
    request.calls = {{kFuzzDetours[trial.place] + kPage + kHandlerOf[int(trial.form)]}};
    if (random.one_in(2)) request.calls.push_back(request.calls[0]);
    auto detour = build_detour(request, kFuzzDetours[trial.place]);
    if (!detour.ok()) continue;
    trial.detour = std::move(detour).value();
    break;
  }
  const Ending bare = run_bare(trial);
  bare_memory_.assign(memory(kFuzzData), memory(kFuzzData) + kFuzzDataBytes);
  bare_memory_.insert(bare_memory_.end(), memory(kStack), memory(kStack) + kStackBytes);
  const std::string wrong = difference(trial, bare, run_detoured(trial));
  const bool through =
      bare.signal == SIGTRAP && bare.frame.general[REG_RIP] == int64_t(trial.end() + 1);
  progress_.instructions += window.insns.size();
  progress_.relative += window.relative;
  progress_.through += through;
  progress_.faulted += bare.signal != SIGTRAP;
  if (wrong.empty() || reads_astray(trial, bare)) return;
  const std::string text = fmt::format(
      "{}: {} (handlers at {}, {}, detour at {:#x})", wrong, window.text, trial.handlers_at,
      trial.form == Form::Middle ? "middle" : "boundary", kFuzzDetours[trial.place]);
  text.copy(progress_.message, sizeof progress_.message - 1);
}

void Fuzzer::run(uint64_t end) {
  for (; progress_.next < end; progress_.next++) {
    try_window(progress_.next);
    if (progress_.message[0] != 0) return;
  }
}

}  // namespace dj::arch::test
