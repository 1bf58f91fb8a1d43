// SPDX-License-Identifier: Apache-2.0
// Prints a Plan, one line per thing, for --dump=plan and goldens.
#include <fmt/format.h>

#include "compiler/base/printable.h"
#include "compiler/resolve/resolve.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

const char* role_name(Handler::Role role) {
  switch (role) {
    case Handler::Role::Body:
      return "body";
    case Handler::Role::Capture:
      return "capture";
    case Handler::Role::Host:
      return "host";
    case Handler::Role::Loader:
      return "loader";
    case Handler::Role::Forked:
      return "forked";
  }
  return "?";
}

const char* form_name(Handler::Form form) {
  switch (form) {
    case Handler::Form::Boundary:
      return "boundary";
    case Handler::Form::Middle:
      return "middle";
    case Handler::Form::Host:
      return "host";
  }
  return "?";
}

const char* when_name(HostProbe::When when) {
  switch (when) {
    case HostProbe::When::Begin:
      return "begin";
    case HostProbe::When::End:
      return "end";
    case HostProbe::When::Oneshot:
      return "oneshot";
    case HostProbe::When::Error:
      return "error";
    case HostProbe::When::Never:
      return "never";
    case HostProbe::When::ProcessBegin:
      return "process-begin";
    case HostProbe::When::ProcessEnd:
      return "process-end";
    case HostProbe::When::Timer:
      return "timer";
    case HostProbe::When::Input:
      return "input";
  }
  return "?";
}

std::string text_of(const TargetPlan& plan) {
  if (const auto* u = std::get_if<Undefined>(&plan)) {
    return "undefined: " + u->reason;
  }
  if (const auto* e = std::get_if<LocExpr>(&plan)) {
    return to_string(*e);
  }
  static const char* const kAs[] = {"signed",        "unsigned", "hex",   "char",   "wide",
                                    "wide unsigned", "text",     "float", "double", "if",
                                    "nothing"};
  std::string text = "text ";
  for (const TargetText::Item& item : std::get<TargetText>(plan).items) {
    text += fmt::format(
        "{}[{}]", item.before,
        item.defined ? std::string(kAs[int(item.as)]) + ": " + to_string(item.value) : "?");
  }
  return text + std::get<TargetText>(plan).after;
}

}  // namespace

std::string dump(const Plan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.modules.size(); i++) {
    out += printable_line("module {} {}{}{}", i, plan.modules[i].path,
                          plan.modules[i].build_id.empty() ? "" : " build-id ",
                          plan.modules[i].build_id);
  }
  for (size_t i = 0; i < plan.sites.size(); i++) {
    const Site& s = plan.sites[i];
    const std::string source = s.file.empty() ? "" : fmt::format(" {}:{}", s.file.str(), s.line);
    out += printable_line("site {} {} module {} {:#x} in {:#x}..{:#x} {}{} handlers {}", i,
                          site_letter(s.kind), s.module, s.address, s.function_begin,
                          s.function_end, function_of(s), source, fmt::join(s.handlers, ","));
  }
  for (size_t i = 0; i < plan.handlers.size(); i++) {
    const Handler& h = plan.handlers[i];
    out += fmt::format("handler {} probe {} {} {}{}\n", i, h.probe, role_name(h.role),
                       form_name(h.form), h.wants_site ? " wants-site" : "");
    if (h.role == Handler::Role::Capture) {
      out += fmt::format("  for handler {}\n", h.capture_for);
    }
    for (size_t t = 0; t < h.targets.size(); t++) {
      out += printable_line("  target {}: {}", t, text_of(h.targets[t]));
    }
    for (size_t c = 0; c < h.capture.values.size(); c++) {
      out += printable_line("  entry {}: {}", c, to_string(h.capture.values[c]));
    }
  }
  for (const HostProbe& h : plan.host_probes) {
    out += printable(fmt::format("host {} {} handler {}", when_name(h.when), h.text, h.handler));
    out += h.when == HostProbe::When::Timer ? fmt::format(" every {} ns", h.interval_ns) : "";
    out += h.random_ns ? fmt::format(" give or take {}\n", h.random_ns) : "\n";
  }
  return out;
}

}  // namespace dj
