// Asks debug info for each target of a site. In .return probes variables are entry values: their
// expressions go to the capture, and the body reads the stored words.
#include "compiler/resolve/site_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/resolve/liveness.h"
#include "compiler/resolve/mark_targets.h"
#include "runtime/shared/abi.h"

namespace dj {

namespace {

constexpr int kStackPointer = 7;  // DWARF number

bool is_text(const TargetExpr& expr) { return expr.name.starts_with('$'); }

TargetFailure failure(TargetFailure::Kind kind, std::string message) {
  TargetFailure f;
  f.kind = kind;
  f.message = std::move(message);
  return f;
}

// The capture's slot for this value; none: all are taken.
std::optional<LocExpr> capture_value(const LocExpr& value, ReturnCapture& capture) {
  auto same = std::find(capture.values.begin(), capture.values.end(), value);
  const size_t slot = size_t(same - capture.values.begin());
  if (same == capture.values.end()) {
    if (slot >= abi::kMaxCaptures) {
      return std::nullopt;
    }
    capture.values.push_back(value);
  }
  return LocExpr{{{LocStep::PushEntry, int64_t(slot)}}};
}

// Turns an entry value into a read of the capture, in place.
std::optional<TargetFailure> capture_word(LocExpr& value, ReturnCapture& capture) {
  for (const LocStep& step : value.steps) {
    if (step.op == LocStep::PushArg) {
      return failure(TargetFailure::NotBuilt,
                     "an index that is computed at the return cannot choose an entry value; "
                     "constant indexes can");
    }
  }
  std::optional<LocExpr> stored = capture_value(value, capture);
  if (!stored) {
    return failure(
        TargetFailure::NotBuilt,
        fmt::format("a .return probe can use at most {} entry values", abi::kMaxCaptures));
  }
  value = *stored;
  return std::nullopt;
}

// Looks one target up. The variant's failure is kept apart: it matters only if the target is live.
std::optional<TargetFailure> plan_one(const TargetExpr& expr, const Site& site, DebugInfo& info,
                                      SiteTargets& out, TargetPlan& plan) {
  ProbePlace place = place_of(site);
  const bool at_exit = site.kind == SiteKind::Return;
  const bool result = expr.name == "return" || expr.name == "$return";
  if (at_exit && !result) {
    place.at_return = false;
    place.at_entry = true;
  }
  if (is_text(expr)) {
    TextAnswer answer = info.text(place, expr.name);
    auto* no_info = std::get_if<TargetFailure>(&answer);
    if (no_info && no_info->kind == TargetFailure::NoDebugInfo) {
      plan = TargetText{};  // an assembler function among others: it has no variables to show
      return std::nullopt;
    }
    if (auto* f = std::get_if<TargetFailure>(&answer)) {
      return *f;
    }
    TargetText text = std::get<TargetText>(std::move(answer));
    for (TargetText::Item& item : text.items) {
      if (at_exit && !result && item.defined && capture_word(item.value, out.capture)) {
        item.defined = false;  // more variables than the capture has room for
        item.value = {};
      }
    }
    plan = std::move(text);
    return std::nullopt;
  }
  TargetAnswer answer = info.target(place, expr);
  if (auto* f = std::get_if<TargetFailure>(&answer)) {
    return *f;
  }
  LocExpr value = std::get<LocExpr>(std::move(answer));
  if (at_exit && !result) {
    if (std::optional<TargetFailure> f = capture_word(value, out.capture)) {
      return f;
    }
  }
  plan = std::move(value);
  return std::nullopt;
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
    }
  }
}

void append(std::string& key, int64_t n) {
  key.append(reinterpret_cast<const char*>(&n), sizeof(n));
}

void append(std::string& key, const LocExpr& expr) {
  append(key, int64_t(expr.steps.size()));
  for (const LocStep& s : expr.steps) {
    append(key, s.op);
    append(key, s.a);
    append(key, s.b);
    append(key, s.c);
  }
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
  }
  return "DJ3015";
}

}  // namespace

ProbePlace place_of(const Site& site) {
  ProbePlace place;
  if (site.call) {
    place.pc = place.function_begin = site.call->callee;
    place.at_entry = true;
    return place;
  }
  place.pc = site.kind == SiteKind::Statement ? site.address : site.function_begin;
  place.function_begin = site.function_begin;
  place.at_entry = site.kind == SiteKind::Entry;
  place.at_return = site.kind == SiteKind::Return;
  place.scope = site.scope;
  place.is_clone = is_clone(site.symbol);
  return place;
}

std::vector<TargetMistake> plan_targets(const Program& program, const Probe& probe,
                                        const Site& site, Module& file, SiteTargets& out) {
  const size_t count = probe.targets.size();
  out.targets.assign(count, Undefined{"not used"});
  std::vector<std::optional<TargetFailure>> failures(count);
  std::vector<bool> defined(count);
  const bool elsewhere = site.call && site.call->callee == 0;
  DebugInfo* info = count > 0 && !elsewhere ? file.debug_info() : nullptr;
  for (size_t t = 0; t < count; t++) {
    if (plan_mark_target(probe.targets[t], site, out.targets[t], failures[t])) {
      defined[t] = !failures[t];
      if (failures[t]) {
        out.targets[t] = Undefined{failures[t]->message};
      }
      continue;
    }
    failures[t] = info ? plan_one(probe.targets[t], site, *info, out, out.targets[t])
                       : failure(TargetFailure::NoDebugInfo, "no debug info");
    if (site.call && !site.call->tail) {
      see_as_callee(out.targets[t]);
    }
    defined[t] = !failures[t];
    if (failures[t]) {
      out.targets[t] = Undefined{failures[t]->message};
    }
  }
  const std::vector<bool> live = live_targets(program, probe, defined);
  std::vector<TargetMistake> mistakes;
  // A name that has no value here is one mistake, with whatever members it is used.
  auto said_before = [&](size_t t) {
    return failures[t]->step < 0 &&
           std::any_of(mistakes.begin(), mistakes.end(), [&](const TargetMistake& m) {
             return m.failure.step < 0 && m.failure.message == failures[t]->message &&
                    probe.targets[m.target].name == probe.targets[t].name;
           });
  };
  for (size_t t = 0; t < count; t++) {
    if (live[t] && failures[t] && !said_before(t)) {
      mistakes.push_back({TargetId(t), *failures[t]});
      if (failures[t]->kind == TargetFailure::NoDebugInfo) {
        break;  // the others fail for the same reason
      }
    }
  }
  return mistakes;
}

void report_mistake(const Probe& probe, const TargetMistake& mistake, const Site& site,
                    const Module& file, size_t site_count, Diags& diags) {
  const TargetExpr& expr = probe.targets[mistake.target];
  const TargetFailure& f = mistake.failure;
  const Span span = f.step >= 0 ? expr.path[size_t(f.step)].span : expr.name_span;
  std::string message = f.message;
  if (f.kind == TargetFailure::NoDebugInfo) {
    message = fmt::format("${} is not known: {} has no debug info for {}()", expr.name,
                          file.base_name(), site.function);
  }
  Diag& d = diags.error(code_of(f.kind), span, message);
  d.notes = f.notes;
  if (site_count > 1) {
    d.notes.push_back(fmt::format("in {}() of {}, one of {} places of this probe point",
                                  site.function, file.base_name(), site_count));
  }
  d.help = f.help;
  if (f.kind == TargetFailure::NoDebugInfo) {
    d.help = "compile with -g, or install the package with its debug symbols";
  } else if (f.kind == TargetFailure::UnknownName || f.kind == TargetFailure::UnknownField) {
    const bool name = f.kind == TargetFailure::UnknownName;
    std::vector<std::string> near =
        near_names(name ? expr.name : expr.path[size_t(f.step)].field, f.known);
    for (std::string& n : near) {
      n = (name ? "$" : "") + n;
    }
    d.help = did_you_mean(near);
  } else if (site_count > 1 && d.help.empty()) {
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
      key += text->literal;
      append(key, int64_t(text->items.size()));
      for (const TargetText::Item& item : text->items) {
        append(key, int64_t(item.name.size()));
        key += item.name;
        append(key, int64_t(item.defined) * 8 + int64_t(item.as));
        append(key, item.value);
      }
    }
  }
  for (const LocExpr& value : targets.capture.values) {
    append(key, value);
  }
  return key;
}

}  // namespace dj
