// SPDX-License-Identifier: Apache-2.0
// Exchanges descriptors while djtap is about to use them: a process that shares the target's table
// of descriptors, but is no thread of it, so that djtap does not stop it, watches the numbers that
// come next. "swapper KIND FILE": kind "file" puts FILE under each of them, "socket" one end of a
// pair of its own, "message" takes what is sent to them, "kept" keeps what they were and says on
// every line of input what can be done with it, "none" does nothing.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WATCHED = 8, KEPT_AT = 100, MOST_KEPT = 64 };
static const char* kind;
static int first, file, ends[2];
static int kept;

__attribute__((noinline)) int work(int more) {
  __asm__ volatile("" : "+r"(more));
  return more + 1;
}

static int is_kind(const char* name) { return strcmp(kind, name) == 0; }

static void take_message(int number) {
  char byte, control[256];
  struct iovec text = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &text, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  recvmsg(number, &message, MSG_DONTWAIT);
}

static int watch(void* unused) {
  char done[WATCHED] = {0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) {
    for (int i = 0; i < WATCHED; i++) {
      const int number = first + i;
      if (fcntl(number, F_GETFD) < 0) {
        done[i] = 0;
        continue;
      }
      if (is_kind("message")) take_message(number);
      if (done[i]) continue;
      done[i] = 1;
      if (is_kind("file")) dup3(file, number, O_CLOEXEC);
      if (is_kind("socket")) dup3(ends[0], number, O_CLOEXEC);
      if (is_kind("kept") && kept < MOST_KEPT && fcntl(number, F_DUPFD, KEPT_AT) >= 0) kept++;
    }
  }
  return 0;
}

static void say(const char* what, const char* name, int failed) {
  printf("%s %s: %s\n", what, name, failed ? strerrorname_np(errno) : "done");
}

// Of a file of djtap's.
static void try_file(int number) {
  char path[64], name[256] = {0};
  struct stat info;
  snprintf(path, sizeof path, "/proc/self/fd/%d", number);
  if (readlink(path, name, sizeof name - 1) < 0 || strncmp(name, "/memfd:djtap-", 13) != 0 ||
      fstat(number, &info) != 0)
    return;
  char* end = strstr(name, " (deleted)");
  if (end != NULL) *end = 0;
  const char* what = name + strlen("/memfd:djtap-");
  say("shrink", what, ftruncate(number, 0));
  say("grow", what, ftruncate(number, info.st_size + 4096));
  say("seal", what, fcntl(number, F_ADD_SEALS, F_SEAL_WRITE));
  say("write", what, pwrite(number, "x", 1, info.st_size - 1) < 0);
  say("map", what, mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, number, 0) == MAP_FAILED);
  say("punch", what, fallocate(number, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
  const int again = open(path, O_RDWR);
  say("write again", what, again < 0 || pwrite(again, "x", 1, info.st_size - 1) < 0);
}

// Of a mapping of djtap's.
static void try_mapping(const char* range, const char* what) {
  char path[128];
  unsigned long begin, end;
  sscanf(range, "%lx-%lx", &begin, &end);
  void* at = (void*)begin;
  snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", begin, end);
  say("open mapped", what, open(path, O_RDWR) < 0);
  const int memory = open("/proc/self/mem", O_RDWR);
  say("write memory", what, pwrite(memory, "x", 1, (off_t)(end - 1)) < 0);
  void* twin = mremap(at, 0, 4096, MREMAP_MAYMOVE);
  say("protect twin", what, twin == MAP_FAILED || mprotect(twin, 4096, PROT_READ | PROT_WRITE));
  say("remove", what, madvise(at, 4096, MADV_REMOVE));
  say("protect", what, mprotect(at, end - begin, PROT_READ | PROT_WRITE));
  close(memory);
}

static void try_all(void) {
  for (int i = 0; i < MOST_KEPT; i++) try_file(KEPT_AT + i);
  char line[4400];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    char* name = strstr(line, "/memfd:djtap-");
    if (name == NULL || strstr(line, "rw-s") != NULL) continue;
    name += strlen("/memfd:djtap-");
    name[strcspn(name, " \n")] = 0;
    try_mapping(line, name);
  }
  fclose(maps);
  printf("tried\n");
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  kind = words[1];
  const int opened = open(words[2], O_RDONLY);
  file = fcntl(opened, F_DUPFD, 50);
  close(opened);
  if (file < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) return 2;
  for (int i = 0; i < 2; i++) {
    const int end = fcntl(ends[i], F_DUPFD, 60);
    close(ends[i]);
    ends[i] = end;
  }
  first = open("/dev/null", O_RDONLY);
  close(first);
  char* stack = malloc(65536);
  if (!is_kind("none") && clone(watch, stack + 65536, CLONE_FILES | SIGCHLD, NULL) < 0) return 2;
  fcntl(0, F_SETFL, O_NONBLOCK);
  printf("pid: %d\n", getpid());
  for (int i = 0;; i = work(i)) {
    char byte;
    if (read(0, &byte, 1) == 1) try_all();
    usleep(10000);
  }
}
