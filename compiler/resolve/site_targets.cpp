// SPDX-License-Identifier: Apache-2.0
// Asks debug info for each target of a site. In .return probes variables are entry values: their
// expressions go to the capture, and the body reads the stored words.
#include "compiler/resolve/site_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/resolve/call_targets.h"
#include "compiler/resolve/liveness.h"
#include "compiler/resolve/mark_targets.h"
#include "compiler/resolve/missing_debug_info.h"
#include "compiler/resolve/raw_value.h"
#include "compiler/resolve/site_search.h"
#include "runtime/shared/abi.h"

namespace dj {

namespace {

constexpr int kStackPointer = 7;  // DWARF number

bool is_list(const TargetExpr& expr) {
  return expr.base == TargetExpr::Variable && expr.name.starts_with('$');
}
bool is_text(const TargetExpr& expr) { return is_list(expr) || expr.pretty > 0; }
bool is_raw(const TargetExpr& expr) {
  return expr.base == TargetExpr::Register || expr.base == TargetExpr::Argument ||
         expr.base == TargetExpr::Call;
}

TargetFailure failure(TargetFailure::Kind kind, std::string message) {
  TargetFailure f;
  f.kind = kind;
  f.message = std::move(message);
  return f;
}

// The capture's slot for this value; none: all are taken.
std::optional<LocExpr> capture_value(const LocExpr& value, bool lenient, ReturnCapture& capture) {
  size_t slot = 0;
  for (; slot < capture.values.size(); slot++) {
    if (capture.values[slot] == value && (capture.lenient >> slot & 1) == lenient) {
      break;
    }
  }
  if (slot == capture.values.size()) {
    if (slot + 1 >= abi::kMaxCaptures) {  // one word is for those that were unreadable
      return std::nullopt;
    }
    capture.values.push_back(value);
    capture.lenient |= uint32_t(lenient) << slot;
  }
  return LocExpr{{{LocStep::PushEntry, int64_t(slot)}}};
}

// In .return probes the items become reads of the capture; those without room become unknown.
void capture_items(TargetText& text, ReturnCapture& capture) {
  for (TargetText::Item& item : text.items) {
    const bool kept = item.defined && !capture_word(item.value, true, capture) &&
                      (item.length.steps.empty() || !capture_word(item.length, true, capture));
    if (!kept) {
      item.defined = false;
      item.value = item.length = {};
    }
  }
}

// Who answers for an expression.
struct Asked {
  DebugInfo* info;  // of the probed object; null: none
  OtherObjects& others;
  const Module& probed;
};

// Steps that wait for a value of the entry.
std::vector<LocStep*> waiting_steps(TargetPlan& plan) {
  std::vector<LocStep*> bases;
  auto look = [&](LocExpr& part) {
    for (LocStep& step : part.steps) {
      if (step.op == LocStep::PushEntry && step.a < 0) {
        bases.push_back(&step);
      }
    }
  };
  if (auto* text = std::get_if<TargetText>(&plan)) {
    for (TargetText::Item& item : text->items) {
      look(item.value);
      look(item.length);
    }
  } else {
    look(std::get<LocExpr>(plan));
  }
  return bases;
}

// The word of the entry that a value read at the exit begins with: the pointer of an @exit(...), or
// where the caller wants the result.
TargetAnswer entry_word(int64_t which, const TargetExpr& expr, const ProbePlace& entry,
                        const Asked& asked) {
  if (which == kEntryResult) {
    return LocExpr{{{LocStep::PushReg, arch::kArgumentRegs[0]}}};
  }
  TargetExpr base{.span = expr.span, .name_span = expr.name_span, .name = expr.name};
  base.address_of = which == kEntryReference;
  return asked.info->target(entry, base);
}

// Of what is read at the exit, the word that it begins with becomes a value of the entry.
std::optional<TargetFailure> keep_base(const TargetExpr& expr, const ProbePlace& entry,
                                       const Asked& asked, ReturnCapture& capture,
                                       TargetPlan& plan) {
  const std::vector<LocStep*> bases = waiting_steps(plan);
  if (bases.empty()) {
    return std::nullopt;  // a variable outside of functions, among others
  }
  TargetAnswer answer = entry_word(bases.front()->a, expr, entry, asked);
  if (auto* f = std::get_if<TargetFailure>(&answer)) {
    return *f;
  }
  LocExpr value = std::get<LocExpr>(std::move(answer));
  if (std::optional<TargetFailure> f = capture_word(value, expr.pretty > 0, capture)) {
    return f;
  }
  for (LocStep* step : bases) {
    step->a = value.steps.front().a;
  }
  return std::nullopt;
}

std::optional<TargetFailure> plan_text(const TargetExpr& expr, const ProbePlace& place,
                                       bool captured, const Asked& asked, SiteTargets& out,
                                       TargetPlan& plan) {
  const bool elsewhere = OtherObjects::asked(expr, asked.probed);
  TextAnswer answer = elsewhere    ? asked.others.text(expr, asked.probed)
                      : asked.info ? asked.info->text(place, expr)
                                   : TextAnswer(TargetText{});
  auto* f = std::get_if<TargetFailure>(&answer);
  if (f && f->kind == TargetFailure::NoDebugInfo && is_list(expr)) {
    plan = TargetText{};  // an assembler function among others: it has no variables to show
    return std::nullopt;
  }
  if (f) {
    return *f;
  }
  TargetText text = std::get<TargetText>(std::move(answer));
  if (captured) {
    capture_items(text, out.capture);
  }
  plan = std::move(text);
  return keep_base(expr, place, asked, out.capture, plan);
}

// $name or @var("name") of a result, which is there at the function's end.
bool is_result(const TargetExpr& expr, const ProbePlace& place, DebugInfo& info) {
  const bool variable = expr.base == TargetExpr::Variable || expr.base == TargetExpr::Var;
  return variable && info.is_result(place.pc, expr.name);
}

// Looks one target up. The variant's failure is kept apart: it matters only if the target is live.
std::optional<TargetFailure> plan_one(const TargetExpr& expr, const Site& site, const Asked& asked,
                                      SiteTargets& out, TargetPlan& plan) {
  ProbePlace place = place_of(site);
  const bool at_exit = place.at_return;
  // What is asked of the exit itself; everything else means the function's entry.
  const bool current =
      expr.base == TargetExpr::Register || expr.base == TargetExpr::Cast ||
      (expr.base == TargetExpr::Variable && (expr.name == "return" || expr.name == "$return")) ||
      (at_exit && asked.info && is_result(expr, place, *asked.info));
  const bool captured = at_exit && !current && !expr.at_exit;
  if (captured || expr.at_exit) {
    place.at_return = false;
    place.at_entry = true;
  }
  const bool elsewhere = OtherObjects::asked(expr, asked.probed);
  if (!asked.info && !is_raw(expr) && !elsewhere) {
    return failure(TargetFailure::NoDebugInfo, "no debug info");
  }
  if (is_text(expr)) {
    return plan_text(expr, place, captured, asked, out, plan);
  }
  TargetAnswer answer = is_raw(expr) ? raw_value(expr, place)
                        : elsewhere  ? asked.others.target(expr, asked.probed)
                                     : asked.info->target(place, expr);
  if (auto* f = std::get_if<TargetFailure>(&answer)) {
    if (at_exit && f->kind == TargetFailure::UnknownName) {
      f->known.push_back("return");
    }
    return *f;
  }
  LocExpr value = std::get<LocExpr>(std::move(answer));
  if (captured) {
    if (std::optional<TargetFailure> f = capture_word(value, false, out.capture)) {
      return f;
    }
  }
  plan = std::move(value);
  return keep_base(expr, place, asked, out.capture, plan);
}

// Before a call the return address is not on the stack yet: the callee will see rsp 8 lower.
void see_as_callee(LocExpr& value) {
  std::vector<LocStep> steps;
  for (const LocStep& step : value.steps) {
    steps.push_back(step);
    if (step.op == LocStep::PushReg && step.a == kStackPointer) {
      steps.push_back({LocStep::PushConst, -8});
      steps.push_back({LocStep::Add});
    }
  }
  value.steps = std::move(steps);
}

void see_as_callee(TargetPlan& plan) {
  if (auto* value = std::get_if<LocExpr>(&plan)) {
    see_as_callee(*value);
  } else if (auto* text = std::get_if<TargetText>(&plan)) {
    for (TargetText::Item& item : text->items) {
      see_as_callee(item.value);
      see_as_callee(item.length);
    }
  }
}

void append(std::string& key, int64_t n) {
  key.append(reinterpret_cast<const char*>(&n), sizeof(n));
}

void append(std::string& key, const std::string& text) {
  append(key, int64_t(text.size()));
  key += text;
}

void append(std::string& key, const LocExpr& expr) {
  append(key, int64_t(expr.steps.size()) * 2 + expr.is_double);
  for (const LocStep& s : expr.steps) {
    append(key, s.op);
    append(key, s.a);
    append(key, s.b);
    append(key, s.c);
  }
}

bool is_unknown(const TargetFailure& f) {
  return f.kind == TargetFailure::UnknownName || f.kind == TargetFailure::UnknownField;
}

const char* code_of(TargetFailure::Kind kind) {
  switch (kind) {
    case TargetFailure::NoDebugInfo:
      return "DJ3010";
    case TargetFailure::UnknownName:
      return "DJ3011";
    case TargetFailure::UnknownField:
      return "DJ3012";
    case TargetFailure::NotHere:
      return "DJ3013";
    case TargetFailure::BadUse:
      return "DJ3014";
    case TargetFailure::NotBuilt:
      return "DJ3015";
    case TargetFailure::NoObject:
      return "DJ3005";
    case TargetFailure::BadHeader:
      return "DJ3021";
  }
  return "DJ3015";
}

}  // namespace

std::optional<TargetFailure> capture_word(LocExpr& value, bool lenient, ReturnCapture& capture) {
  for (const LocStep& step : value.steps) {
    if (step.op == LocStep::PushArg) {
      return failure(TargetFailure::NotBuilt,
                     "an index that is computed at the return cannot choose an entry value; "
                     "constant indexes can");
    }
  }
  std::optional<LocExpr> stored = capture_value(value, lenient, capture);
  if (!stored) {
    return failure(
        TargetFailure::NotBuilt,
        fmt::format("a .return probe can use at most {} entry values", abi::kMaxCaptures - 1));
  }
  stored->is_double = value.is_double;
  stored->is_pointer = value.is_pointer;
  value = *stored;
  return std::nullopt;
}

ProbePlace place_of(const Site& site) {
  ProbePlace place;
  if (site.call) {
    place.pc = place.function_begin = site.call->callee;
    place.at_return = site.call->returned_from != 0;
    place.at_entry = !place.at_return;
    return place;
  }
  place.pc = site.kind == SiteKind::Statement ? site.address : site.function_begin;
  place.function_begin = site.function_begin;
  place.at_entry = site.kind == SiteKind::Entry;
  place.at_return = site.kind == SiteKind::Return;
  place.scope = site.scope;
  place.is_clone = is_clone(site.symbol);
  place.may_return_less = may_return_less(site.symbol);
  return place;
}

namespace {

// The failures that the probe's user must hear of, each once. live: of which targets the value may
// be used.
std::vector<TargetMistake> mistakes_of(const Probe& probe,
                                       const std::vector<std::optional<TargetFailure>>& failures,
                                       const std::vector<bool>& live) {
  std::vector<TargetMistake> mistakes;
  // A name that has no value here is one mistake, with whatever members it is used, also those of
  // a variable of the script that it was assigned to.
  auto said_before = [&](size_t t) {
    return failures[t]->step < 0 &&
           std::any_of(mistakes.begin(), mistakes.end(), [&](const TargetMistake& m) {
             return m.failure.step < 0 && m.failure.message == failures[t]->message &&
                    (probe.targets[m.target].name == probe.targets[t].name ||
                     !probe.targets[t].like.empty());
           });
  };
  for (size_t t = 0; t < failures.size(); t++) {
    if (live[t] && failures[t] && !said_before(t)) {
      mistakes.push_back({TargetId(t), *failures[t]});
      if (failures[t]->kind == TargetFailure::NoDebugInfo) {
        break;  // the others fail for the same reason
      }
    }
  }
  return mistakes;
}

}  // namespace

std::vector<TargetMistake> plan_targets(const Program& program, const Probe& probe,
                                        const Site& site, Module& file, OtherObjects& others,
                                        SiteTargets& out) {
  const size_t count = probe.targets.size();
  out.targets.assign(count, Undefined{"not used"});
  std::vector<std::optional<TargetFailure>> failures(count);
  std::vector<bool> defined(count);
  const bool elsewhere = site.call && site.call->callee == 0;
  const bool asks = !std::all_of(probe.targets.begin(), probe.targets.end(), is_raw);
  for (size_t t = 0; t < count; t++) {
    if (plan_call_target(probe.targets[t], site, out, out.targets[t], failures[t]) ||
        plan_mark_target(probe.targets[t], site, out.targets[t], failures[t])) {
      defined[t] = !failures[t];
      if (failures[t]) {
        out.targets[t] = Undefined{failures[t]->message};
      }
      continue;
    }
    // Opening it unpacks the debug file: not for registers, arguments by number and what calls
    // tell.
    const Asked asked{asks && !elsewhere ? file.debug_info() : nullptr, others, file};
    failures[t] = plan_one(probe.targets[t], site, asked, out, out.targets[t]);
    if (site.call && !site.call->tail && !site.call->returned_from) {
      see_as_callee(out.targets[t]);
    }
    defined[t] = !failures[t];
    if (failures[t]) {
      out.targets[t] = Undefined{failures[t]->message};
    }
  }
  for (LocExpr& value : out.capture.values) {
    if (site.call) {  // taken before the call
      see_as_callee(value);
    }
  }
  return mistakes_of(probe, failures, live_targets(program, probe, defined));
}

Diag& report_failure(const TargetExpr& expr, const TargetFailure& f, Diags& diags) {
  const Span span = f.step >= 0 ? expr.path[size_t(f.step)].span : expr.name_span;
  Diag& d = diags.error(code_of(f.kind), span, f.message);
  d.notes = f.notes;
  d.help = f.help;
  if (f.kind == TargetFailure::NoDebugInfo && f.help.empty()) {
    help_to_debug_info(diags);
  } else if (is_unknown(f)) {
    const bool name = f.kind == TargetFailure::UnknownName;
    std::vector<std::string> near =
        near_names(name ? expr.name : expr.path[size_t(f.step)].field, f.known);
    for (std::string& n : near) {
      n = (name && expr.base == TargetExpr::Variable ? "$" : "") + n;
    }
    d.suggest(near);
  }
  return d;
}

void report_mistake(const Probe& probe, const TargetMistake& mistake, const Site& site,
                    Module& file, size_t site_count, Diags& diags) {
  const TargetExpr& expr = probe.targets[mistake.target];
  const TargetFailure& f = mistake.failure;
  const bool elsewhere = OtherObjects::asked(expr, file);
  Diag& d = report_failure(expr, f, diags);
  const bool no_info = f.kind == TargetFailure::NoDebugInfo;
  if (no_info && !elsewhere) {
    const char* sign = expr.base == TargetExpr::Variable ? "$" : "";
    d.message = fmt::format("{}{} is not known: {} has no debug info for {}()", sign, expr.name,
                            file.base_name(), function_of(site));
    if (f.help.empty()) help_to_debug_info(diags, &file);
  }
  const bool places_differ = site_count > 1 && !elsewhere && !site.syscall;
  if (places_differ) {
    d.notes.push_back(fmt::format("in {}() of {}, one of {} places of this probe point",
                                  function_of(site), file.base_name(), site_count));
  }
  const bool anywhere = !f.notes.empty();  // in the function, though not here
  if (f.kind == TargetFailure::NotHere && is_clone(site.symbol) && !anywhere) {
    d.notes.push_back(fmt::format("{} is a copy of {}() that the compiler made for some callers",
                                  site.symbol, function_of(site)));
    d.help = "its callers have the value; gcc's -fno-ipa-sra -fno-ipa-cp keep the parameters";
  }
  if (!no_info && !is_unknown(f) && places_differ && d.help.empty()) {
    d.help = "'?' behind the probe point leaves such places out; @defined(...) tests for a value";
  }
}

std::string key_of(const SiteTargets& targets) {
  std::string key;
  for (const TargetPlan& plan : targets.targets) {
    append(key, int64_t(plan.index()));
    if (const auto* expr = std::get_if<LocExpr>(&plan)) {
      append(key, *expr);
    } else if (const auto* text = std::get_if<TargetText>(&plan)) {
      append(key, int64_t(text->items.size()));
      for (const TargetText::Item& item : text->items) {
        append(key, item.before);
        append(key, int64_t(item.defined) * 8 + int64_t(item.as));
        append(key, item.limit);
        append(key, item.value);
        append(key, item.length);
        for (const auto& [number, word] : item.names) {
          append(key, number);
          append(key, word);
        }
      }
      append(key, text->after);
    }
  }
  for (const LocExpr& value : targets.capture.values) {
    append(key, value);
  }
  append(key, int64_t(targets.capture.lenient));
  return key;
}

}  // namespace dj
