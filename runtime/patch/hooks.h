// SPDX-License-Identifier: Apache-2.0
// Which system call instructions of the target must go through the agent, and whether all of them
// can.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "compiler/base/result.h"
#include "runtime/patch/module_code.h"
#include "runtime/process/mapped_module.h"

namespace dj {

enum class HookSet : uint8_t {
  Rseq,  // fork, vfork, clone, clone3: a thread that is not registered with rseq must be seen as
         // such, and a new one counts in a row of its own (runtime/shared/thread_rows.h);
         // arch_prctl, which may want the gs base that leads there; rt_sigaction, since handlers of
         // faults are called through gates (runtime/shared/fault_gates.h); prctl and seccomp, by
         // which a program denies itself what handlers would ask of the kernel (denied.h); execve,
         // by which forked children leave the session (runtime/shared/executed.h)
  Trap,  // also rt_sigprocmask and all that set masks while they wait: SIGTRAP must
         // stay deliverable; ptrace and execve, since a traced thread stops at each int3
         // (runtime/agent/tracees.h)
};

// Regions of system call instructions, by module. Their verdicts are not yet checked.
struct HookRegions {
  std::vector<std::pair<size_t, arch::Checker::Syscall>> regions;  // (index of the module, region)
};
// modules: of the target; those before number `first` are left out. What cannot be read has none.
HookRegions find_hooks(HookSet set, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                       size_t first = 0);
// Must this one be hooked, or the set is useless? (Others only narrow a gap.)
bool is_essential(HookSet set, int64_t number);

// Is this one hooked only for the sake of processes that ask to be traced (agent/tracees.h) or that
// leave (agent/executes.h)?
bool is_for_tracees(int64_t number);
// Does this hook give way to a probe of its place, or inside its bytes?
bool yields_to_probes(HookSet set, int64_t number);
// Whether those hooks can be. A hook cannot run handlers of its function's entry and handlers of
// the system call itself: where a script has both, probes go first. `sites`: of `plan`, by module.
bool can_hook_tracing(const HookRegions& hooks, const Plan& plan,
                      const std::vector<std::vector<SiteId>>& sites);

// Writable text has no place for a probe, nor for a hook.
void refuse_writable(const MappedModule& module, std::vector<arch::Region>& regions);

// Asked before lowering: may handlers of this target rely on rseq? `registered`: the kernel knows
// an area of the main thread. *why: why not.
bool can_trust_rseq(bool registered, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                    std::string* why);

// Where the C library tells unwinders whose code is where (_dl_find_object): index of the module,
// and ELF address. Empty: it does not (musl, static programs, glibc before 2.35).
std::optional<std::pair<size_t, uint64_t>> find_object_finder(
    const std::vector<MappedModule>& modules);

// Path of the first module from `first` on with an instruction that sets the gs base, which nobody
// would see (arch/x86_64/gs_base.h); empty: none has.
std::string gs_base_setter(const std::vector<MappedModule>& modules, size_t first,
                           ModuleCodes& codes);

// Does one instruction lie between these ELF addresses that loads a word into rax, as that function
// of the C library begins?
bool is_load(const ModuleCode& code, uint64_t address, uint64_t end);

}  // namespace dj
