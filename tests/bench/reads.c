// SPDX-License-Identifier: Apache-2.0
// Reads a byte of /dev/zero again and again, and prints what one read(2) takes: reads COUNT [ROUNDS], the best of the rounds in ns.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 100000, rounds = argc > 2 ? atol(argv[2]) : 5;
  const int fd = open("/dev/zero", O_RDONLY);
  double best = 0;
  for (long round = 0; round < rounds; round++) {
    char byte;
    const double begin = now_ns();
    for (long i = 0; i < count; i++) {
      if (read(fd, &byte, 1) != 1) return 1;
    }
    const double took = (now_ns() - begin) / count;
    if (round == 0 || took < best) best = took;
  }
  printf("ns %.1f\n", best);
  return 0;
}
