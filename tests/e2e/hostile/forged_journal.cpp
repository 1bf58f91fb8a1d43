// SPDX-License-Identifier: Apache-2.0
// Has a forged journal of a djtap session mapped, as a session that was killed would have left it:
// "forged_journal KIND" for one lie, "forged_journal random" for numbers of which each line of
// input is the seed of the next. Prints "pid: " and its number, and "forged" when the next is
// there.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "runtime/shared/fault_gates.h"
#include "runtime/shared/thread_table.h"
#include "runtime/shared/trap.h"
#include "runtime/text/journal.h"

namespace {

using namespace dj;

constexpr uint64_t kBytes = 1 << 20, kHuge = uint64_t{1} << 42;

abi::ThreadTable threads;
struct {
  abi::TrapTable table;
  alignas(64) abi::TrapEntry entries[64];
} trap;
static_assert(offsetof(decltype(trap), entries) == abi::kTrapEntriesAt);
abi::FaultGates gates;

// A call that leads to what a journal can call a detour, and text that a session may have written.
__attribute__((noinline, aligned(4096))) long work(long more) {
  asm volatile("nop; nop; nop; nop; nop" : "+r"(more));
  return more + 1;
}

uint64_t number_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

// Its start time, as /proc has it.
uint64_t start_of(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const char* at = text.c_str() + text.rfind(')') + 1;
  for (int field = 3; field < 22; field++) at = strchr(at + 1, ' ');
  return strtoull(at, nullptr, 10);
}

struct Forged {
  JournalHeader* header;  // to write
  JournalRecord* records;
  int file;
};

// Of `bytes`, mapped as djtap maps one. `name`: behind "djtap".
Forged make(uint64_t bytes, const char* name = "-journal") {
  Forged made;
  made.file = memfd_create((std::string("djtap") + name).c_str(), 0);
  if (ftruncate(made.file, static_cast<off_t>(bytes)) != 0) abort();
  void* mine = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.file, 0);
  void* shown = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, made.file, 0);
  if (mine == MAP_FAILED || shown == MAP_FAILED) abort();
  made.header = static_cast<JournalHeader*>(mine);
  made.records = reinterpret_cast<JournalRecord*>(made.header + 1);
  made.header->version = kJournalVersion;
  made.header->controller = 1;
  made.header->calls_at = bytes;
  made.header->magic = kJournalMagic;
  return made;
}

// One place: what stands there is said to be djtap's, but for its first byte.
void add_place(Forged& journal) {
  JournalRecord& record = journal.records[journal.header->count++];
  record.address = number_of(reinterpret_cast<const void*>(work));
  record.bytes = 5;
  memcpy(record.patched, reinterpret_cast<const void*>(work), 5);
  memcpy(record.original, record.patched, 5);
  record.original[0] ^= 1;
}

// As of a whole session.
void fill(Forged& journal) {
  JournalHeader& h = *journal.header;
  h.count = 0;
  for (int i = 0; i < 8; i++) add_place(journal);
  for (int i = 1; i < 8; i++) journal.records[i].led = 1;
  h.calls_at = kBytes - 8 * sizeof(JournalCall);
  h.call_count = 8;
  auto* calls = reinterpret_cast<JournalCall*>(number_of(journal.header) + h.calls_at);
  for (int i = 0; i < 8; i++)
    calls[i] = {number_of(reinterpret_cast<void*>(work)), number_of(&gates)};
  trap.table.begin = {0, 64, 3};
  h.trap_table = number_of(&trap.table);
  h.fault_gates = number_of(&gates);
  h.threads = number_of(&threads);
  h.blocked_count = 4;
}

// Changes some words of what there is.
void change(Forged& journal, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto value = [&random]() -> uint64_t {
    switch (random() % 6) {
      case 0:
        return random() % 64;
      case 1:
        return random();
      case 2:
        return ~uint64_t{0} >> random() % 64;
      case 3:
        return number_of(reinterpret_cast<void*>(work)) + random() % 8192;
      case 4:
        return number_of(&threads) + random() % sizeof threads;
      default:
        return uint64_t{1} << random() % 64;
    }
  };
  struct Part {
    void* begin;
    uint64_t words;
  };
  const Part parts[] = {{&journal.header->version, 14},
                        {journal.header, sizeof(JournalHeader) / 8},
                        {&journal.header->blocked_count, 8},
                        {journal.records, 64},
                        {&trap, sizeof trap / 8},
                        {&gates, sizeof gates / 8},
                        {&threads.denied, 64}};
  for (uint64_t i = 0, changes = 1 + random() % 12; i < changes; i++) {
    const Part& part = parts[random() % std::size(parts)];
    static_cast<uint64_t*>(part.begin)[random() % part.words] = value();
  }
  journal.header->magic = kJournalMagic;
  if (random() % 8 != 0) {
    journal.header->version = kJournalVersion;
    journal.header->calls_at = journal.header->calls_at % kBytes / 8 * 8;
    journal.header->finished = 0;
  }
}

bool lie(const std::string& kind) {
  const bool is_huge = kind == "many records" || kind == "many calls";
  Forged journal = make(is_huge ? kHuge : kBytes);
  JournalHeader& h = *journal.header;
  if (kind == "many records") {
    h.count = (h.calls_at - sizeof h) / sizeof(JournalRecord);
  } else if (kind == "many calls") {
    h.calls_at = sizeof h;
    h.call_count = (kHuge - sizeof h) / sizeof(JournalCall);
  } else if (kind == "held by init") {
    h.controller_start = start_of(1);
  } else if (kind == "held by itself") {
    h.controller = getpid();
    h.controller_start = start_of(getpid());
  } else if (kind == "a trap table of terabytes" || kind == "a trap table of all numbers") {
    add_place(journal);
    const uint64_t size = kind == "a trap table of terabytes" ? uint64_t{1} << 40 : ~uint64_t{0};
    trap.table.begin = trap.table.dlopened = {size, size, size};
      h.trap_table = number_of(&trap.table);
  } else if (kind == "many mappings") {
    for (int i = 0; i < 20000; i++) mmap(nullptr, 8192, PROT_READ, MAP_SHARED, journal.file, 0);
  } else if (kind == "many journals") {
    for (int i = 0; i < 20000; i++) {
      const Forged more = make(8192);
      munmap(more.header, kBytes);
      close(more.file);
    }
  } else if (kind == "many files") {
    for (int i = 0; i < 20000; i++) {
      const int file = memfd_create("djtap-code", 0);
      if (ftruncate(file, 4096) != 0) abort();
      mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
      close(file);
    }
  } else if (kind == "many places" || kind == "many led places") {  // on as many pages
    const int text = memfd_create("text", 0);
    constexpr uint64_t kPlaces = 1 << 20, kText = kPlaces * 4096;
    if (ftruncate(text, kText) != 0) abort();
    const uint64_t at =
        number_of(mmap(nullptr, kText, PROT_READ | PROT_EXEC, MAP_PRIVATE, text, 0));
    journal = make(sizeof h + kPlaces * sizeof(JournalRecord));
    const uint64_t bytes = sizeof h + kPlaces * sizeof(JournalRecord);
    void* all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, journal.file, 0);
    auto* records = reinterpret_cast<JournalRecord*>(static_cast<JournalHeader*>(all) + 1);
    for (uint64_t i = 0; i < kPlaces; i++) {
      records[i].address = at + (i * 7919 % kPlaces) * 4096;
      records[i].bytes = 5;
      records[i].led = kind == "many led places";
      memset(records[i].patched, static_cast<int>(0xe8), 5);
      memset(records[i].original, 1, 5);
    }
    journal.header->count = kPlaces;
  } else if (kind == "another one's files") {
    Forged other = make(kBytes);
    for (Forged* each : {&journal, &other}) {
      for (uint64_t& file : each->header->files) file = journal.header->files[2];
      each->header->finished = 1;
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int, char** words) {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string kind = words[1];
  printf("pid: %d\n", getpid());
  if (kind != "random" && !lie(kind)) return 2;
  printf("forged\n");
  if (kind != "random") {
    for (;;) usleep(static_cast<useconds_t>(10000 + work(1)));
  }
  Forged journal = make(kBytes);
  unsigned long seed = 0;
  while (scanf("%lu", &seed) == 1) {
    memset(static_cast<void*>(journal.header), 0, kBytes);
    journal.header->version = kJournalVersion;
    journal.header->controller = 1;
    fill(journal);
    change(journal, seed);
    printf("forged\n");
  }
}
