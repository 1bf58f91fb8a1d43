// SPDX-License-Identifier: Apache-2.0
// Finds system calls by number: cheaply by bytes first, then exactly by the checker.
#include "runtime/patch/hooks.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "runtime/process/elf_file.h"

namespace dj {
namespace {

const std::vector<int64_t>& numbers(HookSet set) {
  static const std::vector<int64_t> kRseq = {
      SYS_clone,        SYS_clone3, SYS_vfork,   SYS_fork,   SYS_arch_prctl,
      SYS_rt_sigaction, SYS_prctl,  SYS_seccomp, SYS_execve, SYS_execveat};
  static const std::vector<int64_t> kTrap = {
      SYS_clone,          SYS_clone3,        SYS_vfork,      SYS_fork,     SYS_rt_sigaction,
      SYS_rt_sigprocmask, SYS_rt_sigsuspend, SYS_ppoll,      SYS_pselect6, SYS_epoll_pwait,
      SYS_epoll_pwait2,   SYS_sigaltstack,   SYS_arch_prctl, SYS_prctl,    SYS_seccomp,
      SYS_ptrace,         SYS_execve,        SYS_execveat};
  return set == HookSet::Rseq ? kRseq : kTrap;
}

bool wanted(HookSet set, int64_t number) {
  const std::vector<int64_t>& all = numbers(set);
  return std::find(all.begin(), all.end(), number) != all.end();
}

// Is there a `syscall` with `mov $number,%eax` (b8 imm32) of a wanted number shortly before it? A
// module without one need not be analysed.
bool has_call(HookSet set, const MappedModule& module, ModuleCodes& codes) {
  constexpr uint64_t kBefore = 64;
  const std::vector<RawText>& text = codes.raw(module);
  for (size_t i = 0; i < text.size(); i++) {
    const uint8_t* begin = text[i].bytes.data();
    for (uint64_t address : codes.syscall_bytes(module)[i]) {
      const uint64_t at = address - text[i].address;
      for (uint64_t mov = at > kBefore ? at - kBefore : 0; mov + 5 <= at; mov++) {
        uint32_t value;
        memcpy(&value, begin + mov + 1, sizeof value);
        if (begin[mov] == 0xb8 && wanted(set, value)) {
          return true;
        }
      }
    }
  }
  return false;
}

// The same, of a file that may have been searched before.
bool may_call(HookSet set, const MappedModule& module, ModuleCodes& codes) {
  const FileQuestion question =
      set == HookSet::Rseq ? FileQuestion::MakesCallsOfRseqSet : FileQuestion::MakesCallsOfTrapSet;
  return codes.answer(module, question, [&] { return has_call(set, module, codes); });
}

// The ELF addresses at which a system call of unknown number may be one of HookSet::Rseq. A shared
// C library makes such calls in syscall() alone: its read() and others may share an instruction,
// too, but that makes none of the set. Another object may make them everywhere: Go makes all its
// system calls by one instruction.
AddressRange generic_syscalls(const MappedModule& module) {
  const Result<ElfSymbol> symbol = find_symbol(module.open_path, "syscall");
  if (module.is_executable_file || !symbol.ok()) return {0, UINT64_MAX};
  return {symbol.value().address, symbol.value().address + symbol.value().size};
}

}  // namespace

HookRegions find_hooks(HookSet set, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                       size_t first) {
  HookRegions found;
  for (size_t i = first; i < modules.size(); i++) {
    if (modules[i].is_vdso || modules[i].shared || modules[i].awaits_relocation ||
        !may_call(set, modules[i], codes)) {
      continue;
    }
    Result<ModuleCode*> code = codes.get(modules[i]);
    if (!code.ok()) {
      continue;
    }
    const AddressRange generic = generic_syscalls(modules[i]);
    for (const arch::Checker::Syscall& call : code.value()->checker->syscalls()) {
      const bool unknown =
          call.number == -1 && (set == HookSet::Trap || generic.contains(call.syscall_address));
      const bool there = has_code(modules[i], call.syscall_address + modules[i].bias);
      if (there && (wanted(set, call.number) || unknown)) {
        found.regions.emplace_back(i, call);
      }
    }
  }
  return found;
}

void refuse_writable(const MappedModule& module, std::vector<arch::Region>& regions) {
  for (arch::Region& region : regions) {
    if (is_writable(module, region.address + module.bias))
      region.verdict = arch::Verdict::WritableText;
  }
}

bool is_essential(HookSet set, int64_t number) {
  bool threads =
      number == SYS_clone || number == SYS_clone3 || number == SYS_vfork || number == SYS_fork;
  // A number that is not known may be theirs.
  bool signals = number == SYS_rt_sigaction || number == SYS_rt_sigprocmask || number == -1;
  return set == HookSet::Rseq ? threads : signals;
}

bool can_trust_rseq(bool registered, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                    std::string* why) {
  if (!registered) {
    *why = "the target has registered no rseq area";
    return false;
  }
  HookRegions hooks = find_hooks(HookSet::Rseq, modules, codes);
  for (size_t i = 0; i < modules.size(); i++) {
    std::vector<arch::Region> regions;
    for (const auto& [module, call] : hooks.regions) {
      if (module == i && is_essential(HookSet::Rseq, call.number)) {
        regions.push_back(call.region);
      }
    }
    if (regions.empty()) {
      continue;
    }
    codes.get(modules[i]).value()->checker->check(regions);
    refuse_writable(modules[i], regions);
    for (const arch::Region& region : regions) {
      if (region.verdict != arch::Verdict::Ok) {
        *why = "a thread-starting system call in " + modules[i].path + " cannot be hooked (" +
               arch::verdict_name(region.verdict) + ")";
        return false;
      }
    }
  }
  return true;
}

std::optional<std::pair<size_t, uint64_t>> find_object_finder(
    const std::vector<MappedModule>& modules) {
  for (size_t i = 0; i < modules.size(); i++) {
    const std::string name = modules[i].path.substr(modules[i].path.rfind('/') + 1);
    if (!name.starts_with("libc.so") || modules[i].partial) continue;
    const Result<ElfSymbol> symbol = find_symbol(modules[i].open_path, "_dl_find_object");
    if (symbol.ok()) return std::pair(i, symbol.value().address);
  }
  return std::nullopt;
}

std::string gs_base_setter(const std::vector<MappedModule>& modules, size_t first,
                           ModuleCodes& codes) {
  for (size_t i = first; i < modules.size(); i++) {
    if (!modules[i].is_vdso && codes.may_set_gs_base(modules[i])) return modules[i].path;
  }
  return "";
}

bool is_load(const ModuleCode& code, uint64_t address, uint64_t end) {
  static constexpr uint8_t kLoad[] = {0x48, 0x8b, 0x05};  // mov word(%rip),%rax
  const std::span<const uint8_t> bytes = code.at(address, sizeof kLoad);
  return end - address == sizeof kLoad + 4 && std::equal(bytes.begin(), bytes.end(), kLoad);
}

}  // namespace dj
