// SPDX-License-Identifier: Apache-2.0
// TextMemory: memory of a target whose text djtap looks at and changes. Stopped is that of a
// process whose threads stand; a test has bytes of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "compiler/base/result.h"
#include "runtime/process/mapped_module.h"

namespace dj {

class TextMemory {
 public:
  // Text and read-only pages are read and written, too. Fails where not all of it is mapped.
  virtual Status read(uint64_t address, std::span<uint8_t> bytes) const = 0;
  virtual Status write(uint64_t address, std::span<const uint8_t> bytes) const = 0;
  // Reads the ranges, at most 256, one behind the other into `bytes`. Returns how many were read:
  // it ends before the first that is not mapped, or that only read() may read. Several threads may
  // call it.
  virtual size_t read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const = 0;

 protected:
  ~TextMemory() = default;
};

}  // namespace dj
