// Which system call instructions of the target must go through the agent, and whether they can.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/result.h"
#include "runtime/control/module_code.h"
#include "runtime/control/patch.h"
#include "runtime/control/process.h"

namespace dj {

// Hooks: patches for `syscall` instructions, and why the set is not complete (empty: it is).
struct Hooks {
  std::vector<PatchSite> sites;
  std::string incomplete;
};

// vfork, clone, clone3: a thread that is not registered with rseq must be seen as such (entries.h, dj_syscall_hook).
Result<Hooks> rseq_hooks(const std::vector<MappedModule>& modules, ModuleCodes& codes);
// rt_sigaction, rt_sigprocmask and all that set masks while they wait: SIGTRAP must stay deliverable.
Result<Hooks> trap_hooks(const std::vector<MappedModule>& modules, ModuleCodes& codes);

// Asked before lowering: may handlers of this target rely on rseq? `registered`: the kernel knows an area of the
// (main) thread. Says why not in *why.
bool can_trust_rseq(bool registered, const std::vector<MappedModule>& modules, ModuleCodes& codes, std::string* why);

}  // namespace dj
