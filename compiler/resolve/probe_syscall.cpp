// SPDX-License-Identifier: Apache-2.0
// Probe kinds process.syscall and .return: the instructions with which the target's objects enter
// the kernel. What enters it elsewhere is not seen: generated code, and what the vdso answers
// alone.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/eh_frame.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

// An object by its own name; a process is all of its objects.
std::vector<size_t> meant_objects(PointQuery& query) {
  std::vector<size_t> objects = searched_objects(query, {}, query.point.span);
  const bool whole = !query.component("library") && !objects.empty() && objects.front() == 0 &&
                     query.modules.has_target();
  for (size_t module = 1; whole && module < query.modules.size(); module++) {
    objects.push_back(module);
  }
  return objects;
}

// rt_sigreturn, as unwinders know it by its bytes: it does not return, and is left as it is.
bool is_signal_return(const Module& file, uint64_t address) {
  constexpr uint8_t kMove[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0};
  const Bytes before = file.elf().at(address - sizeof kMove);
  return before.size() >= sizeof kMove &&
         std::equal(std::begin(kMove), std::end(kMove), before.begin());
}

// What makes nothing but exit and exit_group.
bool never_returns(const CodeFunction& holder) {
  return holder.symbol == "_exit" || holder.symbol == "_Exit";
}

bool begins_instruction(const Module& file, uint64_t begin, uint64_t end, uint64_t address) {
  const Bytes code = file.elf().at(begin);
  const size_t size = std::min<size_t>(code.size(), end - begin);
  return arch::instruction_around(code.first(size), begin, address).begin == address;
}

// The function is a symbol's, else one that .eh_frame alone knows. Where neither knows any, there
// is nothing to decode; then the controller's checker judges the bytes.
bool is_instruction(const Module& file, const std::optional<CodeFunction>& holder,
                    uint64_t address) {
  if (holder) return begins_instruction(file, holder->begin, holder->end, address);
  for (const FrameEntry& frame : read_frames(file.elf())) {
    if (frame.begin <= address && address < frame.end)
      return begins_instruction(file, frame.begin, frame.end, address);
  }
  return true;
}

// Each is found by decoding the function around it; scripts such as `probe syscall.*` ask again.
const std::vector<uint64_t>& syscalls_of(ModuleSet& modules, size_t module, Module& file) {
  std::optional<std::vector<uint64_t>>& known = modules.syscalls(module);
  if (known) return *known;
  known.emplace();
  for (const Section& section : file.elf().sections()) {
    if (!section.executable()) continue;
    for (const uint64_t address : arch::syscall_bytes(section.bytes, section.header.sh_addr)) {
      if (is_instruction(file, file.function_at(address), address) &&
          !is_signal_return(file, address)) {
        known->push_back(address);
      }
    }
  }
  return *known;
}

void add_sites(ModuleSet& modules, size_t module, Module& file, bool done,
               std::vector<Site>& sites) {
  for (const uint64_t address : syscalls_of(modules, module, file)) {
    const std::optional<CodeFunction> holder = file.function_at(address);
    if (done && holder && never_returns(*holder)) continue;
    Site site;
    if (holder) site = function_site(module, file, *holder, SiteKind::Statement);
    site.module = ModuleId(module);
    site.kind = SiteKind::Statement;
    site.address = done ? address + arch::kSyscallLength : address;
    site.syscall = SyscallOf{address, done};
    site.listed = fmt::format("syscall{} at {:#x}", done ? ".return" : "", address);
    if (!holder) site.symbol = site.function = "syscall";
    sites.push_back(std::move(site));
  }
}

void find_places(PointQuery& query, bool done, PointMeaning& meaning) {
  const size_t errors = query.diags.error_count();
  for (const size_t module : meant_objects(query)) {
    if (Module* file = query.modules.open(module)) {
      add_sites(query.modules, module, *file, done, meaning.sites);
    }
  }
  if (meaning.sites.empty() && !query.optional && query.diags.error_count() == errors) {
    query.diags
        .error("DJ3018", query.component("syscall")->name_span,
               "no system call instruction is in the objects that are meant")
        .help = "they are in the C library: probe process.syscall, without a name";
  }
}

void find_syscall(PointQuery& query, PointMeaning& meaning) { find_places(query, false, meaning); }
void find_exit(PointQuery& query, PointMeaning& meaning) { find_places(query, true, meaning); }

constexpr ProbeKind kSyscallKinds[] = {
    {"<process>.syscall", find_syscall},
    {"<process>.syscall.return", find_exit},
};

}  // namespace

std::span<const ProbeKind> syscall_kinds() { return kSyscallKinds; }

}  // namespace dj
