// SPDX-License-Identifier: Apache-2.0
// Probe kinds process.syscall, process.syscall(N) and their .return: the instructions with which
// the target's objects enter the kernel. What enters it elsewhere is not seen: generated code, and
// what the vdso answers alone. N is a number as in <asm/unistd_64.h>; an instruction whose number
// is not known has the places of all, and each probe looks at it
// (compiler/tapset/limited_points.h).
#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/eh_frame.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

// Whether the point says in which objects the system calls are.
bool names_objects(const PointQuery& query) {
  const auto& file = query.component("process")->argument;
  return std::holds_alternative<std::string>(file) || query.component("library") != nullptr;
}

// An object by its own name; a process is all of its objects.
std::vector<size_t> meant_objects(PointQuery& query) {
  FunctionPattern pattern;
  if (!query.modules.has_target() && !names_objects(query)) pattern.object = kCLibrary;
  std::vector<size_t> objects = searched_objects(query, pattern, query.point.span);
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

// The code around `address`: the function of a symbol, else one that .eh_frame alone knows. Where
// neither knows any, there is nothing to decode; then the controller's checker judges the bytes.
std::optional<arch::Extent> code_around(const Module& file,
                                        const std::optional<CodeFunction>& holder,
                                        uint64_t address) {
  if (holder) return arch::Extent{holder->begin, holder->end};
  for (const FrameEntry& frame : read_frames(file.elf())) {
    if (frame.begin <= address && address < frame.end) return arch::Extent{frame.begin, frame.end};
  }
  return std::nullopt;
}

// The `syscall` whose bytes stand at `address`; nothing: they are a part of another instruction.
std::optional<CallInstruction> call_at(Module& file, uint64_t address) {
  CallInstruction call = {.address = address, .call = {}};
  const std::optional<arch::Extent> range = code_around(file, file.function_at(address), address);
  if (!range) return call;
  const Bytes rest = file.elf().at(range->begin);
  const Bytes code = rest.first(std::min<size_t>(rest.size(), range->end - range->begin));
  const auto found = arch::system_call_in(code, range->begin, address);
  if (!found) return std::nullopt;
  call.call = *found;
  return call;
}

// Each is found by decoding the function around it; scripts such as `probe syscall.*` ask again.
const std::vector<CallInstruction>& syscalls_of(ModuleSet& modules, size_t module, Module& file) {
  SystemCalls::Found& known = modules.syscalls(module);
  if (known) return *known;
  known.emplace();
  for (const Section& section : file.elf().sections()) {
    if (!section.executable()) continue;
    for (const uint64_t address : arch::syscall_bytes(section.bytes, section.header.sh_addr)) {
      if (is_signal_return(file, address)) continue;
      if (const std::optional<CallInstruction> call = call_at(file, address))
        known->push_back(*call);
    }
  }
  return *known;
}

bool begins_child(int64_t number) {
  constexpr int64_t kNumbers[] = {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork};
  return std::ranges::find(kNumbers, number) != std::end(kNumbers);
}

void add_sites(PointQuery& query, size_t module, Module& file, bool done,
               std::vector<Site>& sites) {
  const auto* asked = std::get_if<int64_t>(&query.component("syscall")->argument);
  for (const CallInstruction& call : syscalls_of(query.modules, module, file)) {
    const auto [number, is_joined] = call.call;
    const bool is_known = number != arch::kUnknownNumber;
    if (asked != nullptr && is_known && number != *asked) continue;
    const uint64_t address = call.address;
    const std::optional<CodeFunction> holder = file.function_at(address);
    if (done && holder && never_returns(*holder)) continue;
    Site site;
    if (holder) site = function_site(module, file, *holder, SiteKind::Statement);
    site.module = ModuleId(module);
    site.kind = SiteKind::Statement;
    site.address = done ? address + arch::kSyscallLength : address;
    const bool others_arrive = is_joined || begins_child(number);
    SyscallOf of = {.address = address, .done = done, .others_arrive = others_arrive};
    if (asked != nullptr && is_known) of.number = *asked;
    site.syscall = of;
    site.listed = fmt::format("syscall{} at {:#x}", done ? ".return" : "", address);
    if (!holder)
      site.symbol = site.function = fmt::format("{:#x}", address);  // as func("0x..") has it
    sites.push_back(std::move(site));
  }
}

void find_places(PointQuery& query, bool done, PointMeaning& meaning) {
  const size_t errors = query.diags.error_count();
  for (const size_t module : meant_objects(query)) {
    if (Module* file = query.modules.open(module)) {
      add_sites(query, module, *file, done, meaning.sites);
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
    {"<process>.syscall(n)", find_syscall},
    {"<process>.syscall(n).return", find_exit},
};

}  // namespace

std::span<const ProbeKind> syscall_kinds() { return kSyscallKinds; }

}  // namespace dj
