// SPDX-License-Identifier: Apache-2.0
// Probe kinds .inline, .label, .callee and .callees: places inside of functions that debug info or
// the code itself names.
#include <fmt/format.h>
#include <fnmatch.h>

#include <set>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/source_path.h"
#include "compiler/resolve/copy_entry.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

// listed: as Site has it.
void add_inlined(size_t module, Module& file, const InlineHit& hit, std::string listed,
                 std::vector<Site>& sites, SearchTally& tally) {
  if (std::optional<Site> site = inner_site(module, file, copy_entry(file, hit), tally)) {
    site->function = hit.name;
    site->file = hit.declared.file;
    site->line = hit.declared.line;
    site->scope = hit.scope;
    site->listed = std::move(listed);
    sites.push_back(std::move(*site));
  }
}

void search_inlined(size_t module, Module& file, const FunctionPattern& pattern,
                    std::vector<Site>& sites, SearchTally& tally) {
  const NameMatcher matcher = pattern.matcher();
  if (!file.debug_info()) {
    if (!file.find(matcher).functions.empty()) {
      tally.without_debug_info.push_back(file.base_name());
    }
    return;
  }
  const std::vector<InlineHit> hits = file.debug_info()->inlined(matcher);
  const auto folder_of = [&](const InlineHit& hit) {
    const bool is_whole = pattern.file.starts_with('/');
    return is_whole ? file.debug_info()->compile_folder(hit.address) : std::string();
  };
  for (const InlineHit& hit : hits) {
    if (pattern.file.empty() ||
        source_path_matches(pattern.file, hit.declared.file, folder_of(hit))) {
      const std::string listed = fmt::format("function(\"{}@{}:{}\").inline", hit.name,
                                             hit.declared.file, hit.declared.line);
      add_inlined(module, file, hit, listed, sites, tally);
    }
  }
  if (hits.empty() && !file.find(matcher).functions.empty()) {
    tally.missing = fmt::format("{} is not inlined anywhere in {}", pattern.name, file.base_name());
  }
}

void find_inline(PointQuery& query, PointMeaning& meaning) {
  find_in_objects(query, name_component(query), search_inlined, meaning);
}

void find_label(PointQuery& query, PointMeaning& meaning) {
  const std::string wanted = query.text(*query.component("label"));
  auto search = [&](size_t module, Module& file, const FunctionPattern& pattern,
                    std::vector<Site>& sites, SearchTally& tally) {
    const Module::Found found = file.find(pattern.matcher());
    if (!found.functions.empty() && !file.debug_info()) {
      tally.without_debug_info.push_back(file.base_name());
      return;
    }
    for (const CodeFunction& function : found.functions) {
      tally.missing =
          fmt::format("{} has {}label \"{}\"",
                      pattern.is_wild() ? "none of the functions" : file.name_of(function),
                      pattern.is_wild() ? "a " : "no ", wanted);
      for (const LabelHit& label : file.debug_info()->labels(function.begin)) {
        tally.known.push_back(label.name);
        if (fnmatch(wanted.c_str(), label.name.c_str(), 0) != 0) {  // also [a-z], as SystemTap
          continue;
        }
        if (std::optional<Site> site = inner_site(module, file, label.address, tally)) {
          site->line = label.line;
          site->listed =
              fmt::format("function(\"{}\").label(\"{}\")", file.name_of(function), label.name);
          sites.push_back(std::move(*site));
        }
      }
    }
  };
  find_in_objects(query, name_component(query), search, meaning);
}

std::string callee_listed(Module& file, const CodeFunction& caller, const std::string& callee) {
  return fmt::format("function(\"{}\").callee(\"{}\")", file.name_of(caller), callee);
}

// CalleeSearch: what functions of one module call. Calls are found in the code, inlined copies in
// debug info.
class CalleeSearch {
 public:
  // Calls and inlined copies, calls alone, or where calls have returned.
  enum class Which { All, Calls, Returns };

  CalleeSearch(size_t module, Module& file, std::string name, Which which, std::vector<Site>& sites,
               SearchTally& tally)
      : module_(module),
        file_(file),
        matcher_(name),
        name_(std::move(name)),
        which_(which),
        sites_(sites),
        tally_(tally) {}

  void add(const CodeFunction& caller, int64_t depth) {
    if (depth <= 0 || !visited_.insert(caller.begin).second) {
      return;
    }
    DebugInfo* info = which_ == Which::All ? file_.debug_info() : nullptr;
    if (info) {
      for (const InlineHit& hit : info->inlined(matcher_, caller.begin)) {
        tally_.known.push_back(hit.name);
        add_inlined(module_, file_, hit, callee_listed(file_, caller, hit.name), sites_, tally_);
      }
    }
    const Bytes code = file_.elf().at(caller.begin);
    const size_t size = std::min<size_t>(code.size(), caller.end - caller.begin);
    for (const arch::CallSite& call : arch::calls_in(code.first(size), caller.begin)) {
      add_call(caller, call, depth);
    }
  }

 private:
  void add_call(const CodeFunction& caller, const arch::CallSite& call, int64_t depth) {
    std::optional<CodeFunction> callee;
    std::string name;
    const Plt& plt = file_.plt();
    auto slot = plt.slots.find(call.slot);
    if (const PltEntry* stub = call.target ? plt.at(call.target) : nullptr) {
      name = person_name(stub->name);
    } else if (call.slot && slot != plt.slots.end()) {
      name = person_name(slot->second);
    } else if (call.target) {
      callee = file_.function_at(call.target);
      if (!callee || callee->begin != call.target) {
        return;
      }
      name = file_.name_of(*callee);
    }
    if (name.empty()) {
      return;
    }
    tally_.known.push_back(name);
    if (glob_match(name_, name)) {
      add_site(caller, call, name, callee ? callee->begin : 0);
    }
    if (callee) {
      add(*callee, depth - 1);
    }
  }

  void add_site(const CodeFunction& caller, const arch::CallSite& call, const std::string& name,
                uint64_t callee) {
    const bool behind = which_ == Which::Returns;
    if (behind && (call.tail || call.next >= caller.end)) {
      return;  // it comes back to the caller's caller, or never
    }
    const uint64_t address = behind ? call.next : call.address;
    if (std::optional<Site> site = inner_site(module_, file_, address, tally_)) {
      site->function = name;
      site->call = CallOf{callee, call.tail, behind ? call.address : 0};
      site->listed = callee_listed(file_, caller, name) + (behind ? ".return" : "");
      sites_.push_back(std::move(*site));
    }
  }

  const size_t module_;
  Module& file_;
  const NameMatcher matcher_;
  const std::string name_;
  const Which which_;
  std::vector<Site>& sites_;
  SearchTally& tally_;
  std::set<uint64_t> visited_;
};

void find_callees(PointQuery& query, CalleeSearch::Which which, PointMeaning& meaning) {
  const ast::Component* one = query.component("callee");
  const ast::Component* all = query.component("callees");
  const auto* given = all ? std::get_if<int64_t>(&all->argument) : nullptr;
  const int64_t depth = given ? *given : 1;
  if (depth < 1) {
    query.diags.error("DJ3002", all->argument_span, "callees takes a depth of 1 or more");
    return;
  }
  const std::string wanted = one ? query.text(*one) : "*";
  auto search = [&](size_t module, Module& file, const FunctionPattern& pattern,
                    std::vector<Site>& sites, SearchTally& tally) {
    CalleeSearch callees(module, file, wanted, which, sites, tally);
    for (const CodeFunction& function : file.find(pattern.matcher()).functions) {
      const std::string callee = one ? "\"" + wanted + "\"" : "any function by name";
      tally.missing = pattern.is_wild()
                          ? fmt::format("none of the functions calls {}", callee)
                          : fmt::format("{} does not call {}", file.name_of(function), callee);
      callees.add(function, depth);
    }
  };
  find_in_objects(query, name_component(query), search, meaning);
}

template <CalleeSearch::Which which>
void find_callee(PointQuery& query, PointMeaning& meaning) {
  find_callees(query, which, meaning);
}
constexpr auto kFindAll = find_callee<CalleeSearch::Which::All>;
constexpr auto kFindCalls = find_callee<CalleeSearch::Which::Calls>;
constexpr auto kFindReturns = find_callee<CalleeSearch::Which::Returns>;

constexpr ProbeKind kInsideKinds[] = {
    {"<function>.inline", find_inline},
    {"<function>.label(s)", find_label},
    {"<function>.callee(s)", kFindAll},
    {"<function>.callee(s).call", kFindCalls},
    {"<function>.callee(s).return", kFindReturns},
    {"<function>.callees", kFindAll},
    {"<function>.callees.call", kFindCalls},
    {"<function>.callees.return", kFindReturns},
    {"<function>.callees(n)", kFindAll},
    {"<function>.callees(n).call", kFindCalls},
    {"<function>.callees(n).return", kFindReturns},
};

}  // namespace

std::span<const ProbeKind> inside_kinds() { return kInsideKinds; }

void find_inlined_copies(PointQuery& query, PointMeaning& meaning) { find_inline(query, meaning); }

}  // namespace dj
