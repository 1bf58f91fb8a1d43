// SPDX-License-Identifier: Apache-2.0
// One probe, one array.
#include "runtime/command/stress_script.h"

#include "compiler/base/object_point.h"

namespace dj {
namespace {

constexpr int64_t kMapEntries = 1 << 18;

}  // namespace

bool stresses_kernel(const std::string& pattern) { return pattern == kKernelPath; }

std::string stress_script(const std::string& pattern) {
  if (stresses_kernel(pattern))
    return "global djtap_stress_hits\nprobe kernel.function(\"*\") { djtap_stress_hits++ }\n";
  return "global djtap_stress_hits\nprobe func(\"" + pattern +
         "\") { djtap_stress_hits[uaddr()]++ }\n";
}

void widen_for_stress(Limits& limits) {
  const Limits usual;
  if (limits.max_map_entries == usual.max_map_entries) limits.max_map_entries = kMapEntries;
}

}  // namespace dj
