// A hostile target: waits for a session of djtap in itself, and then spoils the arena again and
// again, as its arguments say:  arena_attacker SEED KIND.  It includes djtap's own contract, so it
// always knows what lies where.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <thread>

#include "runtime/shared/capture.h"
#include "runtime/shared/event.h"
#include "runtime/shared/map.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"
#include "runtime/shared/thread_rows.h"
#include "runtime/shared/thread_table.h"
#include "runtime/shared/trap.h"

using namespace dj;

extern "C" {
__attribute__((noinline)) long work(long x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
__attribute__((noinline)) long with_text(const char* text, long n) {
  asm volatile("" : : "r"(text), "r"(n) : "memory");
  return text[0] + n;
}
__attribute__((noinline)) long recurse(long n) {
  asm volatile("" : "+r"(n));
  return n <= 0 ? 0 : 1 + recurse(n - 1);
}
}

namespace {

// A write that is refused (memory that is sealed against the program, or gone) is given up.
thread_local sigjmp_buf refused;
thread_local bool may_be_refused = false;
void on_fault(int signal) {
  if (!may_be_refused) _exit(128 + signal);
  siglongjmp(refused, 1);
}

void nap(long us) {
  const timespec time = {us / 1'000'000, us % 1'000'000 * 1000};
  nanosleep(&time, nullptr);
}

// The newest arena that is mapped here, as its header says; null: there is none.
abi::Header* find_arena() {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4400];
  abi::Header* found = nullptr;
  while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0, end = 0;
    char rights[8];
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || begin >= uint64_t{1} << 31 ||
        strstr(line, "/memfd:djtap") == nullptr || rights[0] != 'r' || rights[2] == 'x')
      continue;
    auto* header = reinterpret_cast<abi::Header*>(begin);
    if (header->magic == abi::kMagic && header->arena_base == begin && header->rings.is_set())
      found = header;
  }
  if (maps != nullptr) fclose(maps);
  return found;
}

class Attack {
 public:
  Attack(abi::Header* header, uint64_t seed) : header_(header), was_(*header), random_(seed) {}

  // One thing of that kind is done to the arena.
  void strike(const std::string& kind) {
    may_be_refused = true;
    if (sigsetjmp(refused, 1) == 0) {
      if (kind == "header") words(was_.arena_base, sizeof(abi::Header));
      if (kind == "rings") spoil_ring();
      if (kind == "records") forge();
      if (kind == "flood")
        for (int i = 0; i < 2000; ++i) forge();
      if (kind == "strings") spoil_strings();
      if (kind == "words") words(address(was_.words), sizeof(abi::SessionWords));
      // Counters, globals and arrays lie between the session's words and the rings.
      if (kind == "globals") words(address(was_.words), address(was_.rings) - address(was_.words));
      if (kind == "rows") words(address(was_.thread_rows), sizeof(abi::ThreadRows) + 64);
      if (kind == "captures" && was_.captures.is_set())
        words(address(was_.captures.get(arena())->counts), 1 << 16);
      if (kind == "threads") words(was_.threads.address(arena()), sizeof(abi::ThreadTable));
      if (kind == "threads") words(was_.threads.address(arena()) + abi::kWipedBytes, 4096);
      if (kind == "traps" && was_.trap_table.is_set())
        words(address(was_.trap_table.get(arena())->words), 1 << 13);
      if (kind == "sites") words(address(was_.sites), 1 << 12);
      if (kind == "any") words(was_.arena_base, was_.arena_bytes);
    }
    may_be_refused = false;
  }

 private:
  abi::Arena arena() const { return abi::arena_of(&was_); }
  uint64_t below(uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

  uint64_t value(uint64_t old) {
    const uint64_t end = was_.arena_base + was_.arena_bytes;
    const uint64_t values[] = {0,
                               1,
                               ~0ull,
                               uint64_t{1} << 63,
                               INT64_MAX,
                               was_.arena_base,
                               was_.arena_base - 8,
                               end,
                               end - 1,
                               end - 4,
                               address(was_.strings),
                               address(was_.rings),
                               0x414141410000,
                               uint64_t{1} << 32,
                               0xffffffff,
                               old + 1,
                               old - 1,
                               old ^ uint64_t{1} << below(64),
                               old * 2,
                               reinterpret_cast<uint64_t>(&end),
                               random_(),
                               below(1 << 16),
                               was_.arena_base + below(was_.arena_bytes),
                               __rdtsc()};
    return values[below(std::size(values))];
  }
  void word(uint64_t at) {
    auto* place = reinterpret_cast<volatile uint64_t*>(at & ~uint64_t{7});
    *place = value(*place);
  }
  // Some words of a part of the arena.
  void words(uint64_t begin, uint64_t bytes) {
    for (uint64_t i = 1 + below(40); i > 0; --i) word(begin + below(bytes));
  }
  abi::Ring* ring(uint64_t i) {
    return abi::ring_of_row(&was_, arena(), static_cast<uint32_t>(i));
  }
  void spoil_ring() {
    abi::Ring* one = ring(below(was_.cpus + 1));
    uint64_t* at = below(2) == 0 ? &one->head : &one->tail;
    *at = below(2) == 0 ? value(*at) : *at + 32 * below(1 << 10);
    const uint64_t data = reinterpret_cast<uint64_t>(one + 1);
    for (int i = 0; i < 8; ++i) word(data + below(was_.ring_stride - sizeof *one));
  }
  // A record that could be a handler's, but for some of its words.
  void forge() {
    abi::Ring* one = ring(below(was_.cpus + 1));
    const auto size = static_cast<uint32_t>(abi::kEventAlign * (1 + below(24)));
    uint64_t position = 0;
    abi::EventHeader* head = abi::ring_reserve(one, was_.ring_bytes, size, &position);
    if (head == nullptr) return;
    auto* payload = reinterpret_cast<uint64_t*>(head + 1);
    for (uint32_t i = 0; i < (size - sizeof *head) / 8; ++i)
      payload[i] = below(2) == 0 ? value(payload[i])
                                 : abi::pack_string(static_cast<uint32_t>(below(size)),
                                                    static_cast<uint32_t>(below(size)));
    head->tsc = below(3) == 0 ? value(__rdtsc()) : __rdtsc();
    head->size = below(8) == 0 ? static_cast<uint32_t>(value(size)) : size;
    head->kind = static_cast<uint16_t>(below(11));
    head->count = static_cast<uint16_t>(below(8) == 0 ? value(3) : below(5));
    head->format = static_cast<uint32_t>(below(4) == 0 ? value(3) : below(4));
    head->site = static_cast<uint32_t>(below(4) == 0 ? value(3) : below(4));
    if (below(16) != 0) abi::ring_commit(head, position);
  }
  template <typename T>
  uint64_t address(abi::ArenaRef<T> ref) const {
    return ref.address(arena());
  }
  void spoil_strings() {
    const auto& strings = *was_.strings.get(arena());
    const uint64_t pool = address(strings.data.first), all = address(strings.words);
    words(all, pool - all);
    words(pool, 1 << 12);
    for (int i = 0; i < 20; ++i)
      *reinterpret_cast<volatile uint32_t*>(pool + 8 * below(256)) =
          static_cast<uint32_t>(value(1));
  }

  abi::Header* header_;
  abi::Header was_;
  std::mt19937_64 random_;
};

[[noreturn]] void attack(uint64_t seed, std::string kind) {
  const std::string kinds[] = {"header",  "words",   "rings", "records",  "flood",
                               "strings", "globals", "rows",  "captures", "threads",
                               "traps",   "sites",   "any"};
  std::mt19937_64 random(seed);
  for (;;) {
    abi::Header* header = find_arena();
    if (header == nullptr) {
      nap(500);
      continue;
    }
    nap(static_cast<long>(random() % 150'000));
    Attack one(header, random());
    for (;;) {
      one.strike(kind == "all" ? kinds[random() % std::size(kinds)] : kind);
      nap(random() % 2 == 0 ? 0 : 1000);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t seed = argc > 1 ? strtoull(argv[1], nullptr, 0) : 1;
  struct sigaction action = {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  std::thread(attack, seed, std::string(argc > 2 ? argv[2] : "all")).detach();
  char text[64] = "a text of the program";
  printf("ready\n");
  fflush(stdout);
  for (long i = 0;; ++i) {
    text[0] = static_cast<char>('a' + i % 26);
    work(i);
    with_text(text, i % 100);
    recurse(i % 8);
    if (i % 64 == 0) nap(500);
  }
}
// SPDX-License-Identifier: Apache-2.0
