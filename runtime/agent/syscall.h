// SPDX-License-Identifier: Apache-2.0
// raw_syscall() makes a system call; the result is the kernel's, -errno on failure.
#pragma once
#include <stdint.h>

namespace dj::agent {

enum Syscall : int64_t {
  kSysRead = 0,
  kSysOpen = 2,
  kSysClose = 3,
  kSysRtSigaction = 13,
  kSysRtSigprocmask = 14,
  kSysRtSigreturn = 15,
  kSysNanosleep = 35,
  kSysGetpid = 39,
  kSysClone = 56,
  kSysFork = 57,
  kSysVfork = 58,
  kSysExecve = 59,
  kSysKill = 62,
  kSysPtrace = 101,
  kSysGetuid = 102,
  kSysGetgid = 104,
  kSysGeteuid = 107,
  kSysGetegid = 108,
  kSysGetppid = 110,
  kSysGetpgid = 121,
  kSysGetsid = 124,
  kSysRtSigsuspend = 130,
  kSysSigaltstack = 131,
  kSysPrctl = 157,
  kSysArchPrctl = 158,
  kSysGettid = 186,
  kSysTkill = 200,
  kSysFutex = 202,
  kSysClockGettime = 228,
  kSysTgkill = 234,
  kSysPselect6 = 270,
  kSysPpoll = 271,
  kSysEpollPwait = 281,
  kSysGetcpu = 309,
  kSysProcessVmReadv = 310,
  kSysProcessVmWritev = 311,
  kSysSeccomp = 317,
  kSysExecveat = 322,
  kSysRseq = 334,
  kSysClone3 = 435,
  kSysEpollPwait2 = 441,
};
constexpr int64_t kEperm = 1, kEsrch = 3, kEfault = 14, kEinval = 22;

inline int64_t raw_syscall(int64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                           uint64_t d = 0, uint64_t e = 0, uint64_t f = 0) {
  int64_t result;
  register uint64_t r10 asm("r10") = d;
  register uint64_t r8 asm("r8") = e;
  register uint64_t r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
inline uint64_t word(T* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace dj::agent
