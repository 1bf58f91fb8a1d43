// Calls that leave the program: imported functions through its linkage table, system calls through the
// C library and through an instruction of its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

static const char* const texts[] = {"7", "-12", "300", "0x1f"};
static long own_calls, own_sum, failed;
static __thread long parents;

// A system call instruction in the program itself.
NOINLINE long own_getpgid(long pid) {
  long result;
  own_calls++;
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getpgid), "D"(pid) : "rcx", "r11", "memory");
  return result;
}

// Ends in a jump to strlen(), which the loader chooses for the processor when it is first called.
NOINLINE size_t length(const char* text) { return strlen(text); }

static void* thread(void* counted) {
  for (int i = 0; i < 50; i++) parents += getppid() > 0;
  *(long*)counted = parents;
  return NULL;
}

int main(void) {
  long numbers = 0, sum = 0, lengths = 0;
  for (int i = 0; i < 100; i++, numbers++) sum += strtol(texts[i % 4], NULL, 0);
  for (int i = 0; i < 30; i++) lengths += (long)length(texts[i % 4]);
  for (int i = 0; i < 20; i++) failed += write(-1, "123", 3) < 0;
  for (int i = 0; i < 25; i++) own_sum += own_getpgid(0) > 0;
  long in_thread = 0;
  pthread_t id;
  pthread_create(&id, NULL, thread, &in_thread);
  pthread_join(id, NULL);
  fact("strtol calls", numbers);
  fact("strtol sum", sum);
  fact("lengths", lengths);
  fact("writes failed", failed);
  fact("own calls", own_calls);
  fact("own sum", own_sum);
  fact("getppid calls", in_thread);
  fact("pid", getpid());
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
