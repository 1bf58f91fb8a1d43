// SPDX-License-Identifier: Apache-2.0
// Trial holds what main() would own for one installation, with handlers written by hand instead of
// LLVM's: each counts its hits in the arena. (Tests only.)
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "compiler/debuginfo/text.h"
#include "runtime/install/install.h"
#include "runtime/patch/hooks.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/exit_watch.h"
#include "runtime/process/launch.h"
#include "runtime/process/victim.h"
#include "runtime/shared/trap.h"

namespace dj {
constexpr uint64_t kArenaBytes = 1 << 20;
constexpr uint64_t kCountersAt = 2048;  // behind the header
constexpr uint64_t kTrapOffset = 4096, kTrapBytes = 128 << 10, kTrapDataOffset = 512 << 10;
constexpr uint64_t kCodeBytes = 8192;

// Code: little programs for the code area. The arena lies below 2 GB, so its words have 32-bit
// addresses.
struct Code {
  std::vector<uint8_t> bytes;
  void put(std::initializer_list<uint8_t> more) { bytes.insert(bytes.end(), more); }
  void put32(uint64_t value) {
    for (int i = 0; i < 4; i++) {
      bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
  }
};

// Links by hand. dj_handler_0, dj_handler_1: lock incq counter; ret. The agent's entries: a hook
// that does nothing, and a SIGTRAP action that takes the detour's address from a word of the arena
// (one int3 site).
inline Result<Linked> link_by_hand(uint64_t arena, uint64_t base, std::span<uint8_t> working) {
  Code code;
  Linked linked;
  auto symbol = [&](const std::string& name) { linked.symbols[name] = base + code.bytes.size(); };
  for (uint64_t number : {0, 1}) {
    symbol("dj_handler_" + std::to_string(number));
    code.put({0xf0, 0x48, 0xff, 0x04, 0x25});  // lock incq counter
    code.put32(arena + kCountersAt + 8 * number);
    code.put({0xc3});  // ret
  }
  symbol("dj_syscall_hook");
  code.put({0xf0, 0x48, 0xff, 0x04, 0x25});  // lock incq: hooked system calls
  code.put32(arena + kCountersAt + 64);
  code.put({0xf8, 0xc3});  // clc; ret
  symbol("dj_child_hook");
  code.put({0xc3});
  symbol("dj_find_object");
  code.put({0xc3});
  symbol("dj_trap_handler");
  code.put({0x48, 0x8b, 0x04, 0x25});  // mov word,%rax
  code.put32(arena + kCountersAt + 128);
  code.put({0x48, 0x89, 0x82, 168, 0, 0, 0});  // mov %rax,168(%rdx): rip of the ucontext
  code.put({0xc3});
  symbol("dj_restorer");
  code.put({0xb8, 15, 0, 0, 0, 0x0f, 0x05});  // mov $rt_sigreturn,%eax; syscall
  symbol("dj_switched_off");
  code.put({0xc3});
  std::copy(code.bytes.begin(), code.bytes.end(), working.begin());
  linked.bytes_used = code.bytes.size();
  return linked;
}

// Trial: everything that main() would own.
struct Trial {
  Plan plan;
  Layout layout;
  std::vector<HandlerAbi> abis;
  // Several Trials may share it.
  std::shared_ptr<ModuleCodes> codes =
      std::make_shared<ModuleCodes>([](const std::string& path) { return read_text(path); });
  std::vector<MappedModule> modules;
  std::optional<SessionMemory> memory;
  std::optional<Installation> installation;

  void add_handler(Handler::Form form, std::vector<TargetPlan> targets = {}) {
    Handler handler;
    handler.form = form;
    handler.targets = std::move(targets);
    plan.handlers.push_back(handler);
    abis.emplace_back();
  }
  // Probes `name` of the module whose path contains `part`.
  void add_site(const std::string& part, const std::string& name, SiteKind kind, HandlerId handler,
                uint64_t skip = 0) {
    for (const MappedModule& module : modules) {
      if (module.path.find(part) == std::string::npos) {
        continue;
      }
      Result<ElfSymbol> symbol = find_symbol(module.open_path, name);
      ASSERT_TRUE(symbol.ok()) << symbol.error().message;
      ModuleId id = 0;
      while (id < plan.modules.size() && plan.modules[id].path != module.path) {
        id++;
      }
      if (id == plan.modules.size()) {
        plan.modules.push_back({module.path, ""});
      }
      Site site;
      site.module = id;
      site.kind = kind;
      site.address = symbol.value().address + skip;
      site.function_begin = symbol.value().address;
      site.function_end = symbol.value().address + symbol.value().size;
      site.function = site.symbol = name;
      site.handlers = {handler};
      plan.sites.push_back(site);
      return;
    }
    FAIL() << "no module " << part;
  }
  // Plans what would be patched.
  DetourPlan plan_all(PatchOptions options, bool has_rseq) {
    TargetFacts facts;
    facts.has_rseq = has_rseq;
    facts.is_running = true;
    PatchPlan patches = find_patches(
        {.plan = plan, .modules = modules, .options = options, .facts = facts}, *codes);
    return plan_detours(std::move(patches),
                        {.plan = plan, .abis = abis, .modules = modules, .code_bytes = kCodeBytes},
                        codes->file_cache());
  }
  void install(Stopped& stopped, PatchOptions options = {}) {
    std::string why;
    options.guards = arch::Guards::None;  // the SIGTRAP action written by hand knows one int3 only
    const bool has_rseq = can_trust_rseq(true, modules, *codes, &why);
    Result<uint64_t> base =
        choose_arena_base(read_maps(stopped.pid()).value(), read_maps(0).value(),
                          heap_begin(stopped.pid()), kArenaBytes + abi::private_bytes(0));
    ASSERT_TRUE(base.ok()) << base.error().message;
    layout.base = base.value();
    layout.bytes = kArenaBytes;
    layout.traps.table = base.value() + kTrapOffset;
    layout.traps.table_bytes = kTrapBytes;
    layout.traps.data = base.value() + kTrapDataOffset;
    DetourPlan detours = plan_all(options, has_rseq);
    const Traps traps({.arena = layout.base,
                       .table = layout.traps.table,
                       .bytes = kTrapBytes,
                       .data = layout.traps.data},
                      false, false);
    installation.emplace(Installation::prepare(detours, modules, traps, 0, *codes));
    Result<SessionMemory> created =
        SessionMemory::create(stopped, arena_place(layout),
                              {detours.area_modules(), detours.area_bytes(),
                               installation->journal_bytes(detours), detours.stub_chooser()});
    ASSERT_TRUE(created.ok()) << created.error().message;
    memory.emplace(created.take());
    const auto link = [&](uint64_t at, std::span<uint8_t> working, uint64_t) {
      return link_by_hand(layout.base, at, working);
    };
    Result<Detours> built = build_detours(std::move(detours), memory->take_code(), link,
                                          &reinterpret_cast<abi::Header*>(layout.base)->own_code);
    ASSERT_TRUE(built.ok()) << built.error().message;
    installation->place(built.take(), *memory);
    const abi::TrapTable& table = *reinterpret_cast<abi::TrapTable*>(layout.traps.table);
    for (uint64_t i = 0; i < abi::trap_table_entries(table); i++) {
      if (abi::trap_entry(&table, i)->address != 0) {
        reinterpret_cast<uint64_t*>(layout.base + kCountersAt)[16] =
            abi::trap_detour(*abi::trap_entry(&table, i));
      }
    }
    Status armed = installation->arm(stopped);
    ASSERT_TRUE(armed.ok()) << armed.error().message;
  }
  uint64_t count(size_t index = 0) const {
    return reinterpret_cast<std::atomic<uint64_t>*>(layout.base + kCountersAt)[index];
  }
  std::string sites() const {
    std::string text;
    for (const InstalledSite& site : installation->sites()) {
      text += to_string(site) + "\n";
    }
    return text;
  }
};

}  // namespace dj
