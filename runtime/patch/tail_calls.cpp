// SPDX-License-Identifier: Apache-2.0
// Following tail calls from function to function, also of other modules.
#include "runtime/patch/tail_calls.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "arch/x86_64/entry_place.h"
#include "compiler/stages/result_use.h"
#include "runtime/shared/capture.h"

namespace dj {
namespace {

uint64_t entry_of(const ModuleCode& code, uint64_t begin) {
  return arch::entry_place(arch::bytes_at(code.text, begin), begin);
}

int rank(const PatchCall& call) {
  constexpr int kLast = 9;
  if (call.kind == PatchCall::Object) return kLast;  // it may not come back
  if (call.kind == PatchCall::Land) return 0;
  if (!call.at_exit) return call.kind == PatchCall::Leave ? 2 : 1;
  return (call.kind == PatchCall::Leave ? 5 : 3) +
         (call.kind == PatchCall::Leave ? !call.shared : call.shared);
}

}  // namespace

TailCalls::TailCalls(const Plan& plan, const std::vector<MappedModule>& modules, ModuleCodes& codes,
                     size_t first_module, const ReadWord& read_word)
    : plan_(plan),
      modules_(modules),
      codes_(codes),
      first_module_(first_module),
      imports_(modules, read_word),
      waiting_(handlers_of_results(plan)) {}

// Null: not all of them are known.
const arch::Exits* TailCalls::exits_of(FunctionAt function) {
  Result<ModuleCode*> code = codes_.get(modules_[function.first]);
  if (!code.ok()) return nullptr;
  const arch::FunctionRange range = code.value()->checker->function_from(function.second);
  if (range.end == 0) return nullptr;
  const arch::Exits& exits = code.value()->exits(range.begin, range.end);
  return exits.complete ? &exits : nullptr;
}

void TailCalls::follow(FunctionAt function, HandlerId handler, SiteId site) {
  if (followed_.insert({function, handler}).second) steps_.push_back({function, handler, site});
}

std::optional<FunctionAt> TailCalls::callee(size_t module, const arch::Exit& exit) {
  const auto known = [this](const std::optional<FunctionAt>& function) {
    return function && function->first >= first_module_ && exits_of(*function) != nullptr;
  };
  std::optional<FunctionAt> function;
  if (exit.tail_target != 0) {
    function = FunctionAt{module, exit.tail_target};
  } else if (exit.tail_slot != 0) {
    function = imports_.bound(module, exit.tail_slot);
    if (!known(function)) function = imports_.by_name(module, exit.tail_slot);
  }
  return known(function) ? function : std::nullopt;
}

PatchCall TailCalls::leave(SiteId site, HandlerId handler, size_t module, const arch::Exit& exit) {
  PatchCall call{site, handler, arch::Form::Boundary, 0, true, PatchCall::Leave, 0, false};
  const std::optional<FunctionAt> to = callee(module, exit);
  if (!to) {
    call.exit |= abi::kExitUnseen;
  } else {
    follow(*to, handler, site);
  }
  return call;
}

// The calls of a probed function's exit, by the handlers of its Return site.

std::vector<PatchCall> TailCalls::calls_at(SiteId site, size_t module, const arch::Exit& exit) {
  std::vector<PatchCall> calls;
  for (HandlerId h : plan_.sites[site].handlers) {
    const Handler& handler = plan_.handlers[h];
    if (exit.tail_jump && waiting_[h]) {
      calls.push_back(leave(site, h, module, exit));
      calls.back().exit |= abi::kExitOwn;
      if (!handler.capture.values.empty()) calls.back().exit |= abi::kExitKeepsValues;
    } else {
      calls.push_back(body_call(plan_, site, h, true));
    }
  }
  return calls;
}

// Behind the entry's Land, which has told a new call from one that somebody jumped here with.
CallsAt TailCalls::keep_at_entry(SiteId site, size_t module) {
  const uint64_t begin = plan_.sites[site].function_begin;
  CallsAt entry{{.address = entry_of(*codes_.get(modules_[module]).value(), begin)}, {}, {}};
  for (HandlerId h : plan_.sites[site].handlers) {
    PatchCall call{site, h, arch::Form::Boundary, true, false, PatchCall::Leave, 0, false};
    call.exit = abi::kExitAtEntry | abi::kExitOwn | abi::kExitOfCallee;
    if (!plan_.handlers[h].capture.values.empty()) call.exit |= abi::kExitKeepsValues;
    entry.calls.push_back(call);
    follow({module, begin}, h, site);
  }
  return entry;
}

std::vector<CallsAt> TailCalls::own_places(SiteId site, size_t module, const arch::Exits& exits) {
  std::vector<CallsAt> places;
  if (exits.shared) {
    places.push_back(keep_at_entry(site, module));
    return places;
  }
  for (const arch::Exit& exit : exits.exits) {
    places.push_back({exit.region, exit.leaving, calls_at(site, module, exit)});
  }
  return places;
}

bool TailCalls::any_seen(SiteId site, size_t module, const arch::Exits& exits) {
  const std::vector<HandlerId>& handlers = plan_.sites[site].handlers;
  if (std::none_of(handlers.begin(), handlers.end(), [&](HandlerId h) { return waiting_[h]; })) {
    return true;
  }
  return std::any_of(exits.exits.begin(), exits.exits.end(), [&](const arch::Exit& exit) {
    return !exit.tail_jump || callee(module, exit);
  });
}

const char* TailCalls::why_unseen(SiteId site) const {
  if (!plan_.sites[site].stub) return "tail call: the result is not known where the function ends";
  return first_module_ == 0
             ? "linkage stub: what it leads to is not known, or not probed"
             : "linkage stub: what it leads to was there before this library, or is not known";
}

std::optional<TailCalls::Step> TailCalls::next() {
  if (steps_.empty()) return {};
  const Step step = steps_.front();
  steps_.pop_front();
  return step;
}

std::vector<CallsAt> TailCalls::places(const Step& step) {
  const auto [module, begin] = step.function;
  const arch::Exits& exits = *exits_of(step.function);
  std::vector<CallsAt> places;
  PatchCall call{step.site, step.handler, arch::Form::Boundary, 0, false, PatchCall::Land, 0, true};
  // A loop would look like calls; without the call at the entry only the return address tells a
  // call that was left by an exception from a new one.
  if (!exits.loops_to_entry) {
    const uint64_t entry = entry_of(*codes_.get(modules_[module]).value(), begin);
    places.push_back({arch::Region{.address = entry}, {}, {call}});
  }
  for (const arch::Exit& exit : exits.exits) {
    if (exit.tail_jump && waiting_[step.handler]) {
      call = leave(step.site, step.handler, module, exit);
    } else {
      call.kind = PatchCall::Body;
      call.exit = 0;
    }
    call.at_exit = call.shared = true;
    call.exit |= abi::kExitOfCallee;
    places.push_back({exit.region, exit.leaving, {call}});
  }
  return places;
}

void find_exits(Plan& plan, const std::vector<MappedModule>& modules, bool keeps_calls,
                ModuleCodes& codes) {
  for (const Site& site : plan.sites) {
    if (site.kind != SiteKind::Return) continue;
    const std::string& path = plan.modules[site.module].path;
    auto mapped = std::find_if(modules.begin(), modules.end(),
                               [&](const MappedModule& module) { return module.path == path; });
    if (mapped == modules.end()) continue;
    Result<ModuleCode*> code = codes.get(*mapped);
    if (!code.ok()) continue;
    const arch::Exits& found = code.value()->exits(site.function_begin, site.function_end);
    plan.exits += found.exits.size();
    if (!found.shared || !keeps_calls) continue;
    for (HandlerId h : site.handlers) plan.handlers[h].shared_exits = true;
  }
}

void order_calls(std::vector<PatchCall>& calls) {
  if (calls.size() > 1) {  // it takes memory, and most places have one
    std::stable_sort(calls.begin(), calls.end(),
                     [](const PatchCall& a, const PatchCall& b) { return rank(a) < rank(b); });
  }
  // The function's own calls leave beside those that it was going to return for.
  for (PatchCall& own : calls) {
    const bool both = std::any_of(calls.begin(), calls.end(), [&](const PatchCall& other) {
      return other.shared && other.kind == PatchCall::Leave && other.handler == own.handler;
    });
    if (own.kind == PatchCall::Leave && both) own.exit |= abi::kExitOfCallee;
  }
}

void drop_lone_captures(const Plan& plan, std::vector<PatchSite>& places) {
  std::set<std::tuple<HandlerId, ModuleId, uint64_t>> unseen;
  for (const PatchSite& place : places) {
    if (place.state != SiteState::Skipped || place.reason == kNeverReturns) continue;
    for (SiteId id : place.owners) {
      const Site& site = plan.sites[id];
      if (site.kind != SiteKind::Return) continue;
      for (HandlerId h : site.handlers) unseen.emplace(h, site.module, site.function_begin);
    }
  }
  if (unseen.empty()) return;
  const auto is_lone = [&](const PatchCall& call) {
    if (call.kind != PatchCall::Body) return false;
    const Handler& handler = plan.handlers[call.handler];
    const Site& site = plan.sites[call.site];
    return handler.role == Handler::Role::Capture &&
           unseen.contains({handler.capture_for, site.module, site.function_begin});
  };
  std::erase_if(places, [&](PatchSite& place) {
    return std::erase_if(place.calls, is_lone) > 0 && place.calls.empty() && !place.hook;
  });
}

}  // namespace dj
