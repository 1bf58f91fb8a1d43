// SPDX-License-Identifier: Apache-2.0
// Program counters of stopped threads and of the contexts that signal handlers of theirs
// interrupted.
//
// A signal frame (struct rt_sigframe) begins with the restorer's address, behind it a ucontext. A
// thread may be in several handlers, each on its own stack: every frame found names the stack
// pointer of the code it interrupted, so the search goes on there if that is another mapping. From
// an own stack of djtap's (own_stack.h) it goes on where the program's is.
#include "runtime/text/thread_moves.h"

#include <signal.h>
#include <sys/user.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "compiler/base/sort_runs.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/map_query.h"
#include "runtime/process/process.h"
#include "runtime/shared/own_stack.h"
#include "runtime/text/trap_setup.h"

namespace dj {

std::optional<uint64_t> stack_left_for_own(const Stopped& stopped, uint64_t address) {
  abi::OwnStackTop top = {};
  const uint64_t at = abi::own_stack_top(address);
  if (at < address) return std::nullopt;
  const bool read = stopped.read(at, {reinterpret_cast<uint8_t*>(&top), sizeof top}).ok();
  return read && top.mark == abi::kOwnStackMark ? std::optional(top.program_stack) : std::nullopt;
}
namespace {

// What the kernel writes where a handler begins (struct rt_sigframe), up to what is looked at.
struct SignalFrame {
  uint64_t restorer;
  uint64_t flags, link;
  stack_t stack;
  uint64_t registers[NGREG];
  uint64_t fpregs;
  uint64_t reserved[8];
  uint64_t mask;    // the kernel's sigset lies where glibc's larger one begins
  uint64_t signal;  // the siginfo's first word
};
constexpr uint64_t kSavedRip = offsetof(SignalFrame, registers) + REG_RIP * 8;
constexpr uint64_t kSavedMask = offsetof(SignalFrame, mask);
static_assert(kSavedRip == 8 + offsetof(ucontext_t, uc_mcontext.gregs) + REG_RIP * 8);
static_assert(kSavedMask == 8 + offsetof(ucontext_t, uc_sigmask));

// A restorer's address may be any word of the stack, an argument or what an earlier frame has left,
// and what lies where the mask would be may be the program's. The kernel's own frames have the
// vector registers right behind them, and no other flags and code segments than these.
bool is_kernels(const SignalFrame& frame, uint64_t address) {
  constexpr uint64_t kKnownFlags = 7, kBytes = kSavedMask + 8 + sizeof(siginfo_t), kGap = 512;
  constexpr uint64_t kCode64 = 0x33, kCode32 = 0x23;
  const uint64_t code = frame.registers[REG_CSGSFS] & 0xffff;
  return (frame.flags & ~kKnownFlags) == 0 && frame.link == 0 &&
         frame.fpregs - address - kBytes < kGap && (code == kCode64 || code == kCode32);
}

constexpr uint64_t kStackLimit = 64 << 20;  // nobody's used stack is deeper; keeps the stop short
constexpr uint64_t kPiece = 1 << 20;
constexpr size_t kPlainJump = 5;  // bytes of e9 rel32
constexpr uint64_t kSyscallBytes = 2;

bool is_interrupted(const user_regs_struct& regs) {
  int64_t result = static_cast<int64_t>(regs.rax);
  return static_cast<int64_t>(regs.orig_rax) >= 0 && result <= -512 && result >= -516;
}

// FrameSearch: the signal frames of one thread.
class FrameSearch {
 public:
  FrameSearch(const Stopped& stopped, const std::vector<uint64_t>& restorers)
      : stopped_(stopped), maps_(stopped.pid()), restorers_(restorers) {}

  // Calls action(address, frame) for all frames above `stack_pointer`, and what looks like one.
  template <typename Action>
  Status each(uint64_t stack_pointer, Action action) {
    std::set<uint64_t> seen;  // ends of stacks
    std::vector<uint64_t> todo = {stack_pointer};
    while (!todo.empty()) {
      uint64_t from = todo.back() & ~uint64_t{7};
      todo.pop_back();
      DJ_TRY(const std::optional<Mapping> map, maps_.at(from));
      if (!map || !map->write) continue;
      const std::optional<uint64_t> left = stack_left_for_own(stopped_, from);
      const uint64_t end = left ? abi::own_stack_top(from) : map->end;
      if (!seen.insert(end).second) continue;
      if (left) todo.push_back(*left);
      for (uint64_t frame : frames_in(from, std::min(end, from + kStackLimit))) {
        SignalFrame found = {};
        DJ_TRY_DO(stopped_.read(frame, {reinterpret_cast<uint8_t*>(&found), sizeof found}));
        todo.push_back(found.registers[REG_RSP]);
        DJ_TRY_DO(action(frame, found));
      }
    }
    return ok_status();
  }

 private:
  std::vector<uint64_t> frames_in(uint64_t begin, uint64_t end) {
    std::vector<uint64_t> frames;
    const uint64_t low = restorers_.empty() ? ~uint64_t{0} : restorers_.front();
    const uint64_t room = restorers_.empty() ? 0 : restorers_.back() - low;
    for (uint64_t at = begin; at < end; at += kPiece) {
      uint64_t bytes = std::min(kPiece, end - at);
      words_.resize(std::max<size_t>(words_.size(), (bytes + 7) / 8));
      if (!stopped_.read(at, std::span(reinterpret_cast<uint8_t*>(words_.data()), bytes)).ok()) {
        break;
      }
      for (uint64_t i = 0; i < bytes / 8; i++) {
        uint64_t address = at + i * 8;
        if (words_[i] - low <= room && address + sizeof(SignalFrame) <= end &&
            std::binary_search(restorers_.begin(), restorers_.end(), words_[i])) {
          frames.push_back(address);
        }
      }
    }
    return frames;
  }

  const Stopped& stopped_;
  MapFinder maps_;
  const std::vector<uint64_t>& restorers_;
  std::vector<uint64_t> words_;  // a piece of a stack
};

Status fix_word(const Stopped& stopped, uint64_t address, uint64_t value) {
  return stopped.write(address, std::span(reinterpret_cast<const uint8_t*>(&value), sizeof value));
}

bool is_syscall(const PatchSite& site, uint32_t offset) {
  const std::vector<uint8_t>& bytes = site.original;
  return offset + kSyscallBytes <= bytes.size() && bytes[offset] == 0x0f && bytes[offset + 1] == 5;
}

// The instruction's own copy: where a thread goes on that has met the handlers before it.
uint64_t own_copy(const PatchSite& site, uint32_t offset, uint64_t copy) {
  return offset == site.handlers_at && site.probe_copy != 0 ? site.probe_copy : copy;
}

}  // namespace

void Detouring::add(const PatchSite& site) {
  for (auto [address, detour] : trap_entries_of(site)) {
    traps_.push_back(address);
    sorted_ = false;
  }
  if (!site.jump) {
    return;
  }
  const size_t written = site.form ? site.patched().size() : kPlainJump;
  for (auto [offset, copy] : site.copies) {
    // With handlers inside the region whoever is before them goes through them too.
    if (offset > 0 && (offset < written || offset <= site.handlers_at)) {
      moves_.emplace_back(site.address + offset, copy);
      sorted_ = false;
    }
    if (is_syscall(site, offset) && (offset < written || offset < site.handlers_at)) {
      calls_.emplace_back(site.address + offset + kSyscallBytes,
                          own_copy(site, offset, copy) + kSyscallBytes);
      sorted_ = false;
    }
  }
}

void Detouring::add_home(const PatchSite& site) {
  const auto move = [this](Moves& moves, uint64_t from, uint64_t to) {
    moves.emplace_back(from, to);
    sorted_ = false;
  };
  for (const auto& [offset, copy] : site.copies) {
    const uint64_t home = site.address + offset, own = own_copy(site, offset, copy);
    move(moves_, copy, home);
    if (own != copy) move(moves_, own, home);
    if (is_syscall(site, offset)) move(calls_, own + kSyscallBytes, home + kSyscallBytes);
  }
}

void Detouring::add_waiting(const SiteList& sites) {
  for (const PatchSite* site : sites) {
    if (site->is_waiting()) add(*site);
  }
}

void Detouring::sort() const {
  if (sorted_) return;
  sort_runs(moves_.begin(), moves_.end());
  sort_runs(calls_.begin(), calls_.end());
  sort_runs(traps_.begin(), traps_.end());
  sorted_ = true;
}

bool Detouring::traps_at(uint64_t address) const {
  sort();
  return std::binary_search(traps_.begin(), traps_.end(), address);
}

uint64_t Detouring::found(const Moves& moves, uint64_t pc) const {
  sort();
  auto found = std::lower_bound(moves.begin(), moves.end(), Move{pc, 0});
  return found == moves.end() || found->first != pc ? 0 : found->second;
}

uint64_t Detouring::moved(uint64_t pc) const { return found(moves_, pc); }

uint64_t Detouring::moved_interrupted(uint64_t pc) const {
  const uint64_t to = found(calls_, pc);
  return to == 0 ? moved(pc) : to;
}

Result<MoveCounts> move_threads(const Stopped& stopped, const Detouring& detouring,
                                const std::vector<uint64_t>& restorers, bool clear_trap) {
  MoveCounts counts;
  FrameSearch search(stopped, restorers);
  for (pid_t tid : stopped.threads()) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    uint64_t to =
        is_interrupted(regs) ? detouring.moved_interrupted(regs.rip) : detouring.moved(regs.rip);
    if (to != 0) {
      regs.rip = to;
      DJ_TRY_DO(stopped.set_registers(tid, regs));
      counts.threads++;
    }
    DJ_TRY_DO(search.each(regs.rsp, [&](uint64_t address, const SignalFrame& frame) -> Status {
      const uint64_t rip = frame.registers[REG_RIP];
      const bool trap =
          static_cast<int32_t>(frame.signal) == SIGTRAP && detouring.traps_at(rip - 1);
      uint64_t copy = trap ? 0 : detouring.moved(rip);
      if (copy != 0) {
        DJ_TRY_DO(fix_word(stopped, address + kSavedRip, copy));
        counts.frames++;
      }
      if (clear_trap && (frame.mask & kTrapBit) != 0 && is_kernels(frame, address)) {
        DJ_TRY_DO(fix_word(stopped, address + kSavedMask, frame.mask & ~kTrapBit));
        counts.masks++;
      }
      return ok_status();
    }));
  }
  return counts;
}

std::vector<uint64_t> find_restorers(const std::vector<MappedModule>& modules, ModuleCodes& codes) {
  static constexpr uint8_t kLong[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0};  // mov $15,%rax; syscall
  static constexpr uint8_t kShort[] = {0xb8, 0x0f, 0, 0, 0};             // mov $15,%eax; syscall
  std::vector<uint64_t> found;
  for (const MappedModule& module : modules) {
    const std::vector<RawText>& text = codes.raw(module);
    for (size_t i = 0; i < text.size(); i++) {
      for (uint64_t syscall : codes.syscall_bytes(module)[i]) {
        const auto before = text[i].bytes.first(syscall - text[i].address);
        for (std::span<const uint8_t> move :
             {std::span<const uint8_t>(kLong), std::span<const uint8_t>(kShort)}) {
          if (before.size() >= move.size() &&
              std::equal(move.begin(), move.end(), before.end() - static_cast<long>(move.size()))) {
            found.push_back(syscall - move.size() + module.bias);
          }
        }
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace dj
