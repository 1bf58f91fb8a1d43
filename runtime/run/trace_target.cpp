// SPDX-License-Identifier: Apache-2.0
// Tells the loop (runtime/session/loop.h) what to do when.
#include "runtime/run/trace_target.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <list>

#include "compiler/stages/samples.h"
#include "runtime/output/key_input.h"
#include "runtime/output/messages.h"
#include "runtime/process/exec_watch.h"
#include "runtime/session/control_commands.h"
#include "runtime/session/doorbell.h"
#include "runtime/session/losses.h"

namespace dj {
namespace {

// Of timer probes that were added, from `first` of Plan::added_hosts on.
void add_timers_of_added(const Tracing& tracing, size_t first, LoopActions& actions) {
  const std::vector<HostProbe>& hosts = tracing.prepared.compiled.plan.added_hosts;
  for (size_t i = first; i < hosts.size(); ++i) {
    const HostProbe& probe = hosts[i];
    if (probe.when != HostProbe::When::Timer) continue;
    const auto fire = [&session = tracing.session, handler = probe.handler] {
      if (!session.words().exit_requested()) session.run_host(handler);
    };
    actions.timers.push_back({probe.interval_ns, probe.random_ns, fire});
  }
}

void serve_control(const Tracing& tracing, LoopActions& actions) {
  tracing.control->serve([&](const std::string& line) {
    const size_t hosts = tracing.prepared.compiled.plan.added_hosts.size();
    const auto add = [&](const std::string& script) { return tracing.added.add(script); };
    ControlSocket::Answer answer = run_control_command(tracing.session, add, line);
    add_timers_of_added(tracing, hosts, actions);
    tracing.arming.look();
    return answer;
  });
}

// Of timer probes.
void add_timers(const Tracing& tracing, LoopActions& actions) {
  Session& session = tracing.session;
  const Plan& plan = tracing.prepared.compiled.plan;
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    const HostProbe& probe = plan.host_probes[i];
    if (probe.when != HostProbe::When::Timer) continue;
    std::function<void()> fire = [&session, &probe, &arming = tracing.arming] {
      if (session.words().exit_requested()) return;
      session.run_host(probe.handler);
      arming.look();
    };
    if (is_sample(plan, probe)) fire = [&session, i] { session.sample(i); };
    actions.timers.push_back({probe.interval_ns, probe.random_ns, std::move(fire)});
  }
}

void add_bell(uint64_t word, std::list<Doorbell>& bells, LoopActions& actions) {
  Doorbell& bell = bells.emplace_back(word);
  actions.is_often = actions.is_often || bell.fd() < 0;
  if (bell.fd() >= 0) actions.bells.push_back({bell.fd(), [&bell] { bell.answer(); }});
}

// Whether the end of the first process is that of the session.
bool ends_with_first(const Tracing& tracing) {
  const FoundTarget& target = tracing.prepared.target;
  return target.more_pids.empty() && !target.is_everywhere();
}

bool is_readable(int fd) {
  pollfd waits = {fd, POLLIN, 0};
  return fd >= 0 && poll(&waits, 1, 0) > 0;
}

// What ends it. time_is_up: set when it is.
void add_ends(const Tracing& tracing, const SessionChoices& steering, bool& time_is_up,
              LoopActions& actions) {
  if (steering.seconds) {
    const auto ns = static_cast<uint64_t>(*steering.seconds * 1e9);
    const auto end = [&time_is_up] { time_is_up = true; };
    actions.timers.push_back({std::max<uint64_t>(ns, 1), 0, end});  // 0 would be never
  }
  actions.exit_requested = [&tracing, &time_is_up] {
    return time_is_up || (tracing.monitor != nullptr && tracing.monitor->quit()) ||
           tracing.session.words().exit_requested() || !tracing.session.why_over().empty();
  };
  // Of several processes the last one's end is the session's, if none may come.
  if (!ends_with_first(tracing)) actions.pidfd = -1;
  if (!ends_with_first(tracing) && !tracing.prepared.target.gate) {
    actions.all_ended = [&tracing] {
      return tracing.session.target()->has_ended() && tracing.further.processes.are_over();
    };
  }
  const auto max_errors = static_cast<uint64_t>(steering.limits.max_errors);
  actions.too_many_errors = [&tracing, max_errors] {
    return !tracing.prepared.lua.diags().ok() ||
           (max_errors > 0 && tracing.drain.errors() > max_errors);
  };
  actions.output_closed = [&tracing] { return tracing.output.closed(); };
}

}  // namespace

Result<Ended> trace(const Tracing& tracing, const SessionChoices& steering) {
  Session& session = tracing.session;
  const std::optional<TracedProcess>& process = tracing.prepared.target.process;
  DlopenWatch& dlopened = tracing.further.objects;
  if (process && !process->is_child) dlopened.look();
  LoopActions actions;
  actions.pidfd = tracing.pidfd;
  std::list<Doorbell> bells;
  if (dlopened.is_on() || tracing.control) add_bell(session.words().loader_bell(), bells, actions);
  if (tracing.further.execs != nullptr) add_bell(session.words().exec_bell(), bells, actions);
  if (ExecGate* const gate = tracing.prepared.target.gate.get())
    actions.bells.push_back({gate->fd(), [] {}});  // drain() asks it
  if (std::optional<ControlSocket>& control = tracing.control) {
    actions.control_fd = control->fd();
    actions.control = [&] { serve_control(tracing, actions); };
  }
  ExecWatch exec(process ? process->pid : getpid());
  add_timers(tracing, actions);
  std::optional<KeyInput> input;
  if (tracing.host_probes.wants_input()) input.emplace();
  LossWatch losses({session.words(), tracing.prepared.compiled.program,
                    tracing.prepared.compiled.plan, tracing.prepared.compiled.layout});
  const int first_end = ends_with_first(tracing) ? -1 : tracing.pidfd;
  actions.drain = [&] {
    FollowedExecs* const execs = tracing.further.execs;
    const bool soon = execs != nullptr && execs->poll();
    const auto is_leaving = [execs](int pid) { return execs != nullptr && execs->is_leaving(pid); };
    const bool is_at_exec = process && is_leaving(process->pid);
    const std::string program = is_at_exec ? "" : exec.poll();
    if (!program.empty() && !tracing.prepared.target.is_everywhere() &&
        !(process && execs && execs->has_followed(process->pid)))
      report_warning("DJ5901",
                     fmt::format("the target executed {}: probes do not follow", program));
    if (dlopened.poll()) tracing.arming.look();
    if (tracing.jit != nullptr) tracing.jit->look();
    session.poll(is_leaving);
    tracing.further.processes.poll();
    if (tracing.monitor != nullptr) tracing.monitor->run(session);
    losses.look();
    if (input) tracing.host_probes.run_input(*input, tracing.arming);
    const size_t events = tracing.drain.run(false);
    tracing.host_probes.run_child_ends(tracing.drain);
    if (is_readable(first_end)) tracing.host_probes.run_first_end(tracing.drain);
    return events + (soon ? 1 : 0);
  };
  actions.stopped = [&, gate = tracing.prepared.target.gate.get()](bool now) {
    session.let_wait(!now);
    if (gate != nullptr) gate->set_watching(!now);
  };
  bool time_is_up = false;
  add_ends(tracing, steering, time_is_up, actions);
  return run_loop(actions);
}

}  // namespace dj
