// SPDX-License-Identifier: Apache-2.0
// DeviceLink is the KernelLink of the running kernel: ioctls on /dev/djtap. Closing it, also by
// djtap's death, takes all sites out.
#pragma once
#include <memory>

#include "runtime/kernel/kernel_link.h"

namespace dj {

class DeviceLink final : public KernelLink {
 public:
  // Opens the device. Fails with a sentence that says what is in the way: the module is not
  // loaded, djtap is not root, the kernel is locked down, another session is open.
  static Result<std::unique_ptr<DeviceLink>> open();
  ~DeviceLink() override;
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;

  Result<djtap_hello> hello() override;
  Result<uint64_t> alloc_code(uint64_t bytes) override;
  Status write_code(uint64_t offset, std::span<const uint8_t> code) override;
  Status seal() override;
  Result<std::vector<djtap_answer>> arm(std::span<const djtap_site> sites,
                                        std::span<const uint64_t> copies) override;
  Result<std::vector<djtap_answer>> disarm() override;
  Status counts(std::span<uint64_t> sums) override;

 private:
  explicit DeviceLink(int fd) : fd_(fd) {}
  Status call(unsigned long command, void* argument, const char* what) const;

  int fd_;
  size_t sites_ = 0;  // of all calls of arm()
};

}  // namespace dj
