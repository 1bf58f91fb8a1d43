// SPDX-License-Identifier: Apache-2.0
// Recognises thunks by their instructions: names are gone in stripped programs.
#include "arch/x86_64/thunks.h"

#include <algorithm>
#include <atomic>
#include <optional>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/registers.h"
#include "compiler/base/parallel.h"

namespace dj::arch {
namespace {

constexpr uint64_t kLongestThunk = 64;  // bytes of a thunk

bool is_lfence(const Insn& insn) {
  return insn.legacy && insn.map == 1 && insn.opcode == 0xae && insn.mod == 3 &&
         (insn.reg & 7) == 5;
}

bool is_jump_by_register(const Insn& insn) {
  return insn.kind == Kind::JumpIndirect && !insn.memory();
}

// mov %reg,(%rsp)
bool puts_target(const Insn& insn) {
  return insn.is(0x89) && insn.wide && insn.mod == 0 && insn.base == kSp && insn.index == kNoReg;
}

std::optional<Insn> insn_at(const Module& module, uint64_t address) {
  Insn insn;
  if (!decode(module.bytes(address), address, insn)) return std::nullopt;
  return insn;
}

// The instruction is a return, or a jump to one.
bool returns(const Module& module, const std::optional<Insn>& insn) {
  if (!insn) return false;
  if (insn->kind != Kind::Jump) return insn->kind == Kind::Return;
  const std::optional<Insn> there = insn_at(module, insn->target);
  return there && there->kind == Kind::Return;
}

// Of `call 2f; ...; 2: mov %reg,(%rsp); ret`.
uint8_t replaced_target(const Module& module, const Insn& call) {
  if (call.kind != Kind::Call) return kNoReg;
  const std::optional<Insn> put = insn_at(module, call.target);
  if (!put || !puts_target(*put) || !returns(module, insn_at(module, put->end()))) return kNoReg;
  return put->reg;
}

void make_indirect(Insn& insn, Kind kind, uint8_t reg) {
  insn.kind = kind;
  insn.target = 0;
  insn.has_modrm = true;
  insn.mod = 3;
  insn.rm = reg;
}

// A thunk in the function's own code, from its call at `at` on: a jump, or what calls of this
// function lead to.
void read_own(Function& function, size_t at, uint8_t reg) {
  std::vector<Insn>& insns = function.insns;
  const uint64_t begin = insns[at].address;
  const size_t put = function.find(insns[at].target);
  bool called = false;
  for (Insn& insn : insns) {
    if (insn.kind != Kind::Call || insn.target != begin) continue;
    make_indirect(insn, Kind::CallIndirect, reg);
    called = true;
  }
  insns[put + 1].kind = Kind::Trap;  // the return, or a jump to one
  if (called) {
    insns[at].kind = Kind::Trap;
  } else {
    make_indirect(insns[at], Kind::JumpIndirect, reg);
  }
}

bool is_return_by_register(const std::vector<Insn>& insns, size_t at) {
  if (at + 2 >= insns.size()) return false;
  const Insn& jump = insns[at + 2];
  return is_lfence(insns[at + 1]) && is_jump_by_register(jump) && popped(insns[at]) == jump.rm;
}

}  // namespace

uint8_t popped(const Insn& insn) {
  if (!insn.legacy || insn.map != 0 || (insn.opcode & 0xf8) != 0x58) return kNoReg;
  return uint8_t((insn.opcode & 7) + (insn.prefixes != 0 ? 8 : 0));
}

uint8_t thunk_register(const Module& module, uint64_t address) {
  const auto& outside = module.text().thunks_outside;
  const auto named = std::ranges::lower_bound(outside, std::pair{address, uint8_t{0}});
  if (named != outside.end() && named->first == address) return named->second;
  std::optional<Insn> insn = insn_at(module, address);
  while (insn && (is_lfence(*insn) || insn->kind == Kind::Nop)) insn = insn_at(module, insn->end());
  if (!insn) return kNoReg;
  if (is_jump_by_register(*insn)) return insn->rm;
  const bool near = insn->target - address < kLongestThunk;
  return near ? replaced_target(module, *insn) : kNoReg;
}

bool jumps_by(const Module& module, uint64_t address, uint8_t reg) {
  const std::optional<Insn> insn = insn_at(module, address);
  if (!insn) return false;
  if (insn->kind == Kind::Jump) return thunk_register(module, insn->target) == reg;
  return replaced_target(module, *insn) == reg;
}

namespace {

// The end of lfence, which stands in each of them: before the jump, or where the processor guesses.
constexpr BytePair kFence = {0xae, 0xe8};

// Does a thunk put its target on the stack at `put`? Its call stands before.
bool is_put_of_thunk(const Module& module, uint64_t put) {
  const std::optional<Insn> insn = insn_at(module, put);
  if (!insn || !puts_target(*insn)) return false;
  for (uint64_t at = put - kLongestThunk; at < put; at++) {
    const std::optional<Insn> call = insn_at(module, at);
    if (call && call->target == put && replaced_target(module, *call) != kNoReg) return true;
  }
  return false;
}

// `end`: of an lfence.
bool is_fence_of_thunk(const Module& module, uint64_t end) {
  const std::optional<Insn> insn = insn_at(module, end);
  if (insn && is_jump_by_register(*insn)) return true;
  for (uint64_t put = end; put < end + kLongestThunk; put++) {
    if (is_put_of_thunk(module, put)) return true;
  }
  return false;
}

}  // namespace

bool has_thunks(const Module& module) {
  if (!module.text().thunks_outside.empty()) return true;
  constexpr size_t kPiece = 1 << 20;
  std::atomic<bool> found = false;
  for (const TextRange& range : module.text().text) {
    const size_t size = range.bytes.size();
    parallel<1>((size + kPiece - 1) / kPiece, [&](size_t i) {
      const size_t begin = i * kPiece, end = std::min(size, begin + kPiece + 1);  // pairs may cross
      each_pair(range.bytes.subspan(begin, end - begin), {kFence}, [&](size_t at) {
        if (!found && is_fence_of_thunk(module, range.address + begin + at + 2)) found = true;
      });
    });
  }
  return found;
}

void read_thunks(const Module& module, Function& function,
                 const std::function<bool(uint64_t)>& is_others) {
  std::vector<Insn>& insns = function.insns;
  for (size_t i = 0; i < insns.size(); i++) {
    Insn& insn = insns[i];
    if (is_return_by_register(insns, i)) {
      insn.kind = Kind::Return;
      insns[i + 2].kind = Kind::Trap;
    } else if (insn.kind == Kind::Jump &&
               std::ranges::binary_search(module.text().return_thunks, insn.target)) {
      insn.kind = Kind::Return;
    } else if (insn.kind == Kind::Call && function.inside(insn.target)) {
      const uint8_t reg = replaced_target(module, insn);
      if (reg != kNoReg && function.find(insn.target) + 1 < insns.size())
        read_own(function, i, reg);
    } else if (insn.kind == Kind::Jump && !function.inside(insn.target)) {
      const uint8_t reg = thunk_register(module, insn.target);
      if (reg != kNoReg && is_others(insn.target)) make_indirect(insn, Kind::JumpIndirect, reg);
    }
  }
}

}  // namespace dj::arch
