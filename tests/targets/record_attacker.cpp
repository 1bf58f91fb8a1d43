// A hostile target: writes records into djtap's rings that no handler has sent.
//   record_attacker KIND NUMBER TEXT COUNT    NUMBER: EventHeader::format (bytes of TEXT for those
//   that carry text)
// KIND `future`: prints of a time that is yet to come; else an EventKind's number. COUNT in all, a
// ring full at a time.
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

#include "runtime/shared/event.h"
#include "runtime/shared/ring.h"

using namespace dj;

extern "C" __attribute__((noinline)) long work(long x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

namespace {

void nap(long us) {
  const timespec time = {us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&time, nullptr);
}

// The newest arena that is mapped here; null: there is none.
const abi::Header* find_arena() {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4400];
  const abi::Header* found = nullptr;
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    char rights[8];
    if (sscanf(line, "%lx-%*x %7s", &begin, rights) != 2 || begin >= uint64_t{1} << 31) continue;
    if (strstr(line, "/memfd:djtap") == nullptr || rights[0] != 'r' || rights[2] == 'x') continue;
    const auto* header = reinterpret_cast<const abi::Header*>(begin);
    if (header->magic == abi::kMagic && header->rings.is_set()) found = header;
  }
  if (maps != nullptr) fclose(maps);
  return found;
}

// False: the ring is full.
bool put(const abi::Header& header, const abi::EventHeader& record, const std::string& text) {
  abi::Ring* ring = header.rings.get(abi::arena_of(&header));
  const uint64_t bytes = std::bit_floor(header.ring_stride);
  const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
  const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
  if (head + record.size - tail > bytes) return false;
  const uint64_t room = bytes - (head & (bytes - 1));
  auto* at =
      reinterpret_cast<abi::EventHeader*>(reinterpret_cast<char*>(ring + 1) + (head & (bytes - 1)));
  abi::EventHeader made = record;
  if (room < record.size) {
    made.kind = abi::kEventPad;
    made.size = static_cast<uint32_t>(room);
  } else {
    memcpy(at + 1, text.data(), text.size());
  }
  made.stamp = 0;
  *at = made;
  __atomic_store_n(&at->stamp, head + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->head, head + made.size, __ATOMIC_RELEASE);
  return room >= record.size;
}

[[noreturn]] void attack(const std::string& kind, uint32_t number, const std::string& text,
                         long count) {
  const abi::Header* header = nullptr;
  while ((header = find_arena()) == nullptr) nap(1000);
  nap(100'000);
  const uint64_t later = kind == "future" ? uint64_t{1} << 50 : 0;
  abi::EventHeader record = {};
  record.kind = static_cast<uint16_t>(later != 0 ? abi::kEventPrint : atoi(kind.c_str()));
  record.format = number;
  record.size = static_cast<uint32_t>((sizeof record + text.size() + 31) / 32 * 32);
  long sent = 0;
  while (sent < count) {
    record.tsc = __rdtsc() + later;
    if (put(*header, record, text))
      ++sent;
    else
      nap(200);
  }
  for (;;) nap(1'000'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 1;
  const auto number = static_cast<uint32_t>(atoi(argv[2]));
  std::thread(attack, std::string(argv[1]), number, std::string(argv[3]), atol(argv[4])).detach();
  printf("ready\n");
  fflush(stdout);
  for (long i = 0;; ++i) {
    work(i);
    nap(5000);
  }
}
// SPDX-License-Identifier: Apache-2.0
