// SPDX-License-Identifier: Apache-2.0
// Rows of fixed size, and all texts one behind the other.
#include "compiler/resolve/plan_cache.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/packed.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/resolve/liveness.h"
#include "compiler/resolve/probe_kind.h"
#include "compiler/stages/stack_info.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

constexpr size_t kFew = 1000;  // sites: fewer are found in no time

struct SiteRow {
  uint64_t address, begin, end;
  PackedText function, symbol;
  uint32_t handlers_at;  // among all handlers of all sites
  uint16_t module;
  uint8_t kind, handlers;
};
struct ModuleRow {
  PackedText path, build_id;
};
struct HandlerRow {
  ProbeId probe;
  HandlerId capture_for;
  Handler::Role role;
  Handler::Form form;
  uint8_t wants_site, pad = 0;
};
struct HostRow {
  uint64_t interval_ns, random_ns;
  PackedText text;
  HandlerId handler;
  HostProbe::When when;
  uint8_t pad[3] = {};
};
struct PlanRow {
  uint32_t awaits_objects, expects_objects, has_loader_site, loader_site;
};

// Does the point mean places by the names of functions only, and many of them?
bool by_names(const ast::ProbePoint& point) {
  bool wild = false;
  for (const ast::Component& c : point.components) {
    const std::string* text = std::get_if<std::string>(&c.argument);
    if (c.name == "func" || c.name == "function") {
      if (!text || text->find('@') != std::string::npos) return false;
      wild = wild || text->find('*') != std::string::npos;
    } else if (c.name != "process" && c.name != "library" && c.name != "call" &&
               c.name != "return" && c.name != "exported") {
      return false;
    }
  }
  return wild;
}

bool is_host(const ast::ProbePoint& point) {
  constexpr std::string_view kNames[] = {"begin",   "end",   "error", "never",
                                         "oneshot", "timer", "input"};
  const std::string& name = point.components.front().name;
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Empty: there is no such file.
std::string times_of(const std::string& path) {
  const Result<TargetFilePtr> file = open_found_file(path);
  return file.ok() ? path + " " + file.value()->times() : "";
}

// The file and its separate symbols; empty: it has no build-id.
std::string symbols_of(const std::string& path, const std::string& name) {
  Result<ObjectFile> file = ObjectFile::open(path, name);
  if (!file.ok()) return "none " + path;
  const ObjectFile& elf = file.value();
  if (elf.build_id().empty()) return "";
  std::string text = elf.build_id() + " " + path + " " + elf.file().times();
  if (!elf.section(".symtab")) text += " " + times_of(find_debug_file(elf));
  return text;
}

bool is_cached(const Site& site) {
  return site.file.empty() && site.line == 0 && site.scope == 0 && !site.call && !site.mark &&
         !site.stub && !site.syscall && site.listed.empty() && site.handlers.size() < 256 &&
         site.module < 65536;
}

bool is_cached(const Handler& handler) {
  return handler.targets.empty() && handler.capture.values.empty() && !handler.shared_exits;
}

Site site_of(const SiteRow& row, std::span<const char> text, std::span<const HandlerId> handlers,
             bool* whole) {
  Site site;
  site.module = row.module;
  site.kind = static_cast<SiteKind>(row.kind);
  site.address = row.address;
  site.function_begin = row.begin;
  site.function_end = row.end;
  site.function = text_of(text, row.function, whole);
  site.symbol = text_of(text, row.symbol, whole);
  if (row.handlers_at <= handlers.size() && row.handlers <= handlers.size() - row.handlers_at) {
    const auto own = handlers.subspan(row.handlers_at, row.handlers);
    site.handlers.assign(own.begin(), own.end());
  } else {
    *whole = false;
  }
  return site;
}

}  // namespace

std::string plan_key(const Program& program, const TargetFiles& files, bool keep_calls,
                     bool asks_servers) {
  if (!files.has_target || files.first_new != 0) return "";
  std::string key = keep_calls ? "plan, calls kept\n" : "plan\n";
  if (files.may_execute) key += "what is executed later, too\n";
  if (asks_servers) key += "what servers have, too\n";
  if (walks_stack(program)) key += "stacks\n";
  for (const Probe& probe : program.probes) {
    if (!probe.targets.empty()) return "";
    const uint32_t asked = builtin_flags(program, probe);
    key += asked & kName   ? "probe with its site's names\n"
           : asked & kSite ? "probe with its site\n"
                           : "probe\n";
    for (const ast::ProbePoint& point : probe.points) {
      if (!is_host(point) && !by_names(point)) return "";
      key += fmt::format("{}{}{}\n", to_string(point), point.optional ? "?" : "",
                         point.sufficient ? "!" : "");
    }
  }
  for (size_t i = 0; i < files.modules.size(); i++) {
    const std::string& name = files.modules[i];
    const std::string symbols =
        symbols_of(i < files.open_paths.size() ? files.open_paths[i] : name, name);
    if (symbols.empty()) return "";
    key += name + " " + symbols + "\n";
  }
  return key;
}

Wildcards wildcards_of(const Program& program) {
  const auto of_point = [](const ast::ProbePoint& point) {
    const std::vector<ast::Component>& parts = point.components;
    if (!by_names(point)) return Wildcards::None;
    if (parts.front().name == "process") {
      return parts[1].name == "library" ? Wildcards::None : Wildcards::OfExecutable;
    }
    const std::string* text = std::get_if<std::string>(&parts.front().argument);
    const bool is_open = text && text->find('!') == std::string::npos;
    return is_open ? Wildcards::OfAllObjects : Wildcards::None;
  };
  Wildcards most = Wildcards::None;
  for (const Probe& probe : program.probes) {
    for (const ast::ProbePoint& point : probe.points) most = std::max(most, of_point(point));
  }
  return most;
}

bool means_every_function(const Program& program) {
  const auto is_every = [](const ast::Component& part) {
    const std::string* text = std::get_if<std::string>(&part.argument);
    return part.name.starts_with("func") && text && (*text == "*" || text->ends_with("!*"));
  };
  return std::any_of(program.probes.begin(), program.probes.end(), [&](const Probe& probe) {
    return std::any_of(probe.points.begin(), probe.points.end(), [&](const ast::ProbePoint& point) {
      return std::any_of(point.components.begin(), point.components.end(), is_every);
    });
  });
}

std::string pack_plan(const Plan& plan) {
  const bool kept =
      plan.sites.size() >= kFew && plan.first_site == 0 && plan.dlopened.empty() &&
      std::all_of(plan.sites.begin(), plan.sites.end(), [](auto& s) { return is_cached(s); }) &&
      std::all_of(plan.handlers.begin(), plan.handlers.end(), [](auto& h) { return is_cached(h); });
  if (!kept) return "";
  TextPacker texts;
  std::vector<ModuleRow> modules;
  for (const PlanModule& m : plan.modules) {
    modules.push_back({texts.add(m.path), texts.add(m.build_id)});
  }
  std::vector<SiteRow> sites;
  std::vector<HandlerId> called;
  sites.reserve(plan.sites.size());
  called.reserve(plan.sites.size());
  for (const Site& s : plan.sites) {
    sites.push_back({s.address, s.function_begin, s.function_end, texts.add(s.function),
                     texts.add(s.symbol), static_cast<uint32_t>(called.size()),
                     static_cast<uint16_t>(s.module), static_cast<uint8_t>(s.kind),
                     static_cast<uint8_t>(s.handlers.size())});
    called.insert(called.end(), s.handlers.begin(), s.handlers.end());
  }
  std::vector<HandlerRow> handlers;
  for (const Handler& h : plan.handlers) {
    handlers.push_back({h.probe, h.capture_for, h.role, h.form, h.wants_site});
  }
  std::vector<HostRow> hosts;
  for (const HostProbe& h : plan.host_probes) {
    hosts.push_back({h.interval_ns, h.random_ns, texts.add(h.text), h.handler, h.when});
  }
  if (texts.all().size() >= UINT32_MAX) return "";
  const PlanRow all[] = {{plan.awaits_objects, plan.expects_objects, plan.loader_site.has_value(),
                          plan.loader_site.value_or(0)}};
  return all_records(all, modules, sites, called, handlers, hosts, texts.all());
}

std::optional<Plan> unpack_plan(std::span<const char> bytes) {
  std::span<const PlanRow> all;
  std::span<const ModuleRow> modules;
  std::span<const SiteRow> sites;
  std::span<const HandlerId> called;
  std::span<const HandlerRow> handlers;
  std::span<const HostRow> hosts;
  std::span<const char> texts;
  const bool read = take_records(bytes, all) && take_records(bytes, modules) &&
                    take_records(bytes, sites) && take_records(bytes, called) &&
                    take_records(bytes, handlers) && take_records(bytes, hosts) &&
                    take_records(bytes, texts) && bytes.empty() && all.size() == 1;
  if (!read) return std::nullopt;
  bool whole = true;
  Plan plan;
  plan.awaits_objects = all.front().awaits_objects != 0;
  plan.expects_objects = all.front().expects_objects != 0;
  if (all.front().has_loader_site != 0) plan.loader_site = all.front().loader_site;
  for (const ModuleRow& row : modules) {
    plan.modules.push_back({std::string(text_of(texts, row.path, &whole)),
                            std::string(text_of(texts, row.build_id, &whole))});
  }
  plan.sites.reserve(sites.size());
  for (const SiteRow& row : sites) {
    whole = whole && row.module < modules.size();
    plan.sites.push_back(site_of(row, texts, called, &whole));
  }
  for (const HandlerRow& row : handlers) {
    Handler handler;
    handler.probe = row.probe;
    handler.capture_for = row.capture_for;
    handler.role = row.role;
    handler.form = row.form;
    handler.wants_site = row.wants_site != 0;
    plan.handlers.push_back(std::move(handler));
  }
  for (const HostRow& row : hosts) {
    plan.host_probes.push_back({row.when, row.interval_ns, row.random_ns, row.handler,
                                std::string(text_of(texts, row.text, &whole))});
  }
  return whole ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace dj
