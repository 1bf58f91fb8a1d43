// Installation: all probe sites of one session in one process. Three steps, so that the target is stopped only
// where it must be: prepare() looks at files, place() writes islands, arm() and disarm() patch text.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "arch/x86_64/detour.h"
#include "compiler/image.h"
#include "compiler/layout.h"
#include "compiler/plan.h"
#include "compiler/result.h"
#include "runtime/control/module_code.h"
#include "runtime/control/patch.h"
#include "runtime/control/process.h"
#include "runtime/control/session_memory.h"
#include "runtime/control/stopped.h"

namespace dj {

// Links handlers and agent for `base` into `working` (compiler/image.h, link()).
using LinkCode = std::function<Result<Linked>(uint64_t base, std::span<uint8_t> working)>;

struct InstallOptions {
  bool optimize = true;   // false: every site stays an int3 (--no-optimize)
  bool use_rseq = true;   // handlers trust the rseq area: hook vfork and clone (can_trust_rseq() said yes)
};

// InstalledSite: one patched (or refused) place, as --probes prints it.
struct InstalledSite {
  SiteId site = 0;
  uint64_t address = 0;    // runtime address of the patched instruction
  char letter = 'e';       // site_letter()
  std::string symbol;      // "symbol+0x12"
  std::string module;      // path
  SiteState state = SiteState::Skipped;
  std::string reason;      // of Int3 and Skipped
};
// "00007f12 e symbol+0x0 /lib/libc.so.6 [OPTIMIZED]"
std::string to_string(const InstalledSite& site);

struct InstallTimes {
  uint64_t prepare_ns = 0, link_ns = 0, detours_ns = 0, patch_ns = 0, pause_ns = 0;
};

class Installation {
 public:
  // Which bytes would be patched where. Reads files only. `layout` gives the room of the trap table.
  static Result<Installation> prepare(const Plan& plan, const Layout& layout, const std::vector<HandlerAbi>& abis,
                                      const std::vector<MappedModule>& modules, ModuleCodes& codes,
                                      const InstallOptions& options);
  Installation(Installation&&) noexcept = default;

  // Image ranges of the modules that need an island, and bytes of detours that each island must take at most.
  std::vector<AddressRange> island_modules() const;
  uint64_t detour_bytes() const;

  // Links the code (code_bytes: link_bytes(image)) and writes all detours. Sites out of reach become Skipped.
  Status place(SessionMemory& memory, uint64_t code_bytes, const LinkCode& link);
  // Patches the text. Afterwards handlers run as soon as `stopped` is released.
  Status arm(Stopped& stopped);
  // Puts all original bytes back and verifies them. Idempotent.
  Status disarm(Stopped& stopped);

  // One entry per place, by SiteId, then address. After arm() the states are final.
  std::vector<InstalledSite> sites() const;
  const InstallTimes& times() const { return times_; }
  size_t armed_count() const;

 private:
  Installation() = default;
  std::vector<PatchSite> sites_;    // probe sites
  std::vector<PatchSite> hooks_;    // system call hooks, before any int3 in patching order
  std::vector<MappedModule> modules_;
  std::vector<uint64_t> restorers_; // addresses of rt_sigreturn trampolines
  Layout layout_;
  std::vector<HandlerAbi> abis_;
  std::vector<std::string> symbols_;  // by SiteId, for sites()
  std::vector<uint64_t> entries_;     // by SiteId: function_begin
  TrapAgent trap_;                    // addresses in the first island, and what was replaced
  InstallTimes times_;
};

}  // namespace dj
