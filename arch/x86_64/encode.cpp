// SPDX-License-Identifier: Apache-2.0
// Code: byte and mnemonic side by side.
#include "arch/x86_64/encode.h"

#include <fmt/format.h>

namespace dj::arch {

Result<int32_t> displacement(uint64_t next, uint64_t target) {
  const int64_t distance = int64_t(target - next);
  if (distance != int32_t(distance))
    return Error{fmt::format("{:#x} is more than 2 GB from {:#x}", target, next)};
  return int32_t(distance);
}

void Code::put_u32(uint32_t value) {
  const size_t at = bytes_.size();
  bytes_.resize(at + 4);
  std::memcpy(&bytes_[at], &value, 4);
}

void Code::push(Reg reg) {
  const uint8_t n = kRegEncoding[reg];
  if (n >= 8) put({0x41});         // REX.B
  put({uint8_t(0x50 | (n & 7))});  // push %reg
}

void Code::pop(Reg reg) {
  const uint8_t n = kRegEncoding[reg];
  if (n >= 8) put({0x41});         // REX.B
  put({uint8_t(0x58 | (n & 7))});  // pop %reg
}

void Code::push_imm(uint32_t value) {
  put({0x68});  // push $imm32
  put_u32(value);
}

void Code::push_slot(uint32_t offset) {
  put({0xff, 0xb4, 0x24});  // push disp32(%rsp)
  put_u32(offset);
}

void Code::move_sp(int32_t bytes) {
  if (bytes == int8_t(bytes)) {
    put({0x48, 0x8d, 0x64, 0x24, uint8_t(bytes)});  // lea disp8(%rsp),%rsp
    return;
  }
  put({0x48, 0x8d, 0xa4, 0x24});  // lea disp32(%rsp),%rsp
  put_u32(uint32_t(bytes));
}

void Code::push_address(uint64_t value) {
  move_sp(-8);
  put({0xc7, 0x04, 0x24});  // movl $lo,(%rsp)
  put_u32(uint32_t(value));
  put({0xc7, 0x44, 0x24, 0x04});  // movl $hi,4(%rsp)
  put_u32(uint32_t(value >> 32));
}

void Code::return_to_pushed(uint64_t value) {
  constexpr uint8_t kBelow = 0x80;  // a red zone
  move_sp(-kBelow);
  push_slot(kBelow);
  put({0xc7, 0x84, 0x24});  // movl $lo,136(%rsp)
  put_u32(kBelow + 8);
  put_u32(uint32_t(value));
  put({0xc7, 0x84, 0x24});  // movl $hi,140(%rsp)
  put_u32(kBelow + 12);
  put_u32(uint32_t(value >> 32));
  put({0xc2, kBelow, 0});  // ret $128
}

Status Code::branch(std::initializer_list<uint8_t> opcode, uint64_t target) {
  DJ_TRY(const int32_t rel, displacement(here() + opcode.size() + 4, target));
  put(opcode);
  put_u32(uint32_t(rel));
  return ok_status();
}

uint32_t Code::short_jump(uint8_t opcode) {
  put({opcode, 0});
  return size();
}

void Code::bind(uint32_t label) {
  const uint32_t distance = size() - label;
  CHECK(distance < 128);
  bytes_[label - 1] = uint8_t(distance);
}

uint32_t Code::long_jump_if(uint8_t condition) {
  put({0x0f, uint8_t(0x80 | condition)});
  put_u32(0);
  return size();
}

uint32_t Code::long_jump() {
  put({0xe9});
  put_u32(0);
  return size();
}

void Code::bind_long(uint32_t label) {
  const uint32_t distance = size() - label;
  std::memcpy(&bytes_[label - 4], &distance, 4);
}

}  // namespace dj::arch
