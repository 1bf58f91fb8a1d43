// SPDX-License-Identifier: Apache-2.0
// The arena's first contents.
#include "runtime/memory/arena_format.h"

#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <fstream>
#include <variant>

#include "compiler/base/object_point.h"
#include "compiler/base/parallel.h"
#include "compiler/stages/of_children.h"
#include "compiler/stages/walk.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/map.h"
#include "runtime/shared/strings.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

template <typename T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

// --- time ---

// One moment by both clocks.
struct Moment {
  uint64_t tsc = 0, realtime_ns = 0;
};

// The narrowest of a few readings.
Moment read_clocks() {
  Moment best;
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 8; i++) {
    timespec t;
    uint64_t before = __rdtsc();
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t after = __rdtsc();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2,
              static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec)};
    }
  }
  return best;
}

const Moment kProcessStart = read_clocks();

bool tsc_is_steady() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("flags")) {
      return line.find(" constant_tsc") != std::string::npos &&
             line.find(" nonstop_tsc") != std::string::npos;
    }
  }
  return false;
}

// The rate is measured from djtap's start until now. Without a steady TSC tsc_mult stays 0: the
// kernel is asked.
void set_clock(abi::Header& header) {
  Moment now = read_clocks();
  header.session_start_tsc = now.tsc;
  uint64_t ticks = now.tsc - kProcessStart.tsc;
  constexpr uint64_t kEnough = 1 << 20;
  if (!tsc_is_steady() || ticks < kEnough || now.realtime_ns <= kProcessStart.realtime_ns) {
    return;
  }
  unsigned __int128 elapsed = now.realtime_ns - kProcessStart.realtime_ns;
  header.tsc_base = now.tsc;
  header.time_base_ns = now.realtime_ns;
  header.tsc_mult = static_cast<uint64_t>((elapsed << abi::kTscShift) / ticks);
}

// --- text ---

using TextRef = abi::ArenaRef<const abi::Str>;

class Texts {
 public:
  // intern: strings_intern_constant() before the first handler runs, then strings_intern_name().
  using Intern = const abi::Str*(const abi::Header*, const char*, uint32_t);
  Texts(const abi::Header& header, Intern* intern) : header_(header), intern_(intern) {}
  // The interned text; none when the budget is used up (remembered). Any thread may ask.
  TextRef operator()(std::string_view text) {
    text = text.substr(0, abi::kMostStringBytes);
    const abi::Str* str = intern_(&header_, text.data(), static_cast<uint32_t>(text.size()));
    if (str == nullptr) {
      full_ = true;
      return {};
    }
    return {static_cast<uint32_t>(abi::ref_to(&header_, str))};
  }
  bool full() const { return full_; }

 private:
  const abi::Header& header_;
  Intern* intern_;
  std::atomic<bool> full_ = false;
};

bool is_of_children(const Site& site) {
  return site.listed == kChildBegins || site.listed == kChildEnds;
}

// A process that was forked says of its begin and end what djtap says of the target's.
std::string host_point(const Plan& plan, const Site& site) {
  const HostProbe::When when =
      site.listed == kChildBegins ? HostProbe::When::ProcessBegin : HostProbe::When::ProcessEnd;
  for (HandlerId id : site.handlers) {
    for (const HostProbe& host : plan.host_probes) {
      const bool same = plan.handlers[host.handler].probe == plan.handlers[id].probe;
      if (same && host.when == when) return host.text;
    }
  }
  return "process." + site.listed.str();
}

// The probe point as pp() says it: fully resolved.
std::string probe_point(const Plan& plan, const Site& site) {
  if (is_of_children(site) && !site.handlers.empty()) return host_point(plan, site);
  if (site.listed.str().starts_with("thread.")) return "process." + site.listed.str();
  if (site.syscall) return site.syscall->done ? "process.syscall.return" : "process.syscall";
  std::string text = object_point(plan.modules[site.module].path) + ".";
  if (!site.listed.empty()) return text + site.listed.str();
  text += site.kind == SiteKind::Statement ? "statement(\"" : "function(\"";
  text += site.function;
  if (!site.file.empty()) {
    text += "@" + site.file.str() + ":" + std::to_string(site.line);
  }
  text += "\")";
  return site.kind == SiteKind::Return ? text + ".return" : text;
}

// Which names of its site some handler may ask for.
struct Asked {
  bool function = true, point = true;

  Asked() = default;  // it is not known: all
  explicit Asked(const Program& program) : function(false), point(false) {
    for (const Probe& probe : program.probes) {
      if (probe.body) look(*probe.body);
      if (probe.condition) look(*probe.condition);
    }
    for (const Function& own : program.functions) {
      if (own.body) look(*own.body);
    }
  }

 private:
  template <typename Node>
  void look(const Node& node) {
    if constexpr (std::is_same_v<Node, Expr>) {
      if (const auto* call = std::get_if<CallBuiltin>(&node.node)) {
        const std::string_view name = builtins()[call->builtin].name;
        function = function || name == "probefunc" || name == "ppfunc";
        point = point || name == "pp";
      }
    }
    const auto deeper = [this](const auto& child) { look(child); };
    for_each_child(node, deeper);
  }
};

void write_sites(const abi::Header& header, const Plan& plan, const Asked& asked, Texts& texts) {
  if (!header.sites.is_set()) return;
  abi::SiteInfo* info = header.sites.get(abi::arena_of(&header)) + plan.first_site;
  std::vector<TextRef> paths;
  for (const PlanModule& module : plan.modules) {
    paths.push_back(texts(module.path));
  }
  parallel<kLightChunk>(plan.sites.size(), [&](size_t i) {
    const Site& site = plan.sites[i];
    abi::SiteInfo& row = info[i];
    if (!site.function.empty()) {  // else no handler will ask for a name
      const std::string name = is_of_children(site) ? "" : site.function;
      const TextRef function = asked.function ? texts(name) : TextRef();
      const TextRef point = asked.point ? texts(probe_point(plan, site)) : TextRef();
      row = {function, function, point, paths[site.module]};
    }
    row.pc = site.kind == SiteKind::Return ? site.function_begin : site.address;
    row.boundary = site.kind != SiteKind::Statement;
  });
  info += plan.sites.size();
  for (const HostProbe& probe : plan.host_probes) {
    *info++ = {texts(""), texts(""), texts(probe.text), texts("")};
  }
}

// --- globals ---

void write_global(const abi::Header& header, const Layout& layout, const Global& global,
                  const GlobalSlot& slot, Texts& texts) {
  if (slot.shape_address != 0) {
    *at<abi::StatShape>(slot.shape_address) = slot.shape;
  }
  if (global.storage == Storage::Array) {
    abi::map_init(at<abi::Map>(slot.address), map_form(global, slot, layout),
                  slot.data - layout.base);
  } else if (global.storage == Storage::Scalar) {
    uint64_t& word = *at<uint64_t>(slot.address);
    word = 0;
    if (const int64_t* number = std::get_if<int64_t>(&global.init)) {
      word = static_cast<uint64_t>(*number);
    } else if (const double* value = std::get_if<double>(&global.init)) {
      word = std::bit_cast<uint64_t>(*value);
    } else if (const std::string* text = std::get_if<std::string>(&global.init)) {
      word = texts(*text).offset;
    }
  } else if (global.storage == Storage::Counter) {
    // Of all rows only their sum is ever seen.
    if (const int64_t* number = std::get_if<int64_t>(&global.init)) {
      header.counters.get(layout.arena())[slot.counter] = *number;
    }
  }
}

}  // namespace

Status add_dlopened_sites(const abi::Header& header, uint64_t handlers, const Plan& plan) {
  if (plan.first_site + plan.sites.size() > header.site_count) {
    return Error{"more than " + std::to_string(kDlopenedSites) +
                 " sites in objects, programs and probes that came later"};
  }
  if (plan.first_handler + plan.handlers.size() > handlers) {
    return Error{"more than " + std::to_string(kDlopenedHandlers) +
                 " handlers of objects, programs and probes that came later"};
  }
  Texts texts(header, abi::strings_intern_name);
  write_sites(header, plan, Asked(), texts);
  return texts.full() ? Status(Error{"no string memory is left for the names of probes in objects "
                                     "that were opened later (-D STRINGBYTES=...)"})
                      : ok_status();
}

namespace {

Status check_room(const Texts& texts, const Layout& layout) {
  if (!texts.full()) return ok_status();
  return Error{"the script's strings and probe names need more than " +
               std::to_string(layout.limits.string_bytes >> 20) +
               " MB of string memory (-D STRINGBYTES=...)"};
}

// From these on.
void write_globals(const abi::Header& header, const Layout& layout, const Program& program,
                   size_t first_global, size_t first_text, Texts& texts) {
  for (size_t i = first_text; i < layout.strings.texts.size(); i++) {
    *at<TextRef>(layout.strings.words[i]) = texts(layout.strings.texts[i]);
  }
  for (size_t i = first_global; i < program.globals.size(); i++) {
    write_global(header, layout, program.globals[i], layout.globals[i], texts);
  }
}

}  // namespace

Status add_globals(const abi::Header& header, const Layout& layout, const Program& program,
                   size_t first_global, size_t first_text) {
  Texts texts(header, abi::strings_intern_name);
  write_globals(header, layout, program, first_global, first_text, texts);
  return check_room(texts, layout);
}

Result<abi::Header> format_arena(std::span<uint8_t> arena, const Layout& layout,
                                 const Program& program, const Plan& plan,
                                 const SessionFacts& facts) {
  CHECK(reinterpret_cast<uint64_t>(arena.data()) == layout.base && arena.size() >= layout.bytes);
  CHECK(program.globals.size() == layout.globals.size());
  abi::Header header = layout.header;
  header.magic = abi::kMagic;
  header.version = abi::kVersion;
  header.target_pid = static_cast<uint64_t>(facts.target_pid);
  header.target_own_pid = static_cast<uint64_t>(facts.target_own_pid);
  header.first_pid = header.target_pid;
  header.first_own_pid = header.target_own_pid;
  header.follows_execs = facts.follows_execs;
  header.ticket = facts.ticket;
  header.errno_offset = facts.errno_offset;
  header.first_stack = facts.first_stack;
  header.trap_table = {};
  header.controller = static_cast<uint64_t>(getpid());
  const auto string_bytes = static_cast<uint64_t>(layout.limits.string_bytes);
  abi::strings_init(header.strings.get(layout.arena()), layout.strings.data - layout.base,
                    string_bytes, layout.strings.constants - layout.base, string_bytes);
  if (header.captures.is_set()) {
    abi::captures_init(header.captures.get(layout.arena()), layout.words.captures - layout.base,
                       capture_handlers(plan));
  }
  if (header.stack_tables.is_set()) {
    std::copy(facts.stack_tables.begin(), facts.stack_tables.end(),
              at<uint8_t>(header.stack_tables.address(layout.arena())));
  }
  Texts texts(header, abi::strings_intern_constant);
  write_globals(header, layout, program, 0, 0, texts);
  write_sites(header, plan, Asked(program), texts);
  set_clock(header);
  *at<abi::Header>(layout.base) = header;
  DJ_TRY_DO(check_room(texts, layout));
  return header;
}

}  // namespace dj
