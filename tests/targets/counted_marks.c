// One SDT mark with a semaphore, in a program whose work goes on in children; does on stdin's orders:
//   value       answers with the semaphore
//   hold        counts it up itself, as another tracer would
//   fork        its child takes the orders; the parent answers with its own when that has ended
//   quit        ends
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "facts.h"
#include "sdt_note.h"

__attribute__((section(".probes"), used)) volatile unsigned short counted_semaphore = 0;

NOINLINE void marked(long n) {
  if (counted_semaphore) {
    __asm__ volatile(SDT_NOTE("victim", "counted", "counted_semaphore", "-8@%0") : : "r"(n));
  }
}

int main(void) {
  char line[64];
  setvbuf(stdin, NULL, _IONBF, 0);
  fact("pid", getpid());
  while (fgets(line, sizeof line, stdin)) {
    marked(1);
    if (strcmp(line, "value\n") == 0) fact("semaphore", counted_semaphore);
    if (strcmp(line, "hold\n") == 0) fact("held", ++counted_semaphore);
    if (strcmp(line, "quit\n") == 0) break;
    if (strcmp(line, "fork\n") != 0) continue;
    const pid_t child = fork();
    if (child == 0) {
      fact("child", getpid());
      continue;
    }
    waitpid(child, NULL, 0);
    fact("semaphore of the parent", counted_semaphore);
    break;
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
