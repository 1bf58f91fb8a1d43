// The SIGTRAP action: from an int3 of ours to its detour; any other trap is the application's.
#include "runtime/shared/trap.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/syscall.h"

using namespace dj;
using agent::arena;

namespace {

constexpr int kSigtrap = 5;
constexpr uint64_t kSaResetHand = 0x80000000;
constexpr uint64_t kMaskBytes = 8;
constexpr uint64_t kSetMask = 2;  // SIG_SETMASK

// The kernel's struct ucontext and siginfo, as far as they are read here.
struct UserContext {
  uint64_t flags, link;
  uint64_t stack[3];
  uint64_t registers[23];  // 16: rip
  uint64_t float_state;
  uint64_t reserved[8];
  uint64_t mask;
};
constexpr int kRip = 16;
struct SignalInfo {
  int32_t signal, error, code;
};

uint64_t* cache_set(const abi::TrapTable* table, uint64_t address, abi::TrapCache** cache) {
  *cache = reinterpret_cast<abi::TrapCache*>(table->caches) + agent::current_row();
  return (*cache)->words[abi::trap_hash(address) >> 40 & (abi::kTrapSets - 1)];
}

// A word of the cache: low half of the address and the entry's index plus 1. The entry itself has
// the last word, so a torn or stale one can only miss.
abi::TrapEntry* find_cached(const abi::TrapTable* table, const uint64_t* set, uint64_t address) {
  for (uint32_t way = 0; way < abi::kTrapWays; ++way) {
    uint64_t word = abi::load(&set[way]), index = (word & 0xffffffff) - 1;
    if (word >> 32 != (address & 0xffffffff) || index > table->mask) continue;
    abi::TrapEntry* entry = abi::trap_entry(table, index);
    if (abi::load(&entry->address) == address) return entry;
  }
  return nullptr;
}

abi::TrapEntry* find_entry(const abi::TrapTable* table, uint64_t address) {
  if (!table->cache_on) return abi::trap_table_find(table, address);
  abi::TrapCache* cache;
  uint64_t* set = cache_set(table, address, &cache);
  abi::TrapEntry* entry = find_cached(table, set, address);
  if (entry != nullptr) {
    abi::add(&arena()->trap_cache_hits, 1);
    return entry;
  }
  entry = abi::trap_table_find(table, address);
  if (entry == nullptr) return nullptr;
  uint64_t index = static_cast<uint64_t>(entry - abi::trap_entry(table, 0));
  uint64_t way = abi::add(&cache->next_way, 1) % abi::kTrapWays;
  abi::store(&set[way], address << 32 | (index + 1));
  return entry;
}

// What the kernel would do without us. The default action happens when this handler has returned:
// SIGTRAP is blocked until then.
void die_of_trap() {
  abi::AppAction standard = {};
  agent::raw_syscall(agent::kSysRtSigaction, kSigtrap, agent::word(&standard), 0, kMaskBytes);
  agent::raw_syscall(agent::kSysTgkill, agent::kernel_process_id(), agent::kernel_thread_id(),
                     kSigtrap);
}

void run_application_action(int signal, void* info, UserContext* context) {
  abi::AppAction* app = &reinterpret_cast<abi::TrapTable*>(arena()->trap_table)->app;
  uint64_t handler = abi::load(&app->handler);
  bool from_kernel = static_cast<SignalInfo*>(info)->code > 0;
  if (handler == 0 || (handler == 1 && from_kernel)) return die_of_trap();
  if (handler == 1) return;
  if ((app->flags & kSaResetHand) != 0) abi::store(&app->handler, uint64_t{0});
  uint64_t mask = (context->mask | app->mask) & ~(uint64_t{1} << (kSigtrap - 1));
  agent::raw_syscall(agent::kSysRtSigprocmask, kSetMask, agent::word(&mask), 0, kMaskBytes);
  reinterpret_cast<void (*)(int, void*, void*)>(handler)(signal, info, context);
}

}  // namespace

void dj_trap_handler(int signal, void* siginfo, void* ucontext) {
  auto* context = static_cast<UserContext*>(ucontext);
  const auto* table = reinterpret_cast<const abi::TrapTable*>(arena()->trap_table);
  bool from_kernel = static_cast<SignalInfo*>(siginfo)->code > 0;
  abi::TrapEntry* entry =
      from_kernel && table != nullptr ? find_entry(table, context->registers[kRip] - 1) : nullptr;
  if (entry != nullptr) {
    abi::add(&arena()->trap_hits, 1);
    abi::add(&entry->hits, 1);
    context->registers[kRip] = abi::load(&entry->detour);
    return;
  }
  abi::add(&arena()->trap_strays, 1);
  if (table != nullptr) run_application_action(signal, siginfo, context);
}
