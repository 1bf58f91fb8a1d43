// SPDX-License-Identifier: Apache-2.0
// For tests: runs machine code with all general registers and flags given, and tells what they are
// afterwards.
#pragma once
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "arch/x86_64/encode.h"
#include "arch/x86_64/registers.h"

namespace dj::arch::test {

struct State {
  uint64_t regs[16] = {};  // by encoding number; [4], rsp, is the victim's stack pointer
  uint64_t flags = 0x202;
  bool operator==(const State&) const = default;
};

// The assembly is in detour_test.cpp.
extern "C" {
extern State dj_test_state;
extern uint64_t dj_test_code;
void dj_test_run();
void dj_test_exit();
}

// Writable and executable memory at an address of the test's choice.
class Memory {
 public:
  explicit Memory(size_t size, uint64_t address) : size_(size) {
    bytes_ = static_cast<uint8_t*>(mmap(reinterpret_cast<void*>(address), size,
                                        PROT_READ | PROT_WRITE | PROT_EXEC,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    CHECK(bytes_ != MAP_FAILED);
  }
  ~Memory() { munmap(bytes_, size_); }
  Memory(const Memory&) = delete;
  uint64_t address() const { return reinterpret_cast<uint64_t>(bytes_); }
  size_t size() const { return size_; }
  uint8_t* at(uint64_t address) { return bytes_ + (address - this->address()); }
  void put(uint64_t where, std::span<const uint8_t> code) {
    std::memcpy(at(where), code.data(), code.size());
  }
  // jmp *[to] by absolute address: the way back into the test.
  void put_exit(uint64_t where) {
    Code code(where);
    code.put({0xff, 0x25, 0, 0, 0, 0});  // jmp *0(%rip)
    const uint64_t to = reinterpret_cast<uint64_t>(&dj_test_exit);
    code.put_u32(uint32_t(to));
    code.put_u32(uint32_t(to >> 32));
    put(where, code.take());
  }

 private:
  uint8_t* bytes_;
  size_t size_;
};
constexpr uint32_t kExitBytes = 14;

// Vector and floating-point registers are the same at every start, whatever the test did before.
inline State run(uint64_t code, const State& in) {
  alignas(16) static uint8_t floats[512];
  floats[0] = 0x7f, floats[1] = 0x03;    // fcw
  floats[24] = 0x80, floats[25] = 0x1f;  // mxcsr
  for (int i = 160; i < 416; i++) floats[i] = uint8_t(i);
  dj_test_state = in;
  dj_test_code = code;
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper");
  asm volatile("fxrstor64 %0" : : "m"(floats) : "memory");
  dj_test_run();
  State out = dj_test_state;
  out.flags &= 0xcd5;  // CF PF AF ZF SF DF OF
  return out;
}

}  // namespace dj::arch::test
