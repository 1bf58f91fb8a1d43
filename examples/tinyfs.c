// tinyfs: a small in-memory file system, worked on by four threads that check all they read.
//
// A disk of 4,096 blocks, a free list, i-nodes with a block table, one directory. Each thread creates,
// writes, reads back and unlinks files of its own, and reads a file that all share. The program counts
// its calls of vfs_read itself, so that a tracer's count can be compared with the truth.
//
//   tinyfs [ROUNDS]     default 200 rounds per thread
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { BLOCK_SIZE = 512, BLOCKS = 4096, INODES = 256, BLOCKS_PER_FILE = 64, NAME_BYTES = 32, THREADS = 4 };

struct inode {
  unsigned number;
  unsigned links;  // 0: free
  size_t size;
  int blocks[BLOCKS_PER_FILE];  // -1: not allocated
  char name[NAME_BYTES];
  pthread_rwlock_t lock;
};

struct file {
  struct inode* inode;
  off_t position;
  unsigned flags;
};

enum { FILE_READ = 1, FILE_WRITE = 2 };

static char disk[BLOCKS][BLOCK_SIZE];
static int next_free[BLOCKS];
static int first_free;
static struct inode inodes[INODES];
static pthread_mutex_t allocation = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t directory = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong read_calls, bytes_read, mistakes;

static void format_disk(void) {
  for (int i = 0; i < BLOCKS; i++) next_free[i] = i + 1 < BLOCKS ? i + 1 : -1;
  for (unsigned i = 0; i < INODES; i++) {
    inodes[i].number = i;
    pthread_rwlock_init(&inodes[i].lock, NULL);
  }
}

NOINLINE static int block_alloc(void) {
  pthread_mutex_lock(&allocation);
  int block = first_free;
  if (block >= 0) first_free = next_free[block];
  pthread_mutex_unlock(&allocation);
  return block;
}

NOINLINE static void block_free(int block) {
  pthread_mutex_lock(&allocation);
  next_free[block] = first_free;
  first_free = block;
  pthread_mutex_unlock(&allocation);
}

// The i-node of that name, or NULL. The directory is locked.
NOINLINE static struct inode* lookup(const char* name) {
  for (int i = 0; i < INODES; i++) {
    if (inodes[i].links > 0 && strcmp(inodes[i].name, name) == 0) return &inodes[i];
  }
  return NULL;
}

NOINLINE static bool vfs_open(struct file* file, const char* name, unsigned flags) {
  pthread_mutex_lock(&directory);
  struct inode* inode = lookup(name);
  for (int i = 0; !inode && (flags & FILE_WRITE) && i < INODES; i++) {
    if (inodes[i].links > 0) continue;
    inode = &inodes[i];
    inode->links = 1;
    inode->size = 0;
    memset(inode->blocks, -1, sizeof inode->blocks);
    snprintf(inode->name, sizeof inode->name, "%s", name);
  }
  pthread_mutex_unlock(&directory);
  *file = (struct file){.inode = inode, .position = 0, .flags = flags};
  return inode != NULL;
}

NOINLINE ssize_t vfs_write(struct file* file, const char* buf, size_t count, off_t* pos) {
  struct inode* inode = file->inode;
  size_t done = 0;
  pthread_rwlock_wrlock(&inode->lock);
  while (done < count) {
    size_t index = (size_t)(*pos) / BLOCK_SIZE, offset = (size_t)(*pos) % BLOCK_SIZE;
    if (index >= BLOCKS_PER_FILE) break;
    if (inode->blocks[index] < 0 && (inode->blocks[index] = block_alloc()) < 0) break;
    size_t part = BLOCK_SIZE - offset < count - done ? BLOCK_SIZE - offset : count - done;
    memcpy(disk[inode->blocks[index]] + offset, buf + done, part);
    done += part;
    *pos += (off_t)part;
    if ((size_t)*pos > inode->size) inode->size = (size_t)*pos;
  }
  pthread_rwlock_unlock(&inode->lock);
  return (ssize_t)done;
}

NOINLINE ssize_t vfs_read(struct file* file, char* buf, size_t count, off_t* pos) {
  struct inode* inode = file->inode;
  size_t done = 0;
  atomic_fetch_add(&read_calls, 1);
  pthread_rwlock_rdlock(&inode->lock);
  while (done < count && (size_t)*pos < inode->size) {
    size_t index = (size_t)(*pos) / BLOCK_SIZE, offset = (size_t)(*pos) % BLOCK_SIZE;
    size_t part = BLOCK_SIZE - offset, left = inode->size - (size_t)*pos;
    if (part > count - done) part = count - done;
    if (part > left) part = left;
    memcpy(buf + done, disk[inode->blocks[index]] + offset, part);
    done += part;
    *pos += (off_t)part;
  }
  pthread_rwlock_unlock(&inode->lock);
  atomic_fetch_add(&bytes_read, done);
  return (ssize_t)done;
}

NOINLINE static void vfs_unlink(struct file* file) {
  struct inode* inode = file->inode;
  for (int i = 0; i < BLOCKS_PER_FILE; i++) {
    if (inode->blocks[i] >= 0) block_free(inode->blocks[i]);
  }
  pthread_mutex_lock(&directory);
  inode->links = 0;
  pthread_mutex_unlock(&directory);
}

static char expected_byte(int thread, int round, size_t at) {
  return (char)(thread * 31 + round * 7 + (int)(at % 251));
}

// Reads the whole file in pieces of `piece` bytes and compares it with what was written.
NOINLINE static void check_file(struct file* file, int thread, int round, size_t size, size_t piece) {
  char buf[1024];
  size_t at = 0;
  file->position = 0;
  for (;;) {
    ssize_t got = vfs_read(file, buf, piece, &file->position);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; i++, at++) {
      if (buf[i] != expected_byte(thread, round, at)) atomic_fetch_add(&mistakes, 1);
    }
  }
  if (at != size) atomic_fetch_add(&mistakes, 1);
}

struct job {
  pthread_t id;
  int thread, rounds;
};

static void* worker(void* argument) {
  const struct job* job = argument;
  char data[BLOCK_SIZE * 8], name[NAME_BYTES];
  for (int round = 0; round < job->rounds; round++) {
    size_t size = 1 + (size_t)(job->thread * 997 + round * 613) % sizeof data;
    struct file file, shared;
    snprintf(name, sizeof name, "/t%d/r%d", job->thread, round);
    for (size_t i = 0; i < size; i++) data[i] = expected_byte(job->thread, round, i);
    if (!vfs_open(&file, name, FILE_READ | FILE_WRITE)) abort();
    if (vfs_write(&file, data, size, &file.position) != (ssize_t)size) abort();
    check_file(&file, job->thread, round, size, 64u << (round % 5));
    vfs_unlink(&file);
    if (!vfs_open(&shared, "/shared", FILE_READ)) abort();
    check_file(&shared, 9, 9, 3000, 1000);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 200;
  struct job jobs[THREADS];
  struct file shared;
  char data[3000];
  format_disk();
  for (size_t i = 0; i < sizeof data; i++) data[i] = expected_byte(9, 9, i);
  if (!vfs_open(&shared, "/shared", FILE_READ | FILE_WRITE)) abort();
  vfs_write(&shared, data, sizeof data, &shared.position);
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (struct job){.thread = i, .rounds = rounds};
    pthread_create(&jobs[i].id, NULL, worker, &jobs[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(jobs[i].id, NULL);
  printf("vfs_read calls: %lu\n", atomic_load(&read_calls));
  printf("bytes read: %lu\n", atomic_load(&bytes_read));
  printf("mistakes: %lu\n", atomic_load(&mistakes));
  return atomic_load(&mistakes) == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
