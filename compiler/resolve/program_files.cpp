// SPDX-License-Identifier: Apache-2.0
// Asks the ModuleSet of no process, or one of the files of all.
#include "compiler/resolve/program_files.h"

#include <algorithm>

#include "compiler/resolve/module_set.h"

namespace dj {
namespace {

// The library that the point names; empty: it names none.
std::string library_of(const ast::ProbePoint& point) {
  const ast::Component& first = point.components.front();
  const auto* name = std::get_if<std::string>(&first.argument);
  if (first.name == "func" && name != nullptr) {
    const size_t end = name->find('!');
    return end != std::string::npos ? name->substr(0, end) : "";
  }
  if (first.name != "process" || point.components.size() < 2) return "";
  const ast::Component& second = point.components[1];
  const auto* library = std::get_if<std::string>(&second.argument);
  return second.name == "library" && library != nullptr ? *library : "";
}

// Whether the point is process.`name`, of no process in particular.
bool is_of_any_process(const ast::ProbePoint& point, std::string_view name) {
  return point.components.size() > 1 && point.components[0].name == "process" &&
         point.components[0].argument.index() == 0 && point.components[1].name == name;
}

// The file that the point names by process("file"); null: it names none.
const std::string* file_of(const ast::ProbePoint& point) {
  const ast::Component& first = point.components.front();
  return first.name == "process" ? std::get_if<std::string>(&first.argument) : nullptr;
}

void add(const std::string& file, std::vector<std::string>& files) {
  if (std::ranges::find(files, file) == files.end()) files.push_back(file);
}

std::vector<const ast::ProbePoint*> points_of(const Program& program) {
  std::vector<const ast::ProbePoint*> points;
  for (const Probe& probe : program.probes) {
    for (const ast::ProbePoint& point : probe.points) points.push_back(&point);
  }
  return points;
}

ModuleSet objects_at(const std::vector<std::string>& paths) {
  TargetFiles all;
  all.modules = paths;
  return ModuleSet(all);
}

}  // namespace

std::vector<std::string> program_files(const Program& program, Named named) {
  ModuleSet objects{TargetFiles{}};
  Diags silent;  // resolve() will say what is wrong
  std::vector<std::string> files;
  for (const ast::ProbePoint* point : points_of(program)) {
    const std::string* name = file_of(*point);
    if (name == nullptr || (named == Named::Exactly && has_wildcard(*name))) continue;
    for (const size_t object : objects.process(*name, point->span, silent))
      add(objects.path(object), files);
  }
  return files;
}

std::vector<std::string> program_patterns(const Program& program) {
  std::vector<std::string> patterns;
  for (const ast::ProbePoint* point : points_of(program)) {
    const std::string* name = file_of(*point);
    if (name != nullptr && has_wildcard(*name)) add(*name, patterns);
  }
  return patterns;
}

std::vector<std::string> library_names(const Program& program) {
  std::vector<std::string> names;
  for (const ast::ProbePoint* point : points_of(program)) {
    const std::string name = file_of(*point) == nullptr ? library_of(*point) : "";
    if (!name.empty()) add(name, names);
  }
  return names;
}

bool means_every_process(const Program& program) {
  const std::vector<const ast::ProbePoint*> points = points_of(program);
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(
        points, [&](const ast::ProbePoint* point) { return is_of_any_process(*point, name); });
  };
  const auto means_others = [](const ast::ProbePoint* point) {
    const ast::Component& first = point->components.front();
    return (first.name == "process" && first.argument.index() != 0) || first.name == "oneshot";
  };
  if (has("syscall")) return true;
  return (has("begin") || has("end") || has("thread")) && library_names(program).empty() &&
         std::ranges::none_of(points, means_others);
}

std::vector<std::string> missing_libraries(const Program& program,
                                           const std::vector<std::string>& mapped) {
  const ModuleSet objects = objects_at(mapped);
  std::vector<std::string> missing;
  for (const ast::ProbePoint* point : points_of(program)) {
    const std::string name = point->optional || point->sufficient ? "" : library_of(*point);
    if (!name.empty() && objects.named(name, 0).empty()) add(name, missing);
  }
  return missing;
}

std::vector<Diag> errors_in_libraries(const Program& program, const std::string& path,
                                      const Diags& errors) {
  ModuleSet objects{TargetFiles{}};
  Diags silent;
  std::vector<Span> spans;
  for (const ast::ProbePoint* point : points_of(program)) {
    const std::string* name = file_of(*point);
    if (name == nullptr || point->optional || point->sufficient || library_of(*point).empty())
      continue;
    for (const size_t object : objects.process(*name, point->span, silent)) {
      if (objects.path(object) == path) spans.push_back(point->span);
    }
  }
  std::vector<Diag> found;
  for (const Diag& diag : errors.all()) {
    const bool is_there = std::ranges::any_of(spans, [&](const Span& span) {
      return span.file == diag.span.file && span.begin <= diag.span.begin &&
             diag.span.end <= span.end;
    });
    constexpr const char* kNoObject = "DJ3005";  // it may be opened later
    if (is_there && diag.severity == Severity::Error && diag.code != kNoObject)
      found.push_back(diag);
  }
  return found;
}

std::vector<std::string> library_files(const Program& program,
                                       const std::vector<std::string>& mapped) {
  const ModuleSet objects = objects_at(mapped);
  std::vector<std::string> files;
  for (const std::string& name : library_names(program)) {
    for (const size_t object : objects.named(name, 0)) add(objects.path(object), files);
  }
  return files;
}

}  // namespace dj
