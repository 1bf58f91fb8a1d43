// SPDX-License-Identifier: Apache-2.0
// rt_sigaction, called by a thread of the target.
#include "runtime/process/signal_actions.h"

#include <signal.h>
#include <sys/syscall.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>

namespace dj {
namespace {

constexpr uint64_t kMaskBytes = 8;
constexpr uint64_t kOldAt = 64;  // of the old action in the scratch page

// Gives each handler of a fault the address that `change` has for it.
Status change_handlers(Stopped& stopped, bool own_trap,
                       const std::function<uint64_t(uint64_t)>& change) {
  const uint64_t caught = caught_signals(stopped);
  std::optional<RemoteCall> call;
  for (int signal = 1; signal < SIGRTMIN; signal++) {
    if (!abi::is_fault(signal, own_trap) || (caught >> (signal - 1) & 1) == 0) continue;
    if (!call) {
      DJ_TRY(RemoteCall borrowed, RemoteCall::borrow(stopped));
      call.emplace(std::move(borrowed));
    }
    DJ_TRY(abi::AppAction action, get_action(*call, signal));
    const uint64_t handler = change(action.handler);
    if (handler == action.handler) continue;
    action.handler = handler;
    DJ_TRY_DO(set_action(*call, signal, action));
  }
  return call ? call->give_back() : ok_status();
}

}  // namespace

Result<abi::AppAction> get_action(RemoteCall& call, int signal) {
  DJ_TRY(uint64_t page, call.scratch());
  DJ_TRY_DO(call.checked("rt_sigaction", SYS_rt_sigaction,
                         {static_cast<uint64_t>(signal), 0, page + kOldAt, kMaskBytes}));
  abi::AppAction action;
  DJ_TRY_DO(call.stopped().read(page + kOldAt,
                                std::span(reinterpret_cast<uint8_t*>(&action), sizeof action)));
  return action;
}

Status set_action(RemoteCall& call, int signal, const abi::AppAction& action) {
  DJ_TRY(uint64_t page, call.scratch());
  DJ_TRY_DO(call.stopped().write(
      page, std::span(reinterpret_cast<const uint8_t*>(&action), sizeof action)));
  DJ_TRY_DO(call.checked("rt_sigaction", SYS_rt_sigaction,
                         {static_cast<uint64_t>(signal), page, 0, kMaskBytes}));
  return ok_status();
}

bool has_handler(const abi::AppAction& action) {
  return action.handler != reinterpret_cast<uint64_t>(SIG_DFL) &&
         action.handler != reinterpret_cast<uint64_t>(SIG_IGN);
}

uint64_t caught_signals(const Stopped& stopped) {
  return stopped.is_fresh() ? 0 : caught_signals(stopped.pid());
}

namespace {

// A line of /proc/PID/status that has a set of signals.
std::optional<uint64_t> signal_set(pid_t pid, const std::string& key) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size()), nullptr, 16);
  }
  return std::nullopt;
}

}  // namespace

uint64_t caught_signals(pid_t pid) { return signal_set(pid, "SigCgt:").value_or(~uint64_t{0}); }

std::optional<abi::AppAction> action_at_begin(pid_t pid, int signal) {
  const std::optional<uint64_t> ignored = signal_set(pid, "SigIgn:");
  if (!ignored) return std::nullopt;
  const bool is_ignored = (*ignored >> (signal - 1) & 1) != 0;
  return abi::AppAction{reinterpret_cast<uint64_t>(is_ignored ? SIG_IGN : SIG_DFL), 0, 0, 0};
}

// The kernel tells no results of a chain's calls.
bool set_action_at_begin(RemoteCall& call, int signal, const abi::AppAction& action) {
  const Result<uint64_t> page = call.scratch();
  const std::span bytes(reinterpret_cast<const uint8_t*>(&action), sizeof action);
  if (!call.can_chain() || !page.ok() || !call.stopped().write(page.value(), bytes).ok())
    return false;
  const auto number = static_cast<uint64_t>(signal);
  if (!call.chain({{SYS_rt_sigaction, {number, page.value(), 0, kMaskBytes}}}).ok()) return false;
  const std::optional<uint64_t> caught = signal_set(call.stopped().pid(), "SigCgt:");
  return caught && (*caught >> (signal - 1) & 1) != 0;
}

// Gates are given away before the target finds the table: from then on the agent's hook gives away
// those that are free.
Status enter_gates(Stopped& stopped, uint64_t table, uint64_t code, bool own_trap) {
  abi::FaultGates gates = {code, {}};
  const auto give = [&](uint64_t handler) { return abi::gate_to(gates, handler), handler; };
  DJ_TRY_DO(change_handlers(stopped, own_trap, give));
  const auto* bytes = reinterpret_cast<const uint8_t*>(&gates);
  constexpr uint64_t kBegin = sizeof gates.begin;
  DJ_TRY_DO(stopped.write(table + kBegin, {bytes + kBegin, sizeof gates - kBegin}));
  DJ_TRY_DO(stopped.write(table, {bytes, kBegin}));
  const abi::FaultGates given = gates;
  return change_handlers(stopped, own_trap, [&](uint64_t handler) {
    const uint64_t gate = abi::gate_to(gates, handler);
    return abi::handler_behind(given, gate) == handler ? gate : handler;
  });
}

Status leave_gates(Stopped& stopped, uint64_t table) {
  abi::FaultGates gates = {};
  DJ_TRY_DO(stopped.read(table, {reinterpret_cast<uint8_t*>(&gates), sizeof gates}));
  return change_handlers(stopped, false,
                         [&](uint64_t handler) { return abi::handler_behind(gates, handler); });
}

}  // namespace dj
