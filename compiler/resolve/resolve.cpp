// SPDX-License-Identifier: Apache-2.0
// resolve(): each probe point becomes sites and handlers. One handler serves all sites at which the
// probe's targets lie in the same places.
#include "compiler/resolve/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory_resource>
#include <unordered_map>

#include "compiler/resolve/function_targets.h"
#include "compiler/resolve/liveness.h"
#include "compiler/resolve/module_set.h"
#include "compiler/resolve/other_objects.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/resolve/site_search.h"
#include "compiler/resolve/site_targets.h"
#include "compiler/stages/of_children.h"
#include "compiler/stages/samples.h"
#include "compiler/stages/stack_info.h"
#include "stdlib/builtins.h"

namespace dj {

namespace {

// May the point mean places in objects that the target opens later?
bool may_come_later(const ast::ProbePoint& point) {
  const std::vector<ast::Component>& parts = point.components;
  const bool inside = parts.front().name == "process" && parts.size() > 1;
  const bool library = inside && (parts[1].name == "library" || parts[1].name == "syscall");
  return parts.front().name == "func" || library || (inside && point.optional);
}

// Do the same names with wildcards mean both?
bool is_of(const ast::ProbePoint& one, const ast::ProbePoint& other) {
  return other.wild && one.span.begin == other.span.begin && one.span.file == other.span.file &&
         one.span.via == other.span.via;
}

class Resolver {
 public:
  Resolver(const Program& program, const TargetFiles& files, Diags& diags, bool keep_calls)
      : program_(program),
        modules_(files),
        others_(modules_, files.helpers.compile_headers),
        diags_(diags),
        keep_calls_(keep_calls),
        module_ids_(files.modules.size(), kNoModule) {}

  Plan run() {
    for (ProbeId p = 0; p < program_.probes.size(); p++) {
      add_probe(p);
    }
    plan_function_targets(program_, others_, plan_, diags_);
    order_hosts();
    // Threads' counters lie where the gs base leads: no code that changes it may come unseen.
    const bool counts =
        std::any_of(program_.globals.begin(), program_.globals.end(),
                    [](const Global& global) { return global.storage == Storage::Counter; });
    plan_.awaits_objects = plan_.awaits_objects || (counts && !plan_.sites.empty()) ||
                           (modules_.has_target() && walks_stack(program_));
    if (modules_.is_kernel()) plan_.awaits_objects = false;  // djtap takes its modules as they are
    if (plan_.awaits_objects && modules_.first_new() == 0) {
      add_loader_site();
    }
    // Where no handler says the name of its site only errors do, and the names of thousands of
    // sites would take longer than all else.
    if (named_ || plan_.sites.size() <= kFew) {
      name_functions(plan_.sites,
                     [&](ModuleId id) -> Module& { return *modules_.open(index_of(id)); });
    }
    return std::move(plan_);
  }

 private:
  static constexpr ModuleId kNoModule = ~0u;
  static constexpr size_t kFew = 1000;

  void add_probe(ProbeId id) {
    const Probe& probe = program_.probes[id];
    const uint32_t asked = builtin_flags(program_, probe);
    const bool wants_site = asked & kSite;
    named_ = named_ || (asked & kName);
    for (auto point = probe.points.begin(); point != probe.points.end();) {
      const auto first = point;
      bool added = false;
      if (first->wild) {
        for (; point != probe.points.end() && is_of(*first, *point); ++point) {
          Diags nobody;  // what one of them cannot be, another is
          added = add_point(id, *point, true, wants_site, nobody) || added;
        }
      } else {
        ++point;
      }
      if (!added) {
        added = add_point(id, *first, first->optional || first->sufficient, wants_site, diags_);
      }
      if (first->sufficient && added) {
        break;  // '!': the later points are only alternatives
      }
    }
  }

  // Whether the point means something.
  bool add_point(ProbeId id, const ast::ProbePoint& point, bool optional, bool wants_site,
                 Diags& diags) {
    const ProbeKind* kind = find_kind(point, diags);
    if (!kind) {
      return false;
    }
    const bool dlopened = modules_.first_new() > 0;  // most points mean nothing in these objects
    PointQuery query{point, modules_, diags, dlopened || optional};
    PointMeaning meaning;
    const bool is_elsewhere = searches_other_program(query);
    if (is_elsewhere) query.optional = true;
    if (!is_elsewhere) kind->find(query, meaning);
    plan_.awaits_objects = plan_.awaits_objects || may_come_later(point);
    if (meaning.host && !dlopened) {
      add_host(id, meaning, point);
    }
    point_ = size_t(&point - program_.probes[id].points.data());
    const bool added =
        add_sites(id, meaning.sites, query.optional || meaning.host.has_value(), wants_site);
    add_forks(id, meaning.forks);
    const bool in_library = point.components.size() > 1 && point.components[1].name == "library";
    plan_.expects_objects = plan_.expects_objects || (in_library && !added && !dlopened);
    return added || meaning.host;
  }

  void add_host(ProbeId id, PointMeaning& meaning, const ast::ProbePoint& point) {
    const Probe& probe = program_.probes[id];
    Handler handler;
    const bool sample = is_profile(point);
    if (!plan_host_targets(program_, probe, {to_string(point), !sample}, others_, diags_,
                           handler.targets)) {
      return;
    }
    handler.probe = id;
    handler.role = sample ? Handler::Role::Body : Handler::Role::Host;
    handler.form = Handler::Form::Host;
    handler.wants_site = sample;
    meaning.host->handler = HandlerId(plan_.handlers.size());
    plan_.handlers.push_back(std::move(handler));
    plan_.host_probes.push_back(*meaning.host);
    host_order_.push_back(meaning.order);
  }

  void add_forks(ProbeId id, std::vector<Site>& sites) {
    for (Site& site : sites) {
      if (site.module < modules_.first_new()) continue;
      site.module = module_id(site.module, *modules_.open(site.module));
      Handler handler;
      handler.probe = id;
      handler.role = Handler::Role::Forked;
      handler.form = Handler::Form::Middle;
      plan_.handlers.push_back(std::move(handler));
      attach(std::move(site), HandlerId(plan_.handlers.size() - 1));
    }
  }

  // Installs the probe at all the sites; false when it is at none.
  bool add_sites(ProbeId id, std::vector<Site>& sites, bool optional, bool wants_site) {
    const Probe& probe = program_.probes[id];
    bool added = false;
    if (sites.size() > plan_.sites.size()) {
      constexpr size_t kOthers = 16;  // the loader's: for that one alone all would be moved
      plan_.sites.reserve(plan_.sites.size() + sites.size() + kOthers);
    }
    for (Site& site : sites) {
      if (site.module < modules_.first_new()) {
        continue;
      }
      Module& file = *modules_.open(site.module);
      SiteTargets targets;
      std::vector<TargetMistake> mistakes;
      if (!probe.targets.empty()) {
        mistakes = plan_targets(program_, probe, site, file, others_, targets);
      }
      if (!mistakes.empty() && optional) {
        continue;
      }
      for (const TargetMistake& mistake : mistakes) {
        report_mistake(probe, mistake, site, file, sites.size(), diags_);
      }
      if (!mistakes.empty()) {
        return added;  // the other sites would only repeat it
      }
      site.module = module_id(site.module, file);
      place(id, std::move(site), std::move(targets), wants_site);
      added = true;
    }
    return added;
  }

  // Sites of a probe with one key share a handler.
  std::string handler_key(const Site& site, const SiteTargets& targets) const {
    // At a stub it waits for the callee (result_use.h), so it is one of its own.
    // Behind a call it runs only for calls that were kept: jumps may lead there, too.
    const char waits = site.stub ? 's' : is_behind_call(site) ? 'r' : '-';
    std::string key = {site.kind == SiteKind::Statement ? 'm' : 'b', waits};
    if (needs_kept_call(site)) key += 'f';
    if (site.listed == kChildEnds) {  // the handler tells children from the target
      key += 'c';
    }
    if (!site.file.empty()) {  // lines of several points are hit each, though at one address
      key += fmt::format("#{}", point_);
    }
    if (!targets.targets.empty()) {
      key += key_of(targets);
    }
    return key;
  }

  static bool is_behind_call(const Site& site) {
    return site.call && site.call->returned_from != 0;
  }

  static bool needs_kept_call(const Site& site) {
    return site.syscall && site.syscall->done && site.syscall->others_arrive;
  }

  void place(ProbeId id, Site&& site, SiteTargets&& targets, bool wants_site) {
    const bool returned = is_behind_call(site) || needs_kept_call(site);
    auto [known, fresh] = handlers_.bodies[id].try_emplace(handler_key(site, targets),
                                                           HandlerId(plan_.handlers.size()));
    const HandlerId body = known->second;
    if (fresh) {
      Handler handler;
      handler.probe = id;
      handler.form =
          site.kind == SiteKind::Statement ? Handler::Form::Middle : Handler::Form::Boundary;
      handler.targets = std::move(targets.targets);
      handler.capture = std::move(targets.capture);
      if (returned && handler.capture.values.empty()) {
        handler.capture.values.push_back({{{LocStep::PushConst, 0}}});  // none kept, no run
      }
      handler.wants_site = wants_site;
      plan_.handlers.push_back(std::move(handler));
    }
    const bool captures = returned || !plan_.handlers[body].capture.values.empty() ||
                          (keep_calls_ && site.kind == SiteKind::Return);
    if (!captures) return attach(std::move(site), body);
    Site entry = site;
    attach(std::move(site), body);
    if (entry.syscall) {
      entry.address = entry.syscall->address;
      entry.syscall->done = false;
    } else if (is_behind_call(entry)) {
      entry.address = entry.call->returned_from;
      entry.call->returned_from = 0;
    } else {
      entry.kind = SiteKind::Entry;
      entry.address = entry_address(entry);
    }
    attach(std::move(entry), capture_for(body));
  }

  // The handler that stores entry values for `body`; made once.
  HandlerId capture_for(HandlerId body) {
    auto [known, fresh] = handlers_.captures.try_emplace(body, HandlerId(plan_.handlers.size()));
    if (fresh) {
      Handler handler;
      handler.probe = plan_.handlers[body].probe;
      handler.role = Handler::Role::Capture;
      handler.form = plan_.handlers[body].form;
      handler.capture = plan_.handlers[body].capture;
      handler.capture_for = body;
      plan_.handlers.push_back(std::move(handler));
    }
    return known->second;
  }

  uint64_t entry_address(const Site& site) {
    for (size_t i = 0; i < module_ids_.size(); i++) {
      if (module_ids_[i] == site.module) {
        return modules_.open(i)->entry_of(site.function_begin);
      }
    }
    return site.function_begin;
  }

  // Sites at one place are one site, unless pp() says another line or point of each; a handler
  // stands at a place once.
  void attach(Site&& site, HandlerId handler) {
    // What was inlined at one address are several functions, each with its name.
    const uint64_t place = (site.address * 4 + uint64_t(site.kind)) ^ (site.scope << 40);
    const auto fresh = SiteId(plan_.sites.size());
    const auto [of_module, first] = places_.sites.try_emplace(site.module, &places_.memory);
    auto& known = of_module->second;
    if (first) known.reserve(plan_.sites.capacity() - plan_.sites.size());
    SiteId at = known.try_emplace(place, fresh).first->second;
    std::optional<SiteId> same;
    while (at != fresh) {
      const Site& here = plan_.sites[at];
      if (std::find(here.handlers.begin(), here.handlers.end(), handler) != here.handlers.end()) {
        return;
      }
      const bool is_line = here.file == site.file && (site.file.empty() || here.line == site.line);
      if (is_line && here.listed == site.listed) same = at;
      const auto next = places_.beside.find(at);
      if (next == places_.beside.end() && same) {
        break;
      }
      at = next == places_.beside.end() ? places_.beside.emplace(at, fresh).first->second
                                        : next->second;
    }
    if (!same) {
      plan_.sites.push_back(std::move(site));
      plan_.sites.back().handlers.clear();
      same = fresh;
    }
    plan_.sites[*same].handlers.push_back(handler);
  }

  // Where debuggers, too, are told of objects that come and go.
  void add_loader_site() {
    const std::optional<size_t> loader = modules_.loader();
    Module* file = loader ? modules_.open(*loader) : nullptr;
    const Module::Found found = file ? file->find(NameMatcher("_dl_debug_state")) : Module::Found{};
    if (found.functions.empty()) return;
    Site site = function_site(*loader, *file, found.functions.front(), SiteKind::Entry);
    site.module = module_id(*loader, *file);
    Handler handler;
    handler.role = Handler::Role::Loader;
    const auto id = HandlerId(plan_.handlers.size());
    plan_.handlers.push_back(std::move(handler));
    const size_t before = plan_.sites.size();
    attach(std::move(site), id);
    if (plan_.sites.size() > before) {
      plan_.loader_site = SiteId(before);
    }
  }

  size_t index_of(ModuleId id) const {
    return size_t(std::find(module_ids_.begin(), module_ids_.end(), id) - module_ids_.begin());
  }

  ModuleId module_id(size_t index, const Module& file) {
    module_ids_.resize(std::max(module_ids_.size(), modules_.size()), kNoModule);
    if (module_ids_[index] == kNoModule) {
      module_ids_[index] = ModuleId(plan_.modules.size());
      plan_.modules.push_back({file.path(), file.elf().build_id()});
    }
    return module_ids_[index];
  }

  // begin(1) before begin(2); otherwise as written.
  void order_hosts() {
    std::vector<size_t> order(plan_.host_probes.size());
    for (size_t i = 0; i < order.size(); i++) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return host_order_[a] < host_order_[b]; });
    std::vector<HostProbe> sorted;
    for (size_t i : order) {
      sorted.push_back(plan_.host_probes[i]);
    }
    plan_.host_probes = std::move(sorted);
  }

  const Program& program_;
  ModuleSet modules_;
  OtherObjects others_;
  Diags& diags_;
  bool keep_calls_;
  bool named_ = false;  // some handler says a name of its site
  Plan plan_;
  std::vector<ModuleId> module_ids_;  // by index in modules_
  std::vector<int64_t> host_order_;   // by index in plan_.host_probes
  // Handlers: the plan's, those of one probe by what its targets are in them.
  struct Handlers {
    std::unordered_map<ProbeId, std::unordered_map<std::string, HandlerId>> bodies;
    std::unordered_map<HandlerId, HandlerId> captures;
  };
  Handlers handlers_;
  // Places: the plan's sites by their addresses.
  struct Places {
    std::pmr::monotonic_buffer_resource memory;  // of the next: they only grow
    std::unordered_map<ModuleId, std::pmr::unordered_map<uint64_t, SiteId>> sites;
    std::unordered_map<SiteId, SiteId> beside;  // the next site at the same place
  };
  Places places_;
  size_t point_ = 0;  // the one of its probe that is being added
};

}  // namespace

Plan resolve(const Program& program, const TargetFiles& files, Diags& diags, bool keep_calls) {
  return Resolver(program, files, diags, keep_calls).run();
}

}  // namespace dj
