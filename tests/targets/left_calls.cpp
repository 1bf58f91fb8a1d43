// Calls that are left in every way, each by functions of its own name that count themselves: what
// entered and what went back to its caller. With an argument it sleeps, in a call, on stdin's order.
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "facts.h"

namespace {

enum Way { kThrown, kRethrown, kCaught, kJumped, kContext, kCoroutine, kExited, kCancelled, kDeep, kEnded, kWays };
const char* const kNames[kWays] = {"thrown", "rethrown", "caught", "jumped", "context", "coroutine", "exited", "cancelled", "deep", "ended"};

std::atomic<long> entered[kWays], returned[kWays], raised, contexts;
jmp_buf g_back;
ucontext_t g_home, g_routine, g_catcher;

void tell() {
  for (int way = 0; way < kWays; way++) {
    printf("%s entered: %ld\n%s returned: %ld\n", kNames[way], entered[way].load(), kNames[way], returned[way].load());
  }
  fact("raised", raised);
  fact("contexts", contexts);
}

}  // namespace

extern "C" {

// Every third call is left, from two frames further in.
NOINLINE int throw_third(int i) {
  if (i % 3 == 0) {
    raised++;
    throw i;
  }
  return i;
}
NOINLINE int thrown(int i) {
  entered[kThrown]++;
  int got = throw_third(i) + 1;
  returned[kThrown]++;
  return got;
}
NOINLINE int rethrown(int i) {
  entered[kRethrown]++;
  int got = 0;
  try {
    got = thrown(i);
  } catch (int) {
    if (i % 2 == 0) {
      raised++;
      throw;
    }
  }
  returned[kRethrown]++;
  return got;
}
// Catches in its own frame what it throws.
NOINLINE int caught(int i) {
  entered[kCaught]++;
  int got = i;
  try {
    throw_third(i);
  } catch (int) {
    got = -1;
  }
  returned[kCaught]++;
  return got;
}

NOINLINE int jumped(int i) {
  entered[kJumped]++;
  if (i % 2 == 0) longjmp(g_back, 1);
  returned[kJumped]++;
  return i;
}

NOINLINE int context(int i) {
  entered[kContext]++;
  if (i % 2 == 0) {
    contexts++;
    setcontext(&g_catcher);
  }
  returned[kContext]++;
  return i;
}

// Comes back twice, and is left behind in its third call.
NOINLINE int coroutine(int i) {
  entered[kCoroutine]++;
  swapcontext(&g_routine, &g_home);
  returned[kCoroutine]++;
  return i;
}

NOINLINE void exited(int i) {
  entered[kExited]++;
  if (i % 2 == 0) pthread_exit(nullptr);
  returned[kExited]++;
}

NOINLINE void cancelled(int i) {
  entered[kCancelled]++;
  if (i % 2 == 0) pthread_cancel(pthread_self());
  pthread_testcancel();
  returned[kCancelled]++;
}

NOINLINE int deep(int n) {
  entered[kDeep]++;
  int got = n == 0 ? 0 : deep(n - 1) + 1;
  returned[kDeep]++;
  return got;
}

// Its frame lies where those that an exception has left were.
NOINLINE void rest() {
  volatile char words[1024];
  for (volatile char& word : words) word = 0;
  if (read(0, const_cast<char*>(words), 1) < 1) exit(0);
}

NOINLINE void ended() {
  entered[kEnded]++;
  tell();
  exit(0);
}

}  // extern "C"

namespace {

void run_routine() {
  for (int i = 0;; i++) coroutine(i);
}

void throw_once(int i) {
  try {
    rethrown(i);
  } catch (int) {
  }
}

void* run_thread(void* number) {
  const int i = static_cast<int>(reinterpret_cast<long>(number));
  exited(2 * i + 1);
  cancelled(2 * i + 1);
  if (i % 2 == 0) exited(i);
  cancelled(0);
  return nullptr;
}

void run_contexts() {
  static char stack[64 * 1024];
  getcontext(&g_routine);
  g_routine.uc_stack.ss_sp = stack;
  g_routine.uc_stack.ss_size = sizeof stack;
  makecontext(&g_routine, run_routine, 0);
  for (int turn = 0; turn < 3; turn++) swapcontext(&g_home, &g_routine);
  volatile int i = 0;
  getcontext(&g_catcher);
  while (i < 30) {
    i = i + 1;
    context(i);
  }
}

}  // namespace

int main(int argc, char**) {
  fact("pid", getpid());
  for (long said = 0; argc > 1;) {
    rest();
    throw_once(6);
    throw_once(6);
    fact("said", ++said);
  }
  for (int i = 1; i <= 60; i++) {
    throw_once(i);
    caught(i);
    if (setjmp(g_back) == 0) jumped(i);
  }
  run_contexts();
  for (long i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, nullptr, run_thread, reinterpret_cast<void*>(i));
    pthread_join(thread, nullptr);
  }
  deep(40000);
  ended();
}
// SPDX-License-Identifier: Apache-2.0
