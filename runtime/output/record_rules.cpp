// SPDX-License-Identifier: Apache-2.0
// Walks the bodies of probes, and of the functions that they call.
#include "runtime/output/record_rules.h"

#include <cstring>
#include <string_view>

#include "compiler/stages/of_children.h"
#include "compiler/stages/walk.h"
#include "runtime/shared/stat.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

uint32_t form_of(const PrintHist& node) {
  if (node.linear) return abi::kHistLinear;
  return node.bits == 0 ? abi::kHistLog : abi::kHistFine + node.bits;
}

GlobalId global_of(const Expr& place) {
  const auto* element = std::get_if<ElementRef>(&place.node);
  return element != nullptr ? element->array : std::get<GlobalRef>(place.node).global;
}

uint16_t kind_of(std::string_view builtin) {
  if (builtin == "warn") return abi::kEventWarn;
  if (builtin == "system") return abi::kEventSystem;
  return builtin == "switch_file" ? abi::kEventSwitchFile : abi::kEventPad;
}

}  // namespace

struct RecordRules::Look {
  RecordRules& rules;
  const Layout& layout;
  std::vector<bool> functions;

  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
  void operator()(const Expr& expr) {
    if (const auto* print = std::get_if<Print>(&expr.node)) {
      if (print->printed) rules.formats_[print->format] = true;
    } else if (const auto* hist = std::get_if<PrintHist>(&expr.node)) {
      if (!hist->printed) return for_each_child(expr, *this);
      const GlobalSlot& slot = layout.globals[global_of(*hist->place)];
      rules.histograms_.emplace_back(form_of(*hist), slot.shape);
      rules.kinds_[abi::kEventHist] = true;
    } else if (const auto* builtin = std::get_if<CallBuiltin>(&expr.node)) {
      rules.kinds_[kind_of(builtins()[builtin->builtin].name)] = true;
    } else if (const auto* call = std::get_if<CallFunction>(&expr.node)) {
      enter(call->function);
    }
    for_each_child(expr, *this);
  }
  void enter(FunctionId id) {
    if (functions[id]) return;
    functions[id] = true;
    if (const StmtPtr& body = rules.program_.functions[id].body) (*this)(*body);
  }
};

RecordRules::RecordRules(const Program& program, const Plan& plan, const Layout& layout)
    : program_(program),
      plan_(plan),
      kinds_(abi::kEventChildEnds + 1),
      formats_(program.formats.size()) {
  Look look{*this, layout, std::vector<bool>(program.functions.size())};
  for (const Probe& probe : program.probes) {
    if (probe.body) look(*probe.body);
    if (probe.condition) look(*probe.condition);
  }
  kinds_[abi::kEventPad] = false;
  kinds_[abi::kEventPrint] = kinds_[abi::kEventError] = true;
  for (const Handler& handler : plan.handlers) {
    if (handler.role == Handler::Role::Forked) kinds_[abi::kEventChildBegins] = true;
  }
  for (const Site& site : plan.sites) {
    if (site.listed == kChildEnds) kinds_[abi::kEventChildEnds] = true;
  }
  // The first process may have no places for process.end where further ones do.
  for (const std::vector<HostProbe>* hosts : {&plan.host_probes, &plan.added_hosts}) {
    for (const HostProbe& host : *hosts) {
      if (host.when == HostProbe::When::ProcessEnd && plan.awaits_processes)
        kinds_[abi::kEventChildBegins] = kinds_[abi::kEventChildEnds] = true;
    }
  }
}

bool RecordRules::has_site(uint32_t site) const {
  return site == 0 || site < plan_.sites.size() + plan_.host_probes.size() + plan_.dlopened.size();
}

const Format* RecordRules::format(uint32_t number, uint32_t arguments) const {
  if (number >= formats_.size() || !formats_[number]) return nullptr;
  const Format& format = program_.formats[number];
  return arguments == format.arguments.size() ? &format : nullptr;
}

const abi::StatShape* RecordRules::shape(const abi::StatShape& claimed, uint32_t form) const {
  for (const auto& [own_form, own] : histograms_) {
    if (own_form == form && std::memcmp(&own, &claimed, sizeof own) == 0) return &own;
  }
  return nullptr;
}

}  // namespace dj
