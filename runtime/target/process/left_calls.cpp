// SPDX-License-Identifier: Apache-2.0
// A thread's own stack is the mapping that the kernel calls [stack], or has the thread's control
// block at its end.
#include "runtime/target/process/left_calls.h"

#include <map>
#include <optional>
#include <span>

#include "runtime/process/map_query.h"

namespace dj {
namespace {

// What lies below the thread's stack pointer, on its own stack. Empty: that is not known.
AddressRange below_stack(const Stopped& stopped, pid_t tid, MapFinder& maps) {
  const Result<user_regs_struct> regs = stopped.registers(tid);
  if (!regs.ok()) return {};
  const uint64_t sp = regs.value().rsp, control = regs.value().fs_base;
  const Result<std::optional<Mapping>> found = maps.at(sp);
  if (!found.ok() || !found.value()) return {};
  const Mapping& stack = *found.value();
  const bool own = stack.path == "[stack]" || (control > sp && control < stack.end);
  return own ? AddressRange{stack.begin, sp} : AddressRange{};
}

bool is_overwritten(const Stopped& stopped, const abi::Capture& entry) {
  uint64_t word = 0;
  const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(&word), sizeof word);
  return stopped.read(entry.slot, bytes).ok() && word != entry.returns;
}

}  // namespace

void count_left_calls(const Stopped& stopped, const KeptCalls& calls) {
  MapFinder maps(stopped.pid());
  std::map<uint32_t, AddressRange> gone;
  for (const pid_t tid : stopped.threads()) {
    gone[static_cast<uint32_t>(tid)] = below_stack(stopped, tid, maps);
  }
  for (uint64_t i = 0; i < KeptCalls::entries(); ++i) {
    const abi::Capture entry = calls.entry(i);
    if (!KeptCalls::holds_calls(entry)) continue;
    const auto range = gone.find(KeptCalls::thread_of(entry));
    if (range == gone.end()) continue;
    if (range->second.contains(entry.slot) || is_overwritten(stopped, entry)) calls.abandon(i);
  }
}

}  // namespace dj
