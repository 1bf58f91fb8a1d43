// SPDX-License-Identifier: Apache-2.0
// Handlers count in the kernel's detours; no code of djtap's runs there.
#include "runtime/run/kernel_limits.h"

#include "compiler/stages/samples.h"

namespace dj {
namespace {

void refuse(const Compiled& compiled, HandlerId handler, const char* what, Diags& diags) {
  const Probe& probe = compiled.program.probes[compiled.plan.handlers[handler].probe];
  diags.error("DJ3024", probe.span, what).help =
      "a probe of the kernel adds a constant to a global: < count++ >; "
      "begin, end and timers may do all";
}

}  // namespace

void check_kernel_limits(const Compiled& compiled, Diags& diags) {
  const Plan& plan = compiled.plan;
  for (const HostProbe& probe : plan.host_probes) {
    if (is_sample(plan, probe))
      return refuse(compiled, probe.handler, "djtap does not sample the kernel yet", diags);
  }
  for (const Site& site : plan.sites) {
    for (HandlerId handler : site.handlers) {
      if (compiled.abis[handler].count_word == 0)
        return refuse(compiled, handler, "in the kernel djtap can only count so far", diags);
      if (compiled.patching.switched)
        return refuse(compiled, handler,
                      "probes of the kernel cannot be switched yet: by a condition, --control or "
                      "--monitor",
                      diags);
    }
  }
}

}  // namespace dj
