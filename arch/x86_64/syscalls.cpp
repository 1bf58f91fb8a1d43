// SPDX-License-Identifier: Apache-2.0
// Checker::syscalls(): where a module enters the kernel, and with which number.
#include <algorithm>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/call_number.h"
#include "arch/x86_64/check_results.h"
#include "arch/x86_64/checker.h"
#include "arch/x86_64/placement.h"

namespace dj::arch {
namespace {

constexpr int64_t kSigreturn = 15;

bool is_trampoline(const Module& module, uint64_t at) {
  const auto& all = module.trampolines();
  return std::any_of(all.begin(), all.end(),
                     [&](const FunctionRange& t) { return at >= t.begin && at < t.end; });
}

// Bytes 0f 05, wherever they stand.
std::vector<uint64_t> candidates(const ModuleText& text) {
  std::vector<uint64_t> found;
  for (const TextRange& range : text.text) {
    for (const size_t at : find_pairs(range.bytes, kSyscallBytes))
      found.push_back(range.address + at);
  }
  return found;
}

}  // namespace

const std::vector<Checker::Syscall>& Checker::syscalls() {
  if (known_->syscalls) return *known_->syscalls;
  std::vector<Syscall> found;
  std::vector<Region> regions;
  const Module& module = impl().module;
  Function function;
  std::optional<Flow> flow;  // of that function
  for (const uint64_t at : candidates(module.text())) {
    if (!function.inside(at)) {
      const FunctionRange* range = module.function_at(at);
      function = range != nullptr ? impl().decode(*range) : module.decode(module.gap_at(at));
      flow.reset();
    }
    const size_t index = function.find(at);
    // Bytes of something else; but the unwind entry of a trampoline begins a byte early and decodes
    // to nonsense.
    if (index == Function::kNone && at < function.decoded_end() && !is_trampoline(module, at))
      continue;
    Syscall call;
    call.syscall_address = call.region.address = call.region.probe_address = at;
    if (is_trampoline(module, at)) {
      call.number = kSigreturn;
    } else if (index != Function::kNone) {
      if (!flow) flow.emplace(module, function);
      call.number = call_number(*flow, index);
      call.region.address = region_start(module, function, index);
    }
    found.push_back(call);
    regions.push_back(call.region);
  }
  check(regions);
  // Where the way back is blocked, the jump may begin at the system call itself: it now stands
  // there.
  if (std::any_of(regions.begin(), regions.end(),
                  [](const Region& r) { return r.verdict != Verdict::Ok; }))
    check(regions);
  std::vector<Region> alone = regions;
  check_alone(alone, Guards::WhereNeeded);
  for (size_t i = 0; i < found.size(); i++) {
    found[i].region = regions[i];
    found[i].may_be_plain = is_plain(regions[i]) || is_plain(alone[i]);
  }
  known_->syscalls = std::move(found);
  return *known_->syscalls;
}

Region Checker::syscall_region(uint64_t address) {
  const std::vector<Syscall>& all = syscalls();
  auto found = std::find_if(all.begin(), all.end(),
                            [&](const Syscall& call) { return call.syscall_address == address; });
  return found != all.end() ? found->region : Region{.address = address};
}

}  // namespace dj::arch
