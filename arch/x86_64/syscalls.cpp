// SPDX-License-Identifier: Apache-2.0
// Checker::syscalls(): where a module enters the kernel, and with which number.
#include <algorithm>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/check_results.h"
#include "arch/x86_64/checker.h"

namespace dj::arch {
namespace {

constexpr int kLookBack = 12;  // instructions
constexpr int64_t kSigreturn = 15;

std::vector<uint64_t> branch_targets(const Function& function) {
  std::vector<uint64_t> targets;
  for (const Insn& insn : function.insns) {
    if (insn.branches() && insn.kind != Kind::Call) targets.push_back(insn.target);
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

// The constant in eax at instruction `at`; -1: not known. musl's assembler clears eax and moves a
// byte into al.
int64_t constant_in_eax(const Module& module, const Function& function, size_t at,
                        const std::vector<uint64_t>& targets) {
  int64_t low = -1;  // of al
  for (int step = 0; step < kLookBack && at > 0; step++, at--) {
    if (std::binary_search(targets.begin(), targets.end(), function.insns[at].address)) return -1;
    const Insn& insn = function.insns[at - 1];
    if (insn.leaves() || insn.calls()) return -1;
    const uint16_t written = registers_written(module.bytes(insn.address).first(insn.length), insn);
    if (!(written & 1)) continue;
    if (written != 1) return -1;
    if (insn.is(0xb0) && low == -1) {  // mov to al
      low = uint8_t(insn.imm);
      continue;
    }
    const bool move = insn.is(0xb8) || (insn.is(0xc7) && insn.mod == 3);
    if (move && low == -1) return int64_t(uint32_t(insn.imm));
    const bool zero = (insn.is(0x31) || insn.is(0x33)) && insn.mod == 3 && insn.rm == insn.reg;
    return zero ? std::max<int64_t>(low, 0) : -1;
  }
  return -1;
}

bool is_trampoline(const Module& module, uint64_t at) {
  const auto& all = module.trampolines();
  return std::any_of(all.begin(), all.end(),
                     [&](const FunctionRange& t) { return at >= t.begin && at < t.end; });
}

// Bytes 0f 05, wherever they stand.
std::vector<uint64_t> candidates(const ModuleText& text) {
  std::vector<uint64_t> found;
  for (const TextRange& range : text.text) {
    for (const size_t at : find_pairs(range.bytes, kSyscallBytes))
      found.push_back(range.address + at);
  }
  return found;
}

}  // namespace

const std::vector<Checker::Syscall>& Checker::syscalls() {
  if (known_->syscalls) return *known_->syscalls;
  std::vector<Syscall> found;
  std::vector<Region> regions;
  const Module& module = impl().module;
  Function function;
  std::vector<uint64_t> targets;
  for (const uint64_t at : candidates(module.text())) {
    if (!function.inside(at)) {
      const FunctionRange* range = module.function_at(at);
      function = range != nullptr ? impl().decode(*range) : module.decode(module.gap_at(at));
      targets = branch_targets(function);
    }
    const size_t index = function.find(at);
    // Bytes of something else; but the unwind entry of a trampoline begins a byte early and decodes
    // to nonsense.
    if (index == Function::kNone && at < function.decoded_end() && !is_trampoline(module, at))
      continue;
    Syscall call;
    call.syscall_address = call.region.address = call.region.probe_address = at;
    if (is_trampoline(module, at)) {
      call.number = kSigreturn;
    } else if (index != Function::kNone) {
      call.number = constant_in_eax(module, function, index, targets);
      call.region.address = region_start(module, function, index);
    }
    found.push_back(call);
    regions.push_back(call.region);
  }
  check(regions);
  // Where the way back is blocked, the jump may begin at the system call itself: it now stands
  // there.
  if (std::any_of(regions.begin(), regions.end(),
                  [](const Region& r) { return r.verdict != Verdict::Ok; }))
    check(regions);
  for (size_t i = 0; i < found.size(); i++) found[i].region = regions[i];
  known_->syscalls = std::move(found);
  return *known_->syscalls;
}

Region Checker::syscall_region(uint64_t address) {
  const std::vector<Syscall>& all = syscalls();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Syscall& call) { return call.syscall_address == address; });
  return found != all.end() ? found->region : Region{.address = address};
}

}  // namespace dj::arch
