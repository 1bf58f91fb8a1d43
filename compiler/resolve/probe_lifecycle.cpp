// SPDX-License-Identifier: Apache-2.0
// Probe kinds begin, end, error, never, oneshot, input, process.begin and process.end: run by the
// controller when the session or the target changes.
#include <algorithm>
#include <filesystem>

#include "arch/x86_64/calls.h"
#include "compiler/resolve/site_search.h"
#include "compiler/stages/of_children.h"

namespace dj {

namespace {

using When = HostProbe::When;

constexpr struct {
  std::string_view name;
  When when;
} kSession[] = {
    {"begin", When::Begin}, {"end", When::End},         {"error", When::Error},
    {"never", When::Never}, {"oneshot", When::Oneshot},
};

void find_session(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = query.point.components[0];
  HostProbe host;
  for (const auto& kind : kSession) {
    if (kind.name == c.name) {
      host.when = kind.when;
    }
  }
  host.text = to_string(query.point);
  if (const auto* order = std::get_if<int64_t>(&c.argument)) {
    meaning.order = *order;
  }
  meaning.host = host;
}

// Processes that the target forks: where the C library's _Fork() makes a system call that only the
// child makes, and its _exit(), which all processes come to that end by themselves.
void find_children(PointQuery& query, bool begin, std::vector<Site>& sites) {
  constexpr uint32_t kSetRobustList = 273;
  search_c_library(query, begin ? "_Fork" : "_exit",
                   [&](size_t module, Module& file, const CodeFunction& function) {
                     Site site = function_site(module, file, function,
                                               begin ? SiteKind::Statement : SiteKind::Entry);
                     site.listed = begin ? kChildBegins : kChildEnds;
                     if (begin) {
                       const Bytes code = file.elf().at(function.begin);
                       const size_t size =
                           std::min<size_t>(code.size(), function.end - function.begin);
                       const std::vector<uint64_t> calls =
                           arch::constant_loads(code.first(size), function.begin, kSetRobustList);
                       if (calls.size() != 1) {
                         return;
                       }
                       site.address = calls.front();
                     }
                     sites.push_back(std::move(site));
                   });
}

// As the kernel will name the file, which the session may have yet to make.
std::string name_to_come(const std::string& path) {
  std::error_code none;
  return std::filesystem::weakly_canonical(path, none).string();
}

std::string kernels_name(const ModuleSet& modules, size_t object) {
  const std::string& path = modules.path(object);
  return modules.bias(object).has_value() ? path : name_to_come(path);
}

void find_process_change(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& process = query.point.components[0];
  HostProbe host;
  bool is_here = true;
  if (std::holds_alternative<std::string>(process.argument)) {
    Diags hidden;
    const std::string name = query.text(process);
    const std::vector<size_t> objects =
        query.modules.process(name, process.argument_span, query.optional ? hidden : query.diags);
    if (objects.empty() && !query.optional) return;
    if (objects.empty()) host.files.push_back(name_to_come(name));
    for (const size_t object : objects) host.files.push_back(kernels_name(query.modules, object));
    is_here = !objects.empty() && query.modules.has_one_of(objects);
  }
  host.when = query.component("begin") ? When::ProcessBegin : When::ProcessEnd;
  host.text = to_string(query.point);
  meaning.host = host;
  if (!is_here) return;
  const bool begin = host.when == When::ProcessBegin;
  find_children(query, begin, meaning.sites);
  // One that is killed, or executes another program, never comes to its _exit().
  if (!begin) find_children(query, true, meaning.forks);
}

void find_input(PointQuery& query, PointMeaning& meaning) {
  HostProbe host;
  host.when = When::Input;
  host.text = to_string(query.point);
  meaning.host = host;
}

constexpr ProbeKind kLifecycleKinds[] = {
    {"begin", find_session},
    {"begin(n)", find_session},
    {"end", find_session},
    {"end(n)", find_session},
    {"error", find_session},
    {"error(n)", find_session},
    {"never", find_session},
    {"oneshot", find_session},
    {"input", find_input},
    {"process.begin", find_process_change},
    {"process(s).begin", find_process_change},
    {"process.end", find_process_change},
    {"process(s).end", find_process_change},
};

}  // namespace

std::span<const ProbeKind> lifecycle_kinds() { return kLifecycleKinds; }

}  // namespace dj
