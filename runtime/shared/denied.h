// SPDX-License-Identifier: Apache-2.0
// denied.h numbers the system calls that seccomp filters of the target can deny to the agent, which
// does without them. djtap reads the filters that the target has when it attaches
// (runtime/process/seccomp_filters.h); the agent reads those that the program installs during the
// session.
#pragma once
#include <stdint.h>

namespace dj::abi {

constexpr int64_t kReadCall = 0, kSigreturnCall = 15;

// What the agent asks of the kernel, by numbers of x86-64; bit i of a set stands for the i-th.
constexpr int64_t kAskedCalls[] = {
    310,             // process_vm_readv: reads of memory
    311,             // process_vm_writev
    186,             // gettid
    39,              // getpid
    kSigreturnCall,  // from a trap
    202,             // futex
    62,              // kill
    200,             // tkill
    131,             // sigaltstack
    35,              // nanosleep
    157,             // prctl
    158,             // arch_prctl
    309,             // getcpu
    228,             // clock_gettime
    kReadCall,
    2,    // open
    3,    // close
    102,  // getuid, getgid, geteuid, getegid
    104,
    107,
    108,
    110,  // getppid, getpgid, getsid
    121,
    124,
    334,  // rseq
    13,   // rt_sigaction, rt_sigprocmask, tgkill: where a trap is the program's own
    14,
    234,
};

// Beside these: a filter looks at the addresses that calls are made from. It may kill the program
// for calls of its own, which run in detours.
constexpr uint64_t kMovedCalls = uint64_t{1} << 63;

constexpr uint64_t asked_bit(int64_t number) {
  uint64_t bit = 1;
  for (const int64_t each : kAskedCalls) {
    if (each == number) return bit;
    bit <<= 1;
  }
  return 0;
}

}  // namespace dj::abi
