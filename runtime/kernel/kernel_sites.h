// SPDX-License-Identifier: Apache-2.0
// kernel_sites() says to the kernel module what build_detours() has built: one djtap_site for each
// place that is to be armed.
#pragma once
#include <cstdint>
#include <vector>

#include "kernel/device_abi.h"
#include "runtime/patch/site_list.h"

namespace dj {

struct KernelSites {
  std::vector<djtap_site> sites;  // ascending by address
  std::vector<uint64_t> copies;   // of their guards, see djtap_site::first_copy
  SiteList places;                // what each of `sites` was made of
};

// Takes places that have their detours. Those that are not Registered are left out; those that the
// module has no form for become Skipped.
KernelSites kernel_sites(const SiteList& places);

}  // namespace dj
