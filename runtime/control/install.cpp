// Arming and disarming. All threads are stopped while text changes, and the order is such that
// djtap may be killed between any two steps: detours are complete before threads are moved into
// them, threads are moved before bytes change, hooks stand before the SIGTRAP action, and that
// before the first int3. Removal is the same way back.
#include "runtime/control/install.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/control/os_error.h"
#include "runtime/control/text_patch.h"
#include "runtime/control/thread_moves.h"
#include "runtime/shared/abi.h"

namespace dj {

std::string to_string(const InstalledSite& site) {
  std::string state = site_state_name(site.state);
  if (!site.reason.empty()) {
    state += ": " + site.reason;
  }
  return fmt::format("{:016x} {} {} {} [{}]", site.address, site.letter, site.symbol, site.module,
                     state);
}

Result<Installation> Installation::prepare(const Plan& plan, const Layout& layout,
                                           const std::vector<HandlerAbi>& abis,
                                           const std::vector<MappedModule>& modules,
                                           ModuleCodes& codes, const InstallOptions& options) {
  uint64_t begin = now_ns();
  Installation made;
  made.modules_ = modules;
  made.abis_ = abis;
  made.trap_table_ = layout.trap_table;
  made.trap_bytes_ = layout.trap_bytes;
  made.cpus_ = layout.cpus;
  for (const Site& site : plan.sites) {
    made.symbols_.push_back(site.symbol.empty() ? site.function : site.symbol);
    made.function_begins_.push_back(site.function_begin != 0 ? site.function_begin : site.address);
    made.kinds_.push_back(site.kind);
  }
  made.patches_ = plan_patches(plan, modules, codes, options);
  made.restorers_ = find_restorers(modules, codes);
  made.times_.prepare_ns = now_ns() - begin;
  return made;
}

std::vector<AddressRange> Installation::island_modules() const {
  std::vector<bool> used(modules_.size());
  for (const std::vector<PatchSite>* sites : {&patches_.sites, &patches_.hooks}) {
    for (const PatchSite& site : *sites) {
      if (site.state == SiteState::Registered) {
        used[site.module] = true;
      }
    }
  }
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < used.size(); i++) {
    if (used[i]) {
      ranges.push_back({modules_[i].begin, modules_[i].end});
    }
  }
  return ranges;
}

uint64_t Installation::detour_bytes() const {
  uint64_t bytes = 4096;
  for (const PatchSite& site : patches_.hooks) {
    bytes += detour_room(site, abis_);
  }
  for (const PatchSite& site : patches_.sites) {
    bytes += site.state == SiteState::Registered ? detour_room(site, abis_) : 0;
  }
  return bytes;
}

Status Installation::place(SessionMemory& memory, uint64_t code_bytes, const LinkCode& link) {
  uint64_t begin = now_ns();
  DJ_TRY(CodeIslands islands, CodeIslands::link_all(memory, code_bytes, link));
  times_.link_ns = now_ns() - begin;
  begin = now_ns();
  for (PatchSite& hook : patches_.hooks) {
    islands.build(hook, abis_);
    if (hook.state == SiteState::Skipped) {
      return Error{"cannot hook a system call of " + modules_[hook.module].path + ": " +
                   hook.reason};
    }
  }
  for (PatchSite& site : patches_.sites) {
    islands.build(site, abis_);
  }
  abi::Header& header = *reinterpret_cast<abi::Header*>(memory.arena().data());
  write_biases(header);
  if (patches_.needs_trap()) {
    uint64_t handler = islands.symbol("dj_trap_handler"), restorer = islands.symbol("dj_restorer");
    CHECK(handler != 0 && restorer != 0);
    DJ_TRY_DO(fill_trap_table(trap_table_, trap_bytes_, cpus_, patches_.sites));
    header.trap_table = trap_table_;
    trap_ = TrapSetup(trap_table_, handler, restorer);
  }
  times_.detours_ns = now_ns() - begin;
  return ok_status();
}

// A file that is mapped twice has two biases and one SiteInfo: static variables are then those of
// the first.
void Installation::write_biases(const abi::Header& header) const {
  if (header.sites == 0) {
    return;
  }
  abi::SiteInfo* info = reinterpret_cast<abi::SiteInfo*>(header.sites);
  for (auto site = patches_.sites.rbegin(); site != patches_.sites.rend(); ++site) {
    for (SiteId id : site->owners) {
      info[id].bias = modules_[site->module].bias;
    }
  }
}

// Only what stands in memory as in the file may be replaced by code made from the file.
void Installation::check_text(const Stopped& stopped) {
  TextReader text(stopped);
  for (std::vector<PatchSite>* sites : {&patches_.hooks, &patches_.sites}) {
    for (PatchSite& site : *sites) {
      bool readable = true;
      if (site.state == SiteState::Registered &&
          !text.equals(site.address, site.original, &readable)) {
        if (readable) {
          site.skip("text differs from the file");
        } else {
          set_state(site, SiteState::Gone, "its module is not mapped");
        }
      }
    }
  }
}

Status Installation::write(const Stopped& stopped, std::vector<PatchSite>& sites, bool jumps) {
  std::vector<TextPatch> patches;
  for (PatchSite& site : sites) {
    if (site.state == SiteState::Registered && site.jump == jumps) {
      patches.push_back({site.address, site.patched()});
      set_state(site, jumps ? SiteState::Optimizing : SiteState::Int3, site.reason);
    }
  }
  Status written = write_patches(stopped, std::move(patches));
  for (PatchSite& site : sites) {
    if (site.state == SiteState::Optimizing) {
      set_state(site, SiteState::Optimized, "all threads stand outside");
    }
  }
  return written;
}

Status Installation::arm(Stopped& stopped) {
  uint64_t begin = now_ns();
  check_text(stopped);
  Detouring detouring;
  for (const PatchSite& hook : patches_.hooks) {
    if (hook.state != SiteState::Registered) {
      return Error{"process " + std::to_string(stopped.pid()) + " has been patched already (" +
                   modules_[hook.module].path +
                   " differs from its file): by another tool, or by a djtap that runs or "
                   "was killed"};
    }
    detouring.add(hook);
  }
  for (const PatchSite& site : patches_.sites) {
    if (site.state == SiteState::Registered) {
      detouring.add(site);
    }
  }
  bool trap = patches_.needs_trap();
  DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, trap));
  static_cast<void>(moved);
  times_.move_ns = now_ns() - begin;
  begin = now_ns();
  Status written = write(stopped, patches_.hooks, true);
  if (written.ok() && trap) {
    written = trap_.install(stopped);
  }
  if (written.ok()) {
    written = write(stopped, patches_.sites, true);
  }
  if (written.ok() && trap) {
    written = write(stopped, patches_.sites, false);
  }
  times_.patch_ns = now_ns() - begin;
  if (!written.ok()) {
    Status undone = disarm(stopped);
    return undone.ok() ? written : undone;
  }
  return ok_status();
}

Status Installation::restore(const Stopped& stopped, std::vector<PatchSite>& sites,
                             std::string& damage) {
  TextReader text(stopped);
  std::vector<TextPatch> patches;
  for (PatchSite& site : sites) {
    if (!site.armed()) {
      continue;
    }
    bool readable = true;
    std::vector<uint8_t> ours = site.patched();
    std::vector<uint8_t> original(site.original.begin(),
                                  site.original.begin() + static_cast<long>(ours.size()));
    if (text.equals(site.address, ours, &readable)) {
      set_state(site, SiteState::Disarmed);
      patches.push_back({site.address, std::move(original)});
    } else if (!readable) {
      set_state(site, SiteState::Gone, "its module is not mapped");
    } else if (text.equals(site.address, original, &readable)) {
      set_state(site, SiteState::Disarmed, "the text is the original already");
    } else {
      set_state(site, SiteState::Gone, "other bytes stand there");
      damage = fmt::format("the text at {:#x} was changed by somebody else and is left as it is",
                           site.address);
    }
  }
  DJ_TRY_DO(write_patches(stopped, patches));
  TextReader after(stopped);
  for (const TextPatch& patch : patches) {
    bool readable = true;
    if (!after.equals(patch.address, patch.bytes, &readable)) {
      return Error{fmt::format("the original text at {:#x} could not be put back", patch.address)};
    }
  }
  return ok_status();
}

Status Installation::disarm(Stopped& stopped) {
  // Who has hit an int3 but not yet got its SIGTRAP goes on in the detour, as if it had.
  std::map<uint64_t, uint64_t> int3;
  for (const PatchSite& site : patches_.sites) {
    if (site.armed() && !site.jump) {
      int3[site.address] = site.detour;
    }
  }
  if (!int3.empty()) {
    DJ_TRY_DO(stopped.take_back_traps([&](uint64_t address) {
      auto found = int3.find(address);
      return found == int3.end() ? 0 : found->second;
    }));
  }
  std::string damage;
  DJ_TRY_DO(restore(stopped, patches_.sites, damage));
  if (trap_.installed()) {
    DJ_TRY_DO(trap_.remove(stopped));
  }
  DJ_TRY_DO(restore(stopped, patches_.hooks, damage));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

std::vector<InstalledSite> Installation::sites() const {
  std::vector<InstalledSite> out;
  for (const PatchSite& place : patches_.sites) {
    for (SiteId id : place.owners) {
      InstalledSite site;
      site.site = id;
      site.address = place.pivot();
      site.letter = site_letter(kinds_[id]);
      uint64_t offset = site.address - modules_[place.module].bias - function_begins_[id];
      site.symbol = fmt::format("{}+{:#x}", symbols_[id], offset);
      site.module = modules_[place.module].path;
      site.state = place.state;
      site.reason = place.reason;
      site.jump = place.jump;
      out.push_back(std::move(site));
    }
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) {
    return std::tie(a.site, a.address) < std::tie(b.site, b.address);
  });
  return out;
}

size_t Installation::armed_count() const {
  return static_cast<size_t>(std::count_if(patches_.sites.begin(), patches_.sites.end(),
                                           [](auto& site) { return site.armed(); }));
}

}  // namespace dj
