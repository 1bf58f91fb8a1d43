// SPDX-License-Identifier: Apache-2.0
// The session's checks, in its order.
#include "runtime/run/doctor/patient.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include "compiler/base/counted.h"
#include "runtime/clean/found_journal.h"
#include "runtime/memory/rseq_areas.h"
#include "runtime/memory/thread_rows.h"
#include "runtime/patch/hooks.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/process/c_library.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/signal_stacks.h"
#include "runtime/run/target.h"
#include "runtime/shared/denied.h"

namespace dj {
namespace {

void look_at_threads(Patient& patient, Stopped& stopped) {
  patient.threads.count = stopped.threads().size();
  patient.threads.borrowed = RemoteCall::check(stopped);
  patient.threads.uncaught = check_uncaught(stopped);
  patient.threads.denied = denied_by_filters(stopped);
  patient.threads.rows = may_have_rows(stopped);
  patient.threads.least_stack = least_signal_stack(stopped);
  if (patient.threads.borrowed.ok() && patient.threads.uncaught.ok())
    patient.threads.small_stack = small_signal_stack(stopped, patient.threads.least_stack);
  if (patient.use_rseq) patient.threads.control_blocks = check_control_blocks(stopped);
}

Verdicts look_at_rights(Patient& patient) {
  if (!patient.process.is_child) return {};
  const std::string lost = lost_rights(patient.process.pid, patient.target.command.front());
  if (lost.empty()) return {{Health::Ok, "the program has all rights that its file gives it"}};
  return {{Health::Limited, lost}};
}

Verdicts look_at_filters(Patient& patient) {
  if (!patient.threads.confined) return {{Health::Ok, "no thread runs under one"}};
  if (!patient.threads.denied.ok())
    return {{Health::Fails, patient.threads.denied.error().message}};
  if (!patient.threads.borrowed.ok())
    return {{Health::Fails, patient.threads.borrowed.error().message}};
  const uint64_t denied = patient.threads.denied.value();
  if (denied == 0)
    return {{Health::Ok, "the filters of its threads deny nothing that handlers ask for"}};
  return {{Health::Limited, fmt::format("handlers do without the system calls that it denies{}",
                                        what_fails(denied))}};
}

Verdicts look_at_calls(Patient& patient) {
  if (!patient.threads.uncaught.ok())
    return {{Health::Fails, patient.threads.uncaught.error().message}};
  if (!patient.threads.confined && !patient.threads.borrowed.ok())
    return {{Health::Fails, patient.threads.borrowed.error().message}};
  return {{Health::Ok, "djtap can make those that it needs in the target"}};
}

Verdicts look_at_rseq(Patient& patient) {
  if (!patient.threads.control_blocks.ok())
    return {{Health::Fails, patient.threads.control_blocks.error().message}};
  if (patient.use_rseq) return {{Health::Ok, "handlers count without locks"}};
  return {{Health::Limited, fmt::format("handlers count with locks: {}", patient.no_rseq)}};
}

Verdicts look_at_rows(Patient& patient) {
  const std::string setter = gs_base_setter(patient.process.modules, 0, patient.codes);
  if (!setter.empty())
    return {{Health::Limited, fmt::format("{} may set the gs base: a counter is a call", setter)}};
  if (!patient.threads.rows.ok()) return {{Health::Note, patient.threads.rows.error().message}};
  if (!patient.threads.rows.value() && patient.earlier.ok() && patient.earlier.value() > 0)
    return {
        {Health::Note, "gs bases are as an earlier session left them; the next one clears them"}};
  if (!patient.threads.rows.value())
    return {{Health::Limited,
             "a thread uses its gs base, or the machine keeps it from programs: a counter is a "
             "call"}};
  if (!patient.use_rseq) return {{Health::Limited, "without rseq, a counter is a call"}};
  return {{Health::Ok, "threads count in rows of their own"}};
}

// What becomes of the places that a session cannot probe by a jump.
Verdicts look_at_int3(Patient& patient) {
  Plan plan;
  plan.expects_objects = true;  // may want an int3
  const Result<TargetFacts> facts = patient.process.facts(patient.use_rseq);
  if (!facts.ok()) return {{Health::Note, facts.error().message}};
  const PatchInput input = {
      .plan = plan, .modules = patient.process.modules, .facts = facts.value()};
  const std::string why = plan_patches(input, patient.codes).no_int3;
  if (why.empty()) return {{Health::Ok, "SIGTRAP can be had for what cannot be a jump"}};
  return {{Health::Limited, "places that cannot be a jump are skipped: " + why}};
}

Verdicts look_at_signal_stacks(Patient& patient) {
  if (!patient.threads.borrowed.ok() || !patient.threads.uncaught.ok())
    return {{Health::Note, "not known, as no system call can be made in the target"}};
  if (!patient.threads.small_stack.ok())
    return {{Health::Note, patient.threads.small_stack.error().message}};
  const uint64_t bytes = patient.threads.small_stack.value();
  if (bytes == 0)
    return {{Health::Ok, "no thread has an alternate one that is too small for a trap on it"}};
  return {{Health::Limited,
           fmt::format("a thread has an alternate one of {} bytes, and a trap on it needs {}: "
                       "places that cannot be a jump are skipped",
                       bytes, patient.threads.least_stack)}};
}

Verdicts look_at_earlier_sessions(Patient& patient) {
  if (!patient.earlier.ok()) return {{Health::Limited, patient.earlier.error().message}};
  if (patient.earlier.value() == 0) return {{Health::Ok, "none has left anything"}};
  return {{Health::Note,
           counted(patient.earlier.value(), "session") + " that ended here left memory",
           fmt::format("the next session takes away what it can, or: djtap clean {}",
                       patient.process.pid)}};
}

Verdicts look_at_c_library(Patient& patient) {
  const MappedModule* library = c_library(patient.process.modules);
  if (library == nullptr)
    return {{Health::Note, "none that djtap knows: errno() and stacks of djtap's own are not had"}};
  if (library->is_executable_file)
    return {{Health::Ok, library->path + ", a static program, has its own"}};
  return {{Health::Ok, library->path}};
}

constexpr Row<Patient> kOfPatient[] = {
    {"rights of the program", look_at_rights, "start it without djtap, then as root: djtap -p PID"},
    {"seccomp filter", look_at_filters,
     "run djtap as root, outside of any sandbox; or start the program without the filter"},
    {"system calls", look_at_calls,
     "attach before the program has them caught (PR_SET_SYSCALL_USER_DISPATCH)"},
    {"counting", look_at_rseq,
     "what counts is right all the same, and takes some nanoseconds more"},
    {"rows of threads", look_at_rows,
     "what counts is right all the same, and takes some nanoseconds more"},
    {"int3", look_at_int3, "djtap -n lists the places that are skipped"},
    {"signal stacks", look_at_signal_stacks,
     "djtap -n lists the places that are skipped; or the program asks for more: "
     "2 * sysconf(_SC_SIGSTKSZ)"},
    {"C library", look_at_c_library, ""},
    {"earlier sessions", look_at_earlier_sessions, "djtap clean PID"},
};

}  // namespace

Status look_at(Patient& patient) {
  TracedProcess& process = patient.process;
  const Result<std::vector<FoundJournal>> journals = find_journals(process.pid);
  patient.earlier = journals.ok() ? Result(journals.value().size()) : journals.error();
  DJ_TRY_DO(process.find_rseq());
  patient.use_rseq =
      can_trust_rseq(process.rseq_registered, process.modules, patient.codes, &patient.no_rseq);
  patient.threads.confined = has_confined_threads(process.pid);
  if (process.stopped) {
    look_at_threads(patient, *process.stopped);
    return ok_status();
  }
  DJ_TRY(Stopped stopped, Stopped::stop(process.pid));
  look_at_threads(patient, stopped);
  return ok_status();
}

void examine_target(Patient& patient, Findings& findings) {
  for (const Row<Patient>& row : kOfPatient) examine(row, patient, findings);
}

}  // namespace dj
