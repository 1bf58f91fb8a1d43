// SPDX-License-Identifier: Apache-2.0
// Decodes a function from end to end.
#include "arch/x86_64/calls.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/decode.h"

namespace dj::arch {

namespace {

// Calls visit(insn) for each instruction, until it says false.
template <typename Visit>
void each_instruction(std::span<const uint8_t> bytes, uint64_t address, Visit visit) {
  Insn insn;
  while (!bytes.empty() && decode(bytes, address, insn) && visit(insn)) {
    bytes = bytes.subspan(insn.length);
    address += insn.length;
  }
}

}  // namespace

std::vector<CallSite> calls_in(std::span<const uint8_t> bytes, uint64_t address) {
  std::vector<CallSite> calls;
  const uint64_t end = address + bytes.size();
  each_instruction(bytes, address, [&](const Insn& insn) {
    const bool inside = insn.target >= address && insn.target < end;
    const uint64_t next = insn.address + insn.length;
    const bool indirect = insn.kind == Kind::CallIndirect || insn.kind == Kind::JumpIndirect;
    if (insn.kind == Kind::Call || (insn.kind == Kind::Jump && !inside)) {
      calls.push_back({insn.address, insn.target, 0, insn.kind == Kind::Jump, next});
    } else if (indirect && insn.rip_relative) {
      calls.push_back({insn.address, 0, insn.target, insn.kind == Kind::JumpIndirect, next});
    }
    return true;
  });
  return calls;
}

bool is_one_function(std::span<const uint8_t> whole, uint64_t begin, std::span<const uint8_t> part,
                     uint64_t at) {
  bool joined = false;
  const auto look = [&](std::span<const uint8_t> from, uint64_t first, auto joins) {
    each_instruction(from, first, [&](const Insn& insn) {
      joined = joined || (insn.branches() && insn.kind != Kind::Call && joins(insn));
      return !joined;
    });
  };
  look(whole, begin, [&](const Insn& jump) {
    const bool at_begin = jump.target == at && jump.kind != Kind::Jump;
    return at_begin || (jump.target > at && jump.target < at + part.size());
  });
  look(part, at,
       [&](const Insn& jump) { return jump.target > begin && jump.target < begin + whole.size(); });
  return joined;
}

std::vector<std::pair<uint64_t, uint64_t>> direct_transfers(std::span<const uint8_t> bytes,
                                                            uint64_t address) {
  constexpr uint8_t kCall = 0xe8, kJump = 0xe9;
  constexpr size_t kLength = 5;
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (size_t i = 0; i + kLength <= bytes.size(); i++) {
    if (bytes[i] != kCall && bytes[i] != kJump) continue;
    int32_t distance = 0;
    std::memcpy(&distance, &bytes[i + 1], sizeof distance);
    const uint64_t end = i + kLength;
    const uint64_t to = end + uint64_t(int64_t{distance});
    if (to < bytes.size()) found.emplace_back(address + to, address + end);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<uint64_t> constant_loads(std::span<const uint8_t> bytes, uint64_t address,
                                     uint32_t value) {
  std::vector<uint64_t> loads;
  each_instruction(bytes, address, [&](const Insn& insn) {
    constexpr uint8_t kMovImm = 0xb8;  // the register is in the low three bits
    if (insn.is(insn.opcode) && (insn.opcode & 0xf8) == kMovImm && insn.length == 5 &&
        uint32_t(insn.imm) == value) {
      loads.push_back(insn.address);
    }
    return true;
  });
  return loads;
}

std::vector<uint64_t> syscall_bytes(std::span<const uint8_t> bytes, uint64_t address) {
  std::vector<uint64_t> found;
  for (const size_t at : find_pairs(bytes, kSyscallBytes)) found.push_back(address + at);
  return found;
}

Extent instruction_around(std::span<const uint8_t> bytes, uint64_t address, uint64_t place) {
  Extent found;
  each_instruction(bytes, address, [&](const Insn& insn) {
    found = {insn.address, insn.address + insn.length};
    return found.end <= place;
  });
  return found;
}

bool uses_result(const std::function<std::span<const uint8_t>(uint64_t)>& code, uint64_t next,
                 ResultRegisters left, ResultRegisters returned) {
  constexpr int kMostSteps = 64;
  Insn insn;
  for (int step = 0; step < kMostSteps && left.any(); step++) {
    const std::span<const uint8_t> bytes = code(next);
    if (!decode(bytes, next, insn) || insn.calls()) return false;
    if (insn.kind == Kind::Return) {
      return (left.rax && returned.rax) || (left.rdx && returned.rdx) ||
             (left.xmm0 && returned.xmm0) || (left.xmm1 && returned.xmm1) ||
             (left.st0 && returned.st0);
    }
    if (reads_result(bytes, left)) return true;
    if (insn.leaves() && insn.kind != Kind::Jump) return false;
    next = insn.kind == Kind::Jump ? insn.target : insn.end();
  }
  return false;
}

}  // namespace dj::arch
