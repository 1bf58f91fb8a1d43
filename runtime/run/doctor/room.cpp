// SPDX-License-Identifier: Apache-2.0
// Where a small script's memory would lie in the target, as a session chooses it, and what of the
// target's limits leaves no room.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/base/counted.h"
#include "compiler/stages/layout.h"
#include "runtime/memory/address_space.h"
#include "runtime/memory/arena_place.h"
#include "runtime/memory/session_memory.h"
#include "runtime/memory/shared_file.h"
#include "runtime/process/control_group.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_map.h"
#include "runtime/run/doctor/patient.h"

namespace dj {
namespace {

constexpr uint64_t kAreaBytes = 1 << 20;  // of a small script

ArenaPlace arena_at(const Limits& limits, uint64_t base) {
  const auto cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  return arena_place(lay_out(Program{}, Plan{}, limits, cpus, base));
}

Result<ArenaPlace> find_arena(const Patient& patient) {
  const ArenaPlace any = arena_at(patient.limits, kNominalBase);
  DJ_TRY(const uint64_t base, find_arena_base(&patient.process, any.end() - any.base));
  return arena_at(patient.limits, base);
}

Verdicts look_at_arena(Patient& patient) {
  const Result<ArenaPlace> place = find_arena(patient);
  if (!place.ok()) return {{Health::Fails, place.error().message}};
  return {{Health::Ok, fmt::format("the data arena has room at {:#x}", place.value().base)}};
}

// The modules whose code lies near the mapping, by name.
std::string names_in(const std::vector<MappedModule>& modules, const AddressRange& range) {
  std::string names;
  for (const MappedModule& module : modules) {
    if (range.contains(module.begin)) names += (names.empty() ? "" : ", ") + module.path;
  }
  return names;
}

Verdicts look_at_areas(Patient& patient) {
  const Result<std::vector<Mapping>> maps = read_maps(patient.process.pid);
  const Result<ArenaPlace> arena = find_arena(patient);
  if (!maps.ok()) return {{Health::Fails, maps.error().message}};
  const uint64_t heap = heap_begin(patient.process.pid);
  std::vector<AddressRange> taken, spans;
  if (arena.ok()) taken.push_back({arena.value().base, arena.value().end()});
  for (const MappedModule& module : patient.process.modules) {
    if (!module.is_vdso) spans.push_back({module.begin, module.end});
  }
  Verdicts verdicts;
  for (const AreaPlace& place : choose_areas(maps.value(), taken, heap, spans, kAreaBytes)) {
    if (place.base != 0) continue;
    verdicts.push_back({Health::Limited,
                        fmt::format("nothing is free within 2 GB of {}: its functions are skipped",
                                    names_in(patient.process.modules, place.served))});
  }
  if (verdicts.empty())
    verdicts.push_back({Health::Ok, "detours have room within 2 GB of all code"});
  return verdicts;
}

Verdicts look_at_mappings(Patient& patient) {
  const Result<std::vector<Mapping>> maps = read_maps(patient.process.pid);
  if (!maps.ok()) return {{Health::Fails, maps.error().message}};
  const size_t count = maps.value().size();
  const uint64_t left = mappings_left(count);
  const std::string what =
      fmt::format("the process has {}, of which djtap may add {}", counted(count, "mapping"), left);
  if (left > 0) return {{Health::Ok, what}};
  return {{Health::Limited, what + ": jumps that share bytes or lead to a stub are int3"}};
}

Verdicts look_at_limits(Patient& patient) {
  const ArenaPlace place = arena_at(patient.limits, kNominalBase);
  constexpr uint64_t kShared = PROT_READ | PROT_WRITE;
  const RemoteMapping all = {0, place.end() - place.base + kAreaBytes, kShared, MAP_SHARED};
  const RemoteMapping own = {0, place.private_bytes(), kShared, MAP_PRIVATE | MAP_ANONYMOUS};
  for (const RemoteMapping& wanted : {all, own}) {
    const std::string why = limit_reached(patient.process.pid, wanted);
    if (!why.empty()) return {{Health::Fails, why}};
  }
  return {{Health::Ok, fmt::format("its limits have room for the {} MB of addresses that a session "
                                   "takes",
                                   all.bytes >> 20)}};
}

// The kernel charges a page of the session's data and code to the group of the process that touches
// it first. That is mostly the target.
Verdicts look_at_group(Patient& patient) {
  const ArenaPlace place = arena_at(patient.limits, kNominalBase);
  const uint64_t bytes = place.end() - place.base + kAreaBytes;
  const std::optional<GroupLimit> limit = group_limit(patient.process.pid, GroupResource::Memory);
  if (!limit) return {{Health::Ok, "its control group has no limit"}};
  const std::string what = fmt::format(
      "its control group has {} MB left ({}), of which a session "
      "takes {} MB when all its buffers are full",
      limit->left() >> 20, limit->file, bytes >> 20);
  if (limit->left() >= bytes) return {{Health::Ok, what}};
  return {{Health::Limited, what + ": the kernel may end the program then"}};
}

Verdicts look_at_own_limits(Patient& patient) {
  const ArenaPlace place = arena_at(patient.limits, kNominalBase);
  const Result<SharedFile> data = SharedFile::make(
      "djtap-doctor", place.bytes - place.constant_bytes, SharedFile::Use::Written);
  if (!data.ok()) return {{Health::Fails, data.error().message}};
  return {{Health::Ok, "djtap can make the memory that it shares with the target"}};
}

constexpr Row<Patient> kOfRoom[] = {
    {"room for data", look_at_arena,
     "smaller buffers need less: -D MAXMAPENTRIES=..., RINGBYTES=..., STRINGBYTES=..."},
    {"room for jumps", look_at_areas, "link the program at other addresses (-pie)"},
    {"mappings", look_at_mappings, "as root: sysctl vm.max_map_count=262144"},
    {"memory limits", look_at_limits,
     "raise the limit (prlimit --pid PID, ulimit), or ask for less: -D RINGBYTES=..., "
     "STRINGBYTES=..."},
    {"memory of its group", look_at_group,
     "raise the limit (memory.max; docker run --memory), or ask for less: -D RINGBYTES=..., "
     "STRINGBYTES=..., MAXMAPENTRIES=..."},
    {"djtap's memory", look_at_own_limits, "raise djtap's own limits (ulimit -f, ulimit -v)"},
};

}  // namespace

void examine_room(Patient& patient, Findings& findings) {
  for (const Row<Patient>& row : kOfRoom) examine(row, patient, findings);
}

}  // namespace dj
