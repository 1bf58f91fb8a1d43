// SPDX-License-Identifier: Apache-2.0
// Probe kinds process.thread.begin and process.thread.end: where the C library's start_thread()
// begins, and where it takes the number of the exit system call to leave.
#include <fmt/format.h>

#include "arch/x86_64/calls.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

constexpr uint32_t kExitSyscall = 60;

// The sites of `search` in each object that has a start_thread().
template <typename Search>
void find_threads(PointQuery& query, PointMeaning& meaning, Search search) {
  const ast::Component& c = query.point.components.back();
  const size_t errors = query.diags.error_count();
  searched_objects(query, {}, query.point.span);
  if (query.diags.error_count() != errors) {
    return;
  }
  search_c_library(query, "start_thread", search);
  if (meaning.sites.empty() && !query.optional) {
    query.diags
        .error("DJ3020", c.name_span, "the C library's start_thread() is not known: it is stripped")
        .help = "install its debug symbols (Debian: libc6-dbg)";
  }
}

void find_begin(PointQuery& query, PointMeaning& meaning) {
  find_threads(query, meaning, [&](size_t module, Module& file, const CodeFunction& function) {
    meaning.sites.push_back(function_site(module, file, function, SiteKind::Entry));
    meaning.sites.back().listed = "thread.begin";
  });
}

void find_end(PointQuery& query, PointMeaning& meaning) {
  find_threads(query, meaning, [&](size_t module, Module& file, const CodeFunction& function) {
    const Bytes code = file.elf().at(function.begin);
    const size_t size = std::min<size_t>(code.size(), function.end - function.begin);
    for (uint64_t address : arch::constant_loads(code.first(size), function.begin, kExitSyscall)) {
      Site site = function_site(module, file, function, SiteKind::Statement);
      site.address = address;
      site.listed = "thread.end";
      meaning.sites.push_back(std::move(site));
    }
  });
}

constexpr ProbeKind kThreadKinds[] = {
    {"process.thread.begin", find_begin},
    {"process(s).thread.begin", find_begin},
    {"process.thread.end", find_end},
    {"process(s).thread.end", find_end},
};

}  // namespace

void search_c_library(PointQuery& query, const std::string& name, const FoundFunction& found) {
  const NameMatcher matcher(name);
  for (size_t module = 0; module < query.modules.size(); module++) {
    const std::string base = query.modules.base_name(module);
    Module* file = module == 0 || base.starts_with("libc.so") || base.starts_with("libc-")
                       ? query.modules.open(module)
                       : nullptr;
    const Module::Found functions = file ? file->find(matcher) : Module::Found{};
    for (const CodeFunction& function : functions.functions) {
      found(module, *file, function);
    }
  }
}

std::span<const ProbeKind> thread_kinds() { return kThreadKinds; }

}  // namespace dj
