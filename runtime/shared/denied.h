// System calls that a seccomp filter of the target denies to handlers, which do without them. What
// may be denied is known when the program installs the filter during the session.
#pragma once
#include <stdint.h>

namespace dj::abi {

// What handlers ask of the kernel, by numbers of x86-64; bit i of a set stands for the i-th.
constexpr int64_t kAskedCalls[] = {
    310,  // process_vm_readv: reads of memory
    311,  // process_vm_writev
    186,  // gettid
    39,   // getpid
    15,   // rt_sigreturn: from a trap
    202,  // futex
    62,   // kill
    200,  // tkill
    131,  // sigaltstack
    35,   // nanosleep
    157,  // prctl
    158,  // arch_prctl
    309,  // getcpu
    228,  // clock_gettime
    0,    // read
    2,    // open
    3,    // close
    102,  // getuid, getgid, geteuid, getegid
    104, 107, 108,
    110,  // getppid, getpgid, getsid
    121, 124,
    334,  // rseq
};

constexpr uint64_t asked_bit(int64_t number) {
  uint64_t bit = 1;
  for (const int64_t each : kAskedCalls) {
    if (each == number) return bit;
    bit <<= 1;
  }
  return 0;
}

}  // namespace dj::abi
