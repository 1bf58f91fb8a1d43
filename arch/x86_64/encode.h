// SPDX-License-Identifier: Apache-2.0
// Code assembles instructions into bytes for a known address. It knows only those that detours
// need.
#pragma once
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "arch/x86_64/registers.h"
#include "compiler/base/result.h"

namespace dj::arch {

class Code {
 public:
  explicit Code(uint64_t address) : Code(address, {}) {}
  // Takes over the memory of `used` and clears it.
  Code(uint64_t address, std::vector<uint8_t> used) : address_(address), bytes_(std::move(used)) {
    bytes_.clear();
    bytes_.reserve(kUsual);
  }
  // Returns the address of the next byte.
  uint64_t here() const { return address_ + bytes_.size(); }
  uint32_t size() const { return uint32_t(bytes_.size()); }
  std::vector<uint8_t> take() { return std::move(bytes_); }

  void put(std::initializer_list<uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes); }
  void put(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Writes four bytes, lowest first.
  void put_u32(uint32_t value);

  void push(Reg reg);
  void pop(Reg reg);
  void push_imm(uint32_t value);      // sign-extended to 64 bits by the CPU
  void push_slot(uint32_t offset);    // push offset(%rsp)
  void move_sp(int32_t bytes);        // lea bytes(%rsp),%rsp: changes no flag
  void push_address(uint64_t value);  // all 64 bits; changes no flag or register
  // Goes to the address on top of the stack and leaves `value` there in its place.
  void return_to_pushed(uint64_t value);

  // Writes `opcode rel32`. Fails when the target is farther than 2 GB.
  Status branch(std::initializer_list<uint8_t> opcode, uint64_t target);
  Status jump(uint64_t target) { return branch({0xe9}, target); }
  Status call(uint64_t target) { return branch({0xe8}, target); }
  Status call_through(uint64_t word) { return branch({0xff, 0x15}, word); }  // call *word(%rip)
  // Writes a forward jump with 8 bits of displacement and returns its label; bind() sets the
  // displacement to lead here.
  uint32_t short_jump(uint8_t opcode);
  void bind(uint32_t label);
  // Write such a jump with 32 bits of displacement; bind_long() sets it. condition: the low four
  // bits of the jcc's opcode.
  uint32_t long_jump_if(uint8_t condition);
  uint32_t long_jump();
  void bind_long(uint32_t label);

 private:
  static constexpr size_t kUsual = 96;  // bytes of most detours
  uint64_t address_;
  std::vector<uint8_t> bytes_;
};

// Returns the 32-bit displacement from `next` (the end of an instruction) to `target`. Fails when
// that is farther than 2 GB.
Result<int32_t> displacement(uint64_t next, uint64_t target);

}  // namespace dj::arch
