// SPDX-License-Identifier: Apache-2.0
// KernelLink is what a KernelTarget asks of the kernel module. DeviceLink asks over /dev/djtap, a
// FakeKernel of the tests answers from bytes. The calls and their order are those of
// kernel/device_abi.h: alloc_code(), write_code(), seal(), then arm(), counts(), disarm().
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "kernel/device_abi.h"

namespace dj {

class KernelLink {
 public:
  virtual ~KernelLink() = default;

  virtual Result<djtap_hello> hello() = 0;
  // Gives the address of a code block of at least `bytes`. A session has one.
  virtual Result<uint64_t> alloc_code(uint64_t bytes) = 0;
  virtual Status write_code(uint64_t offset, std::span<const uint8_t> code) = 0;
  // From now on the block is executable, and not writable.
  virtual Status seal() = 0;
  // Arms the sites, ascending by address. Returns an answer for each. `copies`: see
  // djtap_site::first_copy.
  virtual Result<std::vector<djtap_answer>> arm(std::span<const djtap_site> sites,
                                                std::span<const uint64_t> copies) = 0;
  // Takes all sites out. Returns an answer for each site of all calls of arm(), in their order.
  virtual Result<std::vector<djtap_answer>> disarm() = 0;
  // Reads the first counters, as many as `sums` has: each is a sum over all CPUs.
  virtual Status counts(std::span<uint64_t> sums) = 0;
};

// Says what an answer means for a place, as a reason of InstalledSite.
const char* reason_of(djtap_answer answer);

}  // namespace dj
