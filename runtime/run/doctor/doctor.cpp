// SPDX-License-Identifier: Apache-2.0
// The machine first, with djtap's own rights; then the target, with those that a session has.
#include "runtime/run/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "runtime/output/messages.h"
#include "runtime/process/process.h"
#include "runtime/run/debug_servers.h"
#include "runtime/run/doctor/kernel.h"
#include "runtime/run/doctor/machine.h"
#include "runtime/run/doctor/patient.h"
#include "runtime/run/doctor/print_findings.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/lazy_target.h"
#include "runtime/run/module_codes.h"
#include "runtime/run/show.h"
#include "runtime/session/loop.h"

namespace dj {
namespace {

// A session would end with this.
struct Refusal {
  int exit_code = kExitOk;
  std::string code, message;
};

Refusal refusal(const Error& error, int exit_code) {
  return {exit_code, attach_code(error.kind), error.message};
}

std::string name_of(const TracedProcess& process) {
  const Result<ProcessStatus> status = read_status(process.pid);
  return fmt::format("process {} ({})", process.pid, status.ok() ? status.value().name : "?");
}

// Adds the rows of the target.
std::optional<Refusal> examine_found(Patient& patient, Findings& findings) {
  const Status looked = look_at(patient);
  if (!looked.ok()) return refusal(looked.error(), kExitAttach);
  findings.push_back({"target",
                      {Health::Ok, fmt::format("{} can be traced, {}", name_of(patient.process),
                                               counted(patient.threads.count, "thread"))}});
  examine_target(patient, findings);
  examine_room(patient, findings);
  examine_objects(patient, findings);
  return std::nullopt;
}

std::optional<Refusal> examine_target_of(const TargetChoices& wanted, const Limits& limits,
                                         const HeldSignals& held, bool cache, Seen& seen,
                                         Findings& findings) {
  LazyTarget target(wanted, TargetUse::Examine, held.before());
  Result<FoundTarget>& found = target.find();
  if (!found.ok()) return refusal(found.error(), target_exit_code(wanted, found.error()));
  TracedProcess process = std::move(*found.value().process);
  seen.pid = process.pid;
  ModuleCodes codes = module_codes(cache, false);
  Patient patient{wanted, limits, process, codes, {}};
  return examine_found(patient, findings);
}

int exit_code_of(const Findings& findings) {
  const auto is_of = [&](Health health) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& each) { return each.verdict.health == health; });
  };
  return is_of(Health::Fails) || is_of(Health::Limited) ? kExitLimited : kExitOk;
}

}  // namespace

int run_doctor(const TargetChoices& target, const FileChoices& files, const NeededFiles& needed,
               const Limits& limits, bool json) {
  const HeldSignals held;
  Findings findings;
  Seen seen;
  examine_machine(findings);
  examine_kernel(findings);
  let_servers_be_asked(files);
  const std::optional<RightsKept> kept = become_equal_of_target(target, needed);
  examine_files(needed, findings);
  const size_t machine_rows = findings.size();
  std::optional<Refusal> refused;
  if (!target.command.empty()) seen.program = target.command.front();
  if (kept) {
    refused = Refusal{kExitAttach, kept->code, kept->message};
  } else if (target.is_given()) {
    refused = examine_target_of(target, limits, held, files.cache, seen, findings);
  }
  if (refused)
    findings.push_back(
        {"target", {Health::Fails, refused->message, "djtap --explain " + refused->code}});
  const bool ends_sessions =
      std::any_of(findings.begin() + static_cast<long>(machine_rows), findings.end(),
                  [](const Finding& each) { return each.verdict.health == Health::Fails; });
  seen.exit_code = refused         ? refused->exit_code
                   : ends_sessions ? static_cast<int>(kExitAttach)
                                   : exit_code_of(findings);
  show(json ? findings_json(findings, seen) : findings_text(findings, seen));
  return seen.exit_code;
}

}  // namespace dj
