// SPDX-License-Identifier: Apache-2.0
// find_hooks() finds the system call instructions of the target that must call the agent (hooks).
// can_trust_rseq() tells whether djtap can hook those on which handlers depend.
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

// HookRegions: regions of system call instructions, by module. The checks have given them no
// verdicts yet.
struct HookRegions {
  std::vector<std::pair<size_t, arch::Checker::Syscall>> regions;  // (index of the module, region)
};
// Finds the hooks of `set` in the target's modules from number `first` on. A module that cannot be
// read has none.
HookRegions find_hooks(HookSet set, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                       size_t first = 0);
// Whether the set is useless without a hook of system call `number`. The other hooks only narrow a
// gap.
bool is_essential(HookSet set, int64_t number);

// Gives every region in writable text the verdict WritableText: no probe and no hook may stand
// there.
void refuse_writable(const MappedModule& module, std::vector<arch::Region>& regions);

// Whether handlers of this target may rely on rseq; call it before lowering. `registered`: the
// kernel knows an rseq area of the main thread. *why: the reason, where the answer is false.
bool can_trust_rseq(bool registered, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                    std::string* why);

// The function by which the C library tells unwinders whose code is where (_dl_find_object): index
// of its module, and ELF address. Empty: the library has none (musl, static programs, glibc before
// 2.35).
std::optional<std::pair<size_t, uint64_t>> find_object_finder(
    const std::vector<MappedModule>& modules);

// Path of the first module, from `first` on, with an instruction that sets the gs base: djtap would
// not notice it (arch/x86_64/gs_base.h). Empty: none has one.
std::string gs_base_setter(const std::vector<MappedModule>& modules, size_t first,
                           ModuleCodes& codes);

// Whether exactly one instruction lies between these ELF addresses, and loads a word into rax: so
// _dl_find_object() begins.
bool is_load(const ModuleCode& code, uint64_t address, uint64_t end);

}  // namespace dj
