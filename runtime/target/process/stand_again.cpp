// SPDX-License-Identifier: Apache-2.0
// The new probes' memory lies at the addresses of the old probes' memory, which therefore goes
// first.
#include "runtime/target/process/stand_again.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "runtime/clean/clean.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

constexpr uint64_t kStandPatienceNs = 3'000'000'000;
constexpr useconds_t kStandMomentUs = 2000;

}  // namespace

Result<TracedProcess> stand_again(Stopped stopped, const Clear& clear, const Serve& serve) {
  const int pid = stopped.pid();
  std::optional<Stopped> threads(std::move(stopped));
  for (const uint64_t end = now_ns() + kStandPatienceNs;;) {
    DJ_TRY(const bool is_clear, clear(*threads));
    if (is_clear) return TracedProcess::standing(std::move(*threads));
    threads.reset();
    if (now_ns() > end)
      return Error{
          "a thread stays in code of the probes that were taken out, and the process has "
          "none now"};
    serve();
    usleep(kStandMomentUs);
    DJ_TRY(Stopped again, stop_served(pid, serve));
    threads.emplace(std::move(again));
  }
}

namespace {

// While djtap did other things the process may have executed a program, and joined by that.
Result<std::vector<AddressRange>> session_code(int pid, const std::set<uint64_t>& memories) {
  DJ_TRY(const std::vector<Mapping> maps, read_maps(pid));
  std::vector<AddressRange> code;
  bool has_any = false;
  for (const Mapping& m : maps) {
    if (!is_session_memory(m)) continue;
    has_any = has_any || memories.contains(m.inode);
    if (m.exec) code.push_back({m.begin, m.end});
  }
  if (!has_any) return Error{"it has left the session", Fail::TargetGone};
  return code;
}

}  // namespace

Result<TracedProcess> take_fork(int pid, const std::set<uint64_t>& memories, const Serve& serve) {
  const FindCode find_code = [&](const Stopped&) { return session_code(pid, memories); };
  const Rewind rewind = [&](Stopped& threads) { return rewind_hits(threads, memories); };
  DJ_TRY(Stopped stopped, stop_outside(pid, {find_code, rewind, serve}));
  const Clear clear = [&](Stopped& threads) -> Result<bool> {
    DJ_TRY_DO(find_code(threads));
    return clean_standing(threads, memories);
  };
  return stand_again(std::move(stopped), clear, serve);
}

}  // namespace dj
