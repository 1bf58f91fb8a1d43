// SPDX-License-Identifier: Apache-2.0
// The list is a chain of r_debug_extended, one for each namespace, which begins in ld.so.
#include "runtime/memory/debug_list.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "runtime/process/elf_file.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/shared/atomic.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

constexpr uint64_t kNext = offsetof(abi::DebugEntry, next);
constexpr uint64_t kNamespaces = 2;  // r_version of a list that has them
static_assert(offsetof(abi::DebugEntry, map) == offsetof(r_debug, r_map) &&
              kNext == sizeof(r_debug));

// Where ld.so of the process has its first r_debug_extended.
std::optional<uint64_t> list_of(pid_t pid, const std::vector<MappedModule>& modules) {
  const uint64_t base = auxiliary(pid, AT_BASE);
  if (base == 0) return std::nullopt;
  for (const MappedModule& module : modules) {
    if (module.begin != base) continue;
    // That came with glibc 2.35, as r_debug_extended did.
    Result<ElfSymbol> list = find_symbol(module.open_path, "_r_debug");
    if (!list.ok() || !find_symbol(module.open_path, "__rseq_size").ok()) return std::nullopt;
    return module.bias + list.value().address;
  }
  return std::nullopt;
}

// Whether an entry describes itself, as those of djtap do. The program can make one that does, and
// loses it.
bool is_ours(const RunningMemory& memory, uint64_t address) {
  abi::DebugEntry entry = {};
  return memory.read(address, &entry, sizeof entry) && entry.version == kNamespaces &&
         entry.map == address + offsetof(abi::DebugEntry, load_bias) &&
         entry.name == address + offsetof(abi::DebugEntry, path);
}

// Calls each(address of the entry's `next`, entry) for what sessions have put there.
template <typename Each>
void each_of_ours(const RunningMemory& memory, uint64_t list, const Each& each) {
  constexpr int kMost = 64;  // glibc has 16 namespaces
  uint64_t at = list + kNext, entry = 0;
  for (int i = 0; i < kMost && memory.read(at, &entry, sizeof entry) && entry != 0; i++) {
    if (is_ours(memory, entry)) {
      each(at, entry);
    } else {
      at = entry + kNext;
    }
  }
}

void leave(const RunningMemory& memory, uint64_t list) {
  each_of_ours(memory, list, [&memory](uint64_t at, uint64_t entry) {
    uint64_t next = 0;
    if (!memory.read(entry + kNext, &next, sizeof next)) next = 0;
    memory.write(at, &next, sizeof next);
  });
}

}  // namespace

DebugList::DebugList(DebugList&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
DebugList::~DebugList() {
  if (fd_ >= 0) close(fd_);
}

void DebugList::show(pid_t pid, const std::vector<MappedModule>& modules, const abi::Header& header,
                     std::span<const uint8_t> object) {
  const RunningMemory memory(pid, O_RDWR);
  if (!has_session(memory, header)) return;
  const std::optional<uint64_t> list = list_of(pid, modules);
  if (!list) return;
  const bool first = fd_ < 0;
  if (first) fd_ = memfd_create("djtap code", MFD_CLOEXEC);
  if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(object.size())) != 0) return;
  if (pwrite(fd_, object.data(), object.size(), 0) != static_cast<ssize_t>(object.size())) return;
  if (!first) return;
  leave(memory, *list);
  // Whatever comes between reading and writing the chain is seen by debuggers alone.
  const uint64_t address =
      header.threads.address(abi::arena_of(&header)) + offsetof(abi::ThreadTable, debug_entry);
  abi::DebugEntry entry = {.version = kNamespaces,
                           .map = address + offsetof(abi::DebugEntry, load_bias)};
  entry.name = address + offsetof(abi::DebugEntry, path);
  *fmt::format_to_n(entry.path, sizeof entry.path - 1, "/proc/{}/fd/{}", getpid(), fd_).out = 0;
  if (!memory.read(*list + kNext, &entry.next, sizeof entry.next) ||
      !memory.write(address, &entry, sizeof entry))
    return;
  const auto version = static_cast<int>(kNamespaces);
  if (memory.write(*list + kNext, &address, sizeof address)) {
    memory.write(*list + offsetof(r_debug, r_version), &version, sizeof version);
  }
}

void leave_debug_list(pid_t pid) {
  const Result<std::vector<MappedModule>> modules = mapped_modules(pid);
  if (!modules.ok()) return;
  const std::optional<uint64_t> list = list_of(pid, modules.value());
  const RunningMemory memory(pid, O_RDWR);
  if (list && memory.is_open()) leave(memory, *list);
}

}  // namespace dj
