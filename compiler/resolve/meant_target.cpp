// SPDX-License-Identifier: Apache-2.0
// A point's first name tells its side; func("name") is on the process's where there is a process.
#include "compiler/resolve/meant_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "compiler/base/object_point.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/resolve/probe_kind.h"

namespace dj {
namespace {

constexpr std::string_view kOfKernel[] = {"kernel", "module", "kprobe"};

enum class PointOf { Kernel, Process, Neither };

// Whose point it is. has_process: the command line names a process.
PointOf side_of(const ast::ProbePoint& point, bool has_process) {
  if (names_kernel(point)) return PointOf::Kernel;
  const ast::Component& first = point.components.front();
  if (first.name == "process") return PointOf::Process;
  if (first.name != "func") return PointOf::Neither;
  if (has_process) return PointOf::Process;
  // func("object!name") names an object of a process.
  const auto* name = std::get_if<std::string>(&first.argument);
  return name != nullptr && name->find('!') == std::string::npos ? PointOf::Kernel
                                                                 : PointOf::Neither;
}

}  // namespace

bool names_kernel(const ast::ProbePoint& point) {
  return std::ranges::find(kOfKernel, point.components.front().name) != std::end(kOfKernel);
}

void MeantTarget::add(const std::vector<ast::ProbePoint>& points) {
  for (const ast::ProbePoint& point : points) {
    const PointOf side = side_of(point, has_process_);
    if (side == PointOf::Neither) continue;
    Side& to = side == PointOf::Kernel ? kernel_ : process_;
    if (side == PointOf::Kernel) add_modules(point);
    to.has_any = true;
    if (!to.needed && !point.optional && !point.sufficient && !point.wild) to.needed = point;
  }
}

// module("ext4") names one, and so does function("ext4!name").
void MeantTarget::add_modules(const ast::ProbePoint& point) {
  for (const ast::Component& part : point.components) {
    const auto* text = std::get_if<std::string>(&part.argument);
    if (text == nullptr) continue;
    if (part.name == "module") {
      modules_.push_back(listed_module(*text));
    } else if (const size_t end = text->find('!'); end != std::string::npos) {
      modules_.push_back(listed_module(text->substr(0, end)));
    }
  }
}

bool MeantTarget::means_module(const std::string& name) const {
  return std::ranges::any_of(modules_,
                             [&](const std::string& each) { return glob_match(each, name); });
}

bool MeantTarget::is_kernel() const {
  return kernel_.needed || (kernel_.has_any && !process_.has_any && !has_process_);
}

void MeantTarget::check(Diags& diags) const {
  if (!kernel_.needed || !process_.needed) return;
  diags
      .error("DJ3023", process_.needed->span,
             fmt::format("{} is of a process, and {} is of the kernel", to_string(*process_.needed),
                         to_string(*kernel_.needed)))
      .help = "run two sessions side by side: one probes a process, the other the kernel";
}

}  // namespace dj
