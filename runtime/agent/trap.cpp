// SPDX-License-Identifier: Apache-2.0
// The SIGTRAP action: from an int3 of ours to its detour; any other trap is the application's.
#include "runtime/shared/trap.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/faults.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;
using agent::SignalInfo;
using agent::UserContext;

namespace {

constexpr int kSigtrap = 5;
constexpr uint64_t kSaResetHand = 0x80000000;
constexpr uint64_t kMaskBytes = 8;
constexpr uint64_t kSetMask = 2;  // SIG_SETMASK
constexpr uint64_t kUsedMark = 0xffff'0000;

abi::TrapEntry* find_entry(const abi::TrapTable* table, uint64_t address) {
  if (!table->cache_on) return abi::trap_table_find(table, address);
  abi::TrapCache* cache = table->caches.get(agent::place()) + agent::current_row();
  bool hit = false;
  abi::TrapEntry* entry = abi::trap_cached_find(table, cache, address, &hit);
  if (hit) abi::add(&agent::words().trap_cache_hits, 1);
  return entry;
}

// What the kernel would do without us. The default action happens when this handler has returned:
// SIGTRAP is blocked until then.
void die_of_trap() {
  const bool may_ask =
      !agent::is_denied(agent::kSysRtSigaction) && !agent::is_denied(agent::kSysTgkill);
  if (!may_ask) asm volatile("int3");  // blocked, it ends the program as well
  abi::AppAction standard = {};
  agent::raw_syscall(agent::kSysRtSigaction, kSigtrap, agent::word(&standard), 0, kMaskBytes);
  agent::raw_syscall(agent::kSysTgkill, agent::kernel_process_id(), agent::kernel_thread_id(),
                     kSigtrap);
}

// A trap of the program's own (its int3, moved) is shown where it stands in the program.
void run_application_action(int signal, SignalInfo* info, UserContext* context) {
  abi::AppAction* app = agent::trap_action();
  uint64_t handler = abi::load(&app->handler);
  bool from_kernel = info->code > 0;
  if (handler == 0 || (handler == 1 && from_kernel)) return die_of_trap();
  if (handler == 1) return;
  if ((app->flags & kSaResetHand) != 0) abi::store(&app->handler, uint64_t{0});
  uint64_t mask = (context->mask | app->mask) & ~(uint64_t{1} << (kSigtrap - 1));
  agent::ask_kernel(agent::kSysRtSigprocmask, kSetMask, agent::word(&mask), 0, kMaskBytes);
  agent::TrueContext before = {};
  if (from_kernel) agent::show_original(info, context, &before);
  reinterpret_cast<void (*)(int, void*, void*)>(handler)(signal, info, context);
  agent::show_no_longer(context, before);
}

}  // namespace

void dj_trap_handler(int signal, void* siginfo, void* ucontext) {
  auto* context = static_cast<UserContext*>(ucontext);
  const abi::TrapTable* table = arena()->trap_table.get_or_null(agent::place());
  auto* info = static_cast<SignalInfo*>(siginfo);
  bool from_kernel = info->code > 0;
  abi::TrapEntry* entry = from_kernel && table != nullptr
                              ? find_entry(table, context->registers[agent::kRip] - 1)
                              : nullptr;
  if (entry != nullptr) {
    abi::add(&agent::words().trap_hits, 1);
    uint32_t* hits =
        abi::trap_hits(table->words.get(agent::place()), abi::trap_index(table, entry));
    if (abi::load(hits) < abi::kMostTrapHits) abi::add(hits, uint32_t{1});
    context->registers[agent::kRip] = abi::trap_detour(*entry);
    // In the half of gs, which the kernel does not read: this frame is about to be used, and what
    // is left of it on the stack must not look like one that waits (clean/ways_back.cpp).
    context->registers[agent::kSegments] |= kUsedMark;
    return;
  }
  abi::add(&agent::words().trap_strays, 1);
  if (table != nullptr && agent::trap_action() != nullptr)
    run_application_action(signal, info, context);
}
