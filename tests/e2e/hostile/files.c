// SPDX-License-Identifier: Apache-2.0
// A program whose owner changes the files that a tracer reads of it, again and again, by what its
// argument says: `exchange` gives the name of its library to another file and back, `truncate` cuts
// a copy of the library short and writes it again, `fifo` puts a FIFO under the name of its debug
// files. Arguments: how, folder. The folder holds lib.so (which is loaded), other.so and debug.
// Prints "pid: N" when it has begun.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char library[4096], other[4096], spare[4096], debug[4096];

static void exchange(void) {
  if (renameat2(AT_FDCWD, library, AT_FDCWD, other, RENAME_EXCHANGE) != 0) exit(2);
}

// The bytes stay those that are mapped; only the size changes.
static void cut(void) {
  static char bytes[1 << 20];
  const int file = open(library, O_RDWR);
  const ssize_t size = read(file, bytes, sizeof bytes);
  if (size <= 0 || ftruncate(file, 64) != 0 || pwrite(file, bytes, size, 0) != size) exit(3);
  close(file);
}

static void replace_by_fifo(void) {
  unlink(spare);
  if (mkfifo(spare, 0666) != 0 || renameat2(AT_FDCWD, spare, AT_FDCWD, debug, RENAME_EXCHANGE) != 0)
    exit(4);
  usleep(50);
  renameat2(AT_FDCWD, spare, AT_FDCWD, debug, RENAME_EXCHANGE);
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  snprintf(library, sizeof library, "%s/lib.so", argv[2]);
  snprintf(other, sizeof other, "%s/other.so", argv[2]);
  snprintf(spare, sizeof spare, "%s/spare", argv[2]);
  snprintf(debug, sizeof debug, "%s/debug.dwo", argv[2]);
  int (*work)(int) = (int (*)(int))dlsym(dlopen(library, RTLD_NOW), "lib_work");
  if (work == NULL) return 5;
  printf("pid: %d\n", getpid());
  fflush(stdout);
  void (*change)(void) = strcmp(argv[1], "exchange") == 0   ? exchange
                         : strcmp(argv[1], "truncate") == 0 ? cut
                                                            : replace_by_fifo;
  // A cut library must not be run: its pages are gone for a moment.
  for (;;) {
    change();
    if (change != cut) work(1);
  }
}
