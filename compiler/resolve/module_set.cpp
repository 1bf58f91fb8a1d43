// SPDX-License-Identifier: Apache-2.0
// Finds objects by path, base name and $PATH.
#include "compiler/resolve/module_set.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/resolve/path_glob.h"

namespace dj {

namespace {

std::string real_path(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string result = real ? real : "";
  std::free(real);
  return result;
}

// The files that a path, or a wildcard of paths, leads to through links.
std::set<std::string> real_paths(const std::string& name) {
  std::set<std::string> found;
  glob_t names = {};
  if (name.find('/') != std::string::npos &&
      ::glob(name.c_str(), GLOB_NOSORT, nullptr, &names) == 0) {
    for (size_t i = 0; i < names.gl_pathc; i++) found.insert(real_path(names.gl_pathv[i]));
  }
  ::globfree(&names);
  return found;
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The first executable of that name in $PATH; empty: none.
std::string in_path(const std::string& name) {
  const char* list = std::getenv("PATH");
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    const std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0) {
      return file;
    }
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return {};
}

}  // namespace

ModuleSet::ModuleSet(const TargetFiles& files)
    : mapped_(files.mapped),
      has_target_(files.has_target),
      may_execute_(files.may_execute),
      is_kernel_(files.is_kernel),
      is_in_kernel_(files.is_in_kernel),
      find_library_(files.find_library),
      calls_(files.helpers.system_calls),
      printers_(files.helpers.printers),
      first_new_(files.first_new) {
  for (size_t i = 0; i < files.modules.size(); i++) {
    const std::string& path = files.modules[i];
    objects_.push_back({path, i < files.open_paths.size() ? files.open_paths[i] : path});
  }
}

std::string ModuleSet::base_name(size_t i) const { return base_of(objects_[i].path); }

std::optional<uint64_t> ModuleSet::bias(size_t i) const {
  for (const MappedFile& file : mapped_) {
    if (file.module == i) {
      return file.bias;
    }
  }
  return std::nullopt;
}

bool ModuleSet::has_one_of(const std::vector<size_t>& objects) const {
  return !has_target_ ||
         std::ranges::any_of(objects, [this](size_t object) { return bias(object).has_value(); });
}

std::optional<size_t> ModuleSet::loader() const {
  for (size_t i = 0; i < objects_.size(); i++) {
    if (glob_match("ld-*", base_name(i))) return i;
  }
  return std::nullopt;
}

std::string ModuleSet::listed() const {
  std::string names;
  for (size_t i = 0; i < objects_.size() && i < 8; i++) {
    names += (i ? ", " : "") + base_name(i);
  }
  return "its objects: " + names + (objects_.size() > 8 ? ", ..." : "");
}

Module* ModuleSet::open(size_t i) {
  Object& object = objects_[i];
  if (!object.tried) {
    object.tried = true;
    Result<std::unique_ptr<Module>> module = Module::open(object.open_path, object.path);
    if (module.ok()) {
      object.module = module.take();
      object.module->set_printers(printers_);
      // Debug files of the kernel have its addresses less what it was moved by at its start.
      if (is_kernel_) object.module->forgo_other_files();
    }
  }
  return object.module.get();
}

SystemCalls::Found& ModuleSet::syscalls(size_t i) {
  Object& object = objects_[i];
  if (object.syscalls == nullptr) object.syscalls = &calls_->of(object.open_path);
  return *object.syscalls;
}

std::vector<size_t> ModuleSet::named(std::string_view name, size_t from) const {
  std::vector<size_t> result;
  for (size_t i = from; i < objects_.size(); i++) {
    const std::string base = base_name(i);
    const bool stem = base.starts_with(name) && base.size() > name.size() &&
                      (base[name.size()] == '.' || base[name.size()] == '-');
    if (glob_match(name, base) || glob_match(name, objects_[i].path) ||
        (stem && !has_wildcard(name))) {
      result.push_back(i);
    }
  }
  if (result.empty()) return linked(std::string(name), from);
  // An exact base name is meant before "libc" means libc-2.36.so too.
  std::vector<size_t> exact;
  for (size_t i : result) {
    if (base_name(i) == name || objects_[i].path == name) {
      exact.push_back(i);
    }
  }
  return exact.empty() ? result : exact;
}

std::vector<size_t> ModuleSet::linked(const std::string& name, size_t from) const {
  std::vector<size_t> result;
  const std::set<std::string> real = real_paths(name);
  for (size_t i = from; i < objects_.size(); i++) {
    if (real.contains(objects_[i].path)) result.push_back(i);
  }
  return result;
}

std::vector<size_t> ModuleSet::matching(std::string_view path) const {
  std::vector<size_t> result;
  for (size_t i = 0; i < objects_.size(); i++) {
    if (path_glob(path, objects_[i].path)) {
      result.push_back(i);
    }
  }
  return result;
}

size_t ModuleSet::add(const std::string& file) {
  objects_.push_back({file, file});
  return objects_.size() - 1;
}

std::optional<size_t> ModuleSet::later_library(const std::string& name) {
  const bool may_come = may_execute_ || !has_target_;
  const std::string file = may_come && find_library_ ? find_library_(name) : "";
  return file.empty() ? std::nullopt : std::optional(add(file));
}

std::vector<size_t> ModuleSet::process(const std::string& name, Span span, Diags& diags) {
  const bool is_path = name.find('/') != std::string::npos;
  const std::string real = real_path(is_path ? name : "./" + name);
  const std::string found = is_path ? "" : in_path(name);
  const std::string real_found = found.empty() ? "" : real_path(found);
  for (size_t i = 0; i < objects_.size(); i++) {
    const std::string mine = real_path(objects_[i].path);
    if (objects_[i].path == name || (!mine.empty() && (mine == real || mine == real_found))) {
      return {i};
    }
  }
  const bool is_wild = is_path && has_wildcard(name);
  std::vector<size_t> by_name = is_wild ? matching(name) : named(name, 0);
  if (by_name.empty() && is_wild) by_name = linked(name, 0);
  if (!by_name.empty()) return by_name;
  // Where a distribution keeps its libraries differs: /lib*/libc.so.* means the one that is mapped.
  const bool of_library = name.starts_with("/lib") || name.starts_with("/usr/lib");
  if (std::vector<size_t> by_base = named(base_of(name), 0);
      of_library && has_wildcard(name) && !by_base.empty()) {
    return by_base;
  }
  const std::string file = !real.empty() ? real : real_found;
  if (!file.empty() && (!has_target_ || may_execute_)) {
    return {add(file)};
  }
  if (is_wild && (!has_target_ || may_execute_)) {
    std::vector<size_t> added;
    for (const std::string& path : object_files(name)) {
      added.push_back(add(path));
    }
    if (!added.empty()) {
      return added;
    }
  }
  report_no_object(name, file, span, diags);
  return {};
}

void ModuleSet::report_no_object(const std::string& name, const std::string& file, Span span,
                                 Diags& diags) const {
  if (means_vdso(name)) return report_vdso(name, span, diags);
  if (!file.empty()) {
    Diag& d = diags.error("DJ3005", span, fmt::format("{} is no part of the traced process", file));
    d.notes.push_back(listed());
    return;
  }
  const bool is_path = name.find('/') != std::string::npos;
  const bool is_wild = is_path && has_wildcard(name);
  Diag& d = diags.error(
      "DJ3005", span,
      is_wild && has_target_
          ? fmt::format("the traced process has no object \"{}\"", name)
          : fmt::format("there is no {} \"{}\"", is_wild ? "object file" : "file", name));
  d.notes.push_back(is_wild && has_target_ ? listed()
                    : is_path
                        ? "searched: " + name
                        : "searched: ./" + name + ", $PATH, the objects of the traced process");
  if (is_path && !is_wild && may_execute_)
    d.help = "a file that is made later is no error with ? behind the probe point";
}

bool means_vdso(std::string_view name) {
  return name.starts_with("__vdso_") || name == "[vdso]" || name.starts_with("linux-vdso");
}

void report_vdso(std::string_view name, Span span, Diags& diags) {
  Diag& d =
      diags.error("DJ3009", span,
                  fmt::format("refused to probe {}: the kernel's vdso cannot be changed", name));
  d.help = "probe the C library's function that calls it: func(\"clock_gettime\")";
}

}  // namespace dj
