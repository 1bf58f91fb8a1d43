// SPDX-License-Identifier: Apache-2.0
// TextMemory is the interface to the memory of a target whose text djtap reads and changes. Stopped
// implements it for a process whose threads stand; a test implements it with bytes of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/base/result.h"
#include "runtime/process/mapped_module.h"

namespace dj {

class TextMemory {
 public:
  // Read and write memory, text and read-only pages too. Fail if some of it is not mapped.
  virtual Status read(uint64_t address, std::span<uint8_t> bytes) const = 0;
  virtual Status write(uint64_t address, std::span<const uint8_t> bytes) const = 0;
  // Reads the ranges, 256 at most, one behind the other into `bytes`. Returns how many ranges it
  // has read: it stops before the first that is not mapped, or that only read() may read. Several
  // threads may call it at once.
  virtual size_t read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const = 0;

 protected:
  ~TextMemory() = default;
};

}  // namespace dj
