// SPDX-License-Identifier: Apache-2.0
// Waits for a session and writes one system() record with the command argv[1] into the first ring
// of its arena.
#include <time.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "runtime/shared/abi.h"
#include "runtime/shared/ring.h"

using namespace dj;

extern "C" __attribute__((noinline)) int work(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

static void nap(long ms) {
  timespec time = {0, ms * 1'000'000};
  nanosleep(&time, nullptr);
}

// Of the newest mapping whose first words are a session's.
static abi::Header* find_header() {
  std::ifstream maps("/proc/self/maps");
  abi::Header* found = nullptr;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[8] = {};
    if (line.find("/memfd:djtap") == std::string::npos) continue;
    if (sscanf(line.c_str(), "%lx-%lx %7s", &begin, &end, rights) != 3 || rights[0] != 'r' ||
        end - begin < sizeof(abi::Header))
      continue;
    auto* header = reinterpret_cast<abi::Header*>(begin);
    if (header->magic == abi::kMagic && header->arena_base == begin && header->rings.is_set())
      found = header;
  }
  return found;
}

static void forge(const abi::Header& header, const char* command) {
  abi::Ring* ring = header.rings.get(abi::arena_of(&header));
  const auto bytes = static_cast<uint32_t>(strlen(command));
  const uint32_t size =
      (static_cast<uint32_t>(sizeof(abi::EventHeader)) + bytes + abi::kEventAlign - 1) /
      abi::kEventAlign * abi::kEventAlign;
  uint64_t position = 0;
  abi::EventHeader* record = abi::ring_reserve(ring, header.ring_bytes, size, &position);
  record->tsc = __rdtsc();
  record->size = size;
  record->kind = abi::kEventSystem;
  record->format = bytes;
  memcpy(record + 1, command, bytes);
  abi::ring_commit(record, position);
}

int main(int, char** argv) {
  printf("pid: ready\n");
  fflush(stdout);
  for (bool done = false;; nap(20)) {
    work(1);
    const abi::Header* header = done ? nullptr : find_header();
    if (header == nullptr) continue;
    nap(100);
    forge(*header, argv[1]);
    printf("forged: 1\n");
    fflush(stdout);
    done = true;
  }
}
