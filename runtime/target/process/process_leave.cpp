// SPDX-License-Identifier: Apache-2.0
// How a process leaves a session that goes on, to join it again, and stands in between.
#include <utility>

#include "runtime/clean/leftovers.h"
#include "runtime/process/process.h"
#include "runtime/target/process/lead_outside.h"
#include "runtime/target/process/process_target.h"

namespace dj {

Result<Stopped> ProcessTarget::stop_outside(const Serve& serve) {
  const FindCode find_code = [this](const Stopped& stopped) -> Result<std::vector<AddressRange>> {
    DJ_TRY_DO(check_in_target(stopped));
    std::vector<AddressRange> code;
    for (const ProbeSet& set : sets_) set.installation.add_code(code);
    return code;
  };
  const Rewind rewind = [this](Stopped& stopped) -> Status {
    for (const ProbeSet& set : sets_) DJ_TRY_DO(set.installation.rewind_hits(stopped));
    return ok_status();
  };
  return dj::stop_outside(process_.pid, {find_code, rewind, serve});
}

Result<TracedProcess> ProcessTarget::leave(const Serve& serve) {
  for (ProbeSet& set : sets_) set.installation.end_looking();
  DJ_TRY(Stopped stopped, stop_outside(serve));
  DJ_TRY_DO(check_uncaught(stopped));
  DJ_TRY_DO(restore_all(stopped));
  watch_.is_over = true;
  const Clear clear = [this](Stopped& threads) -> Result<bool> {
    DJ_TRY_DO(check_in_target(threads));
    return clear_leftovers(threads);
  };
  return stand_again(std::move(stopped), clear, serve);
}

std::set<uint64_t> ProcessTarget::memories() const {
  std::set<uint64_t> inodes;
  for (const ProbeSet& set : sets_) inodes.insert(set.memory.inode());
  return inodes;
}

void ProcessTarget::finish_journals() {
  for (ProbeSet& set : sets_) set.installation.finish(process_.pid);
}

}  // namespace dj
