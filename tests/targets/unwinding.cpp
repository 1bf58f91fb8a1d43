// Unwinds from wherever a signal finds it: backtrace() in a timer's handler, exceptions that a
// fault's handler throws, threads that are cancelled at any instruction. Says how many of them
// were whole. And has the unwinder itself interrupted.
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include "facts.h"

#define OWN(part) __attribute__((noinline, noclone, noipa, section(#part)))
#define PARTS(part) extern "C" char __start_##part[], __stop_##part[]

PARTS(chain_code);
PARTS(work_code);

namespace {

constexpr int kDepth = 6, kFrames = 64;
volatile sig_atomic_t at_bottom, wanted_samples;
volatile unsigned long samples, whole, outside, sum;
void* first_frames[kFrames];  // of work()'s caller
int first_count;

bool is_in(const void* address, const char* begin, const char* end) {
  return address >= begin && address < end;
}

// main's callers, as they were before, below one frame of work() and kDepth of chain(); nothing of
// these anywhere else.
bool is_whole(void* const* frames, int count) {
  int at = count - first_count;
  if (at < kDepth + 1 ||
      memcmp(frames + at + 1, first_frames + 1, sizeof(void*) * size_t(first_count - 1)) != 0) {
    return false;
  }
  if (!is_in(frames[--at], __start_work_code, __stop_work_code)) return false;
  for (int i = 0; i < kDepth; i++) {
    if (!is_in(frames[--at], __start_chain_code, __stop_chain_code)) return false;
  }
  while (at-- > 0) {
    if (is_in(frames[at], __start_chain_code, __stop_chain_code)) return false;
  }
  return true;
}

// Once: where a handler takes longer than the interval, as with traps in all of the unwinder, the
// program would stand.
void next_sample() {
  const itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void sample(int, siginfo_t*, void* context) {
  if (!at_bottom) return next_sample();
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  Dl_info info;
  auto* rip =
      reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  outside = outside + (dladdr(rip, &info) == 0);
  samples = samples + 1;
  if (is_whole(frames, count)) {
    whole = whole + 1;
  } else if (getenv("SHOW") != nullptr) {
    fprintf(stderr, "at %p:\n", rip);
    backtrace_symbols_fd(frames, count, 2);
  }
  wanted_samples = wanted_samples - 1;
  next_sample();
}

}  // namespace

extern "C" {

// Called all the time.
NOINLINE unsigned long leaf(unsigned long n) {
  asm volatile("" : "+r"(n));
  return n * 3 + 1;
}

OWN(chain_code) unsigned long chain(int depth) {
  unsigned long n = 0;
  if (depth > 1) {
    n = chain(depth - 1) + 1;
  } else {
    at_bottom = 1;
    while (wanted_samples > 0) n += leaf(n);
    at_bottom = 0;
  }
  asm volatile("" : "+r"(n));
  return n;
}

OWN(work_code) void work() {
  first_count = backtrace(first_frames, kFrames) - 1;  // less this frame
  memmove(first_frames, first_frames + 1, sizeof(void*) * size_t(first_count));
  sum = sum + chain(kDepth);
}

NOINLINE int poke(const int* place) { return *place + 1; }

NOINLINE void spin() {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (unsigned long n = 0;;) n += leaf(n);
}
}

namespace {

int sample_stacks(int count) {
  struct sigaction action = {};
  action.sa_sigaction = sample;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  wanted_samples = count;
  const itimerval never = {};
  next_sample();
  work();
  setitimer(ITIMER_REAL, &never, nullptr);
  fact("samples", long(samples));
  fact("whole", long(whole));
  fact("in no object", long(outside));
  return 0;
}

NOINLINE void interrupted(int) { wanted_samples = wanted_samples - 1; }

// Interrupts backtrace() itself, of whose calls djtap answers some (object_hook.S).
int interrupt_unwinder(int count) {
  void* frames[kFrames];
  backtrace(frames, kFrames);  // loads the unwinder
  struct sigaction action = {};
  action.sa_handler = interrupted;
  sigaction(SIGALRM, &action, nullptr);
  wanted_samples = count;
  const itimerval often = {{0, 137}, {0, 137}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (wanted_samples > 0) sum = sum + leaf(unsigned(backtrace(frames, kFrames)));
  setitimer(ITIMER_REAL, &never, nullptr);
  fact("samples", count);
  return 0;
}

struct Fault {};
unsigned long destroyed;
struct Guard {
  ~Guard() { __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED); }
};

void fault(int) { throw Fault(); }

NOINLINE int guarded_poke(const int* place) {
  Guard guard;
  return poke(place);
}

int throw_from_faults(int count) {
  struct sigaction action = {};
  action.sa_handler = fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  int caught = 0, here = 1;
  for (int i = 0; i < count; i++) {
    try {
      guarded_poke(i % 2 == 0 ? nullptr : &here);
    } catch (const Fault&) {
      caught++;
    }
  }
  fact("caught", caught);
  fact("destroyed", long(destroyed));
  return 0;
}

void* guarded_spin(void*) {
  Guard guard;
  spin();
  return nullptr;
}

int cancel_threads(int count) {
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, guarded_spin, nullptr);
    const timespec moment = {0, 1'000'000 + i * 1000};
    nanosleep(&moment, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  fact("cancelled", count);
  fact("destroyed", long(destroyed));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = atoi(argv[2]);
  if (strcmp(argv[1], "sample") == 0) return sample_stacks(count);
  if (strcmp(argv[1], "unwind") == 0) return interrupt_unwinder(count);
  if (strcmp(argv[1], "throw") == 0) return throw_from_faults(count);
  return cancel_threads(count);
}
// SPDX-License-Identifier: Apache-2.0
