// SPDX-License-Identifier: Apache-2.0
// Probe kinds kernel.function(".."), module("..").function("..") and kprobe.function(".."): entries
// and returns of the running kernel's functions.
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void find_functions(PointQuery& query, SiteKind kind, PointMeaning& meaning) {
  if (!query.modules.is_kernel()) return;  // may be missing: MeantTarget has reported the others
  find_sites(query, name_component(query), kind, meaning);
}

void find_kernel_entry(PointQuery& query, PointMeaning& meaning) {
  find_functions(query, SiteKind::Entry, meaning);
}

void find_kernel_return(PointQuery& query, PointMeaning& meaning) {
  find_functions(query, SiteKind::Return, meaning);
}

void find_kernel_exported(PointQuery& query, PointMeaning& meaning) {
  if (query.modules.is_kernel()) find_exported(query, meaning);
}

constexpr ProbeKind kKernelKinds[] = {
    {"<kernel>", find_kernel_entry},
    {"<kernel>.call", find_kernel_entry},
    {"<kernel>.return", find_kernel_return},
    {"<kernel>.exported", find_kernel_exported},
};

}  // namespace

std::span<const ProbeKind> kernel_kinds() { return kKernelKinds; }

}  // namespace dj
