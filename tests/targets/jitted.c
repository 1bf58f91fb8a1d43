// Compiles functions while it runs, and tells of them as perf wants it: "map" in /tmp/perf-PID.map,
// as CPython's -X perf does; "dump" in a jit-PID.dump of the current folder, as perf's agent for Java
// does; "bare" as "map", of functions without frame pointers; "quiet" not at all. On its input: "call N" calls outer() N times, which calls inner(), which
// calls leaf(); "spin N" runs N rounds of a loop; "more" compiles another outer() and forgets the
// first; "move" puts inner() elsewhere, as a collector of garbage does. It says where they lie.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"

static long leaf_calls;

NOINLINE void leaf(void) { leaf_calls++; }

static uint8_t* code;
static size_t used;
static int file = -1, is_dump;
static uint64_t codes;
static uint8_t *outer, *inner, *spin;

// The format of perf's jitdump (linux/tools/perf/Documentation/jitdump-specification.txt).
struct dump_head {
  uint32_t magic, version, bytes, machine, pad, pid;
  uint64_t time, flags;
};
struct record {
  uint32_t kind, bytes;
  uint64_t time;
  uint32_t pid, tid;
  uint64_t vma, words[4];  // a load: address, bytes, index; a move: from, to, bytes, index
};

static void put(const void* bytes, size_t count) {
  if (write(file, bytes, count) != (ssize_t)count) abort();
}

static void tell(const uint8_t* at, size_t bytes, const char* name) {
  printf("%s at %lx of %zx\n", name, (long)at, bytes);
  fflush(stdout);
  if (file >= 0 && is_dump) {
    const size_t fixed = offsetof(struct record, words[3]), text = strlen(name) + 1;
    struct record load = {0, (uint32_t)(fixed + text + bytes), 0, (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)at, {(uintptr_t)at, bytes, codes++}};
    put(&load, fixed);
    put(name, text);
    put(at, bytes);
  } else if (file >= 0) {
    char line[256];
    put(line, (size_t)snprintf(line, sizeof line, "%lx %zx %s\n", (long)at, bytes, name));
  }
}

static uint8_t* emit(const void* bytes, size_t count, const char* name) {
  uint8_t* at = code + used;
  memcpy(at, bytes, count);
  used += (count + 63) / 64 * 64;
  if (name) tell(at, count, name);
  return at;
}

// push %rbp; mov %rsp,%rbp; movabs $callee,%rax; call *%rax; pop %rbp; ret
static uint8_t* emit_call(const void* callee, const char* name) {
  uint8_t bytes[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
  memcpy(bytes + 6, &callee, sizeof callee);
  return emit(bytes, sizeof bytes, name);
}

// As CPython's trampolines of version 3.12, without a frame pointer: sub $8,%rsp; movabs $callee,%rax;
// call *%rax; add $8,%rsp; ret. large: push %r12; push %rbx; sub $0x88,%rsp; and back.
static uint8_t* emit_bare(const void* callee, const char* name, int large) {
  static const uint8_t small_in[] = {0x48, 0x83, 0xec, 8}, small_out[] = {0x48, 0x83, 0xc4, 8, 0xc3};
  static const uint8_t large_in[] = {0x41, 0x54, 0x53, 0x48, 0x81, 0xec, 0x88, 0, 0, 0, 0x31, 0xdb};  // xor %ebx,%ebx
  static const uint8_t large_out[] = {0x48, 0x81, 0xc4, 0x88, 0, 0, 0, 0x5b, 0x41, 0x5c, 0xc3};
  uint8_t bytes[64];
  size_t count = large ? sizeof large_in : sizeof small_in;
  memcpy(bytes, large ? large_in : small_in, count);
  bytes[count++] = 0x48, bytes[count++] = 0xb8;
  memcpy(bytes + count, &callee, sizeof callee);
  count += sizeof callee;
  bytes[count++] = 0xff, bytes[count++] = 0xd0;
  memcpy(bytes + count, large ? large_out : small_out, large ? sizeof large_out : sizeof small_out);
  return emit(bytes, count + (large ? sizeof large_out : sizeof small_out), name);
}

// push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret
static const uint8_t kSpin[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static void open_file(void) {
  char path[64];
  snprintf(path, sizeof path, is_dump ? "jit-%d.dump" : "/tmp/perf-%d.map", getpid());
  file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  if (file < 0) abort();
  if (!is_dump) return;
  const struct dump_head head = {0x4A695444, 1, sizeof head, 62, 0, (uint32_t)getpid(), 0, 0};
  put(&head, sizeof head);
  if (mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) abort();
}

static void move_inner(void) {
  uint8_t* from = inner;
  inner = emit_call((void*)leaf, NULL);
  struct record move = {1, sizeof move, 0, (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)inner, {(uintptr_t)from, (uintptr_t)inner, 18, 1}};
  if (file >= 0 && is_dump) put(&move, sizeof move);
  memset(from, 0xcc, 18);
  outer = emit_call(inner, "py::outer:/x/moved.py");
}

static void obey(const char* word, long number) {
  if (strcmp(word, "call") == 0) {
    for (long i = 0; i < number; i++) ((void (*)(void))outer)();
    printf("called: %ld\n", number);
  } else if (strcmp(word, "spin") == 0) {
    ((void (*)(long))spin)(number);
    printf("spun: %ld\n", number);
  } else if (strcmp(word, "more") == 0) {
    outer = emit_call(inner, "py::later:/x/script.py");
    printf("more: 1\n");
  } else if (strcmp(word, "move") == 0) {
    move_inner();
    printf("moved: 1\n");
  }
  fflush(stdout);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "map";
  is_dump = strcmp(how, "dump") == 0;
  code = mmap(0, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  if (strcmp(how, "quiet") != 0) open_file();
  spin = emit(kSpin, sizeof kSpin, "py::spin:/x/script.py");
  if (strcmp(how, "bare") == 0) {
    inner = emit_bare((void*)leaf, "py::inner:/x/script.py", 0);
    outer = emit_bare(inner, "py::outer:/x/script.py", 1);
  } else {
    inner = emit_call((void*)leaf, "py::inner:/x/script.py");
    outer = emit_call(inner, "py::outer:/x/script.py");
  }
  char line[64], word[16];
  long number = 0;
  while (fgets(line, sizeof line, stdin))
    if (sscanf(line, "%15s %ld", word, &number) >= 1) obey(word, number);
  fact("leaf calls", leaf_calls);
  if (file >= 0 && !is_dump && argc < 3) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    unlink(path);
  }
}
// SPDX-License-Identifier: Apache-2.0
