// Stacks as handlers of signals, destructors, coroutines and threads have them, each told by
// backtrace() itself: one line a call of here(), its tag and the addresses of its callers.
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace {

ucontext_t main_context, coroutine;
char coroutine_stack[65536], signal_stack[65536];

}  // namespace

extern "C" [[gnu::noipa]] void here(const char* tag) {
  constexpr int kMost = 64;
  void* frames[kMost];
  const int count = backtrace(frames, kMost);
  char line[4096];
  int length = sprintf(line, "%s", tag);
  for (int i = 1; i < count; i++) length += sprintf(line + length, " %p", frames[i]);
  line[length++] = '\n';
  if (write(1, line, length) != length) abort();
}

struct Tells {
  ~Tells() { here("destructor"); }
};

[[gnu::noipa]] void throws(int depth) {
  Tells tells;
  if (depth == 0) throw std::runtime_error("thrown");
  throws(depth - 1);
}

[[gnu::noipa]] void catches() {
  try {
    throws(3);
  } catch (const std::exception&) {
    here("landed");
  }
}

void on_signal(int) { here("signal"); }
void on_other_stack(int) { here("signal-stack"); }

[[gnu::noipa]] void signals_itself(int number) {
  pthread_kill(pthread_self(), number);
  asm volatile("");  // no tail call
}

[[gnu::noipa]] void switches(int depth) {
  if (depth > 0) {
    switches(depth - 1);
  } else {
    here("coroutine");
    swapcontext(&coroutine, &main_context);
    here("coroutine-again");
  }
  asm volatile("");
}

void in_coroutine() { switches(5); }

void* in_thread(void*) {
  here("thread");
  signals_itself(SIGUSR1);
  catches();
  return nullptr;
}

int compare(const void* a, const void* b) {
  here("qsort");
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

int main() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  action.sa_handler = on_other_stack;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR2, &action, nullptr);
  const stack_t stack = {signal_stack, 0, sizeof signal_stack};
  sigaltstack(&stack, nullptr);
  here("main");
  signals_itself(SIGUSR1);
  signals_itself(SIGUSR2);
  catches();
  getcontext(&coroutine);
  coroutine.uc_stack = {coroutine_stack, 0, sizeof coroutine_stack};
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, in_coroutine, 0);
  swapcontext(&main_context, &coroutine);
  swapcontext(&main_context, &coroutine);
  pthread_t thread;
  pthread_create(&thread, nullptr, in_thread, nullptr);
  pthread_join(thread, nullptr);
  int two[] = {2, 1};
  qsort(two, 2, sizeof *two, compare);
  atexit([] { here("atexit"); });
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
