// SPDX-License-Identifier: Apache-2.0
// Reading and writing the text of a stopped process, page by page.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/placement.h"
#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// TextReader: memory of the target through a cache of one page. Valid while nobody writes.
class TextReader {
 public:
  explicit TextReader(const Stopped& stopped) : stopped_(stopped) {}
  // Are exactly these bytes at `address`? *readable: false when the page is not there any more.
  bool equals(uint64_t address, std::span<const uint8_t> bytes, bool* readable);
  // False: the page is not there any more.
  bool read(uint64_t address, std::span<uint8_t> bytes);

 private:
  const Stopped& stopped_;
  uint64_t page_ = 1;
  bool readable_ = false;
  std::vector<uint8_t> bytes_;
};

struct TextPatch {
  uint64_t address = 0;
  arch::JumpBytes bytes;
};

// Writes all patches. Whenever djtap is killed, each patch is written as a whole or not at all: a
// page is written by one call, and the kernel copies a page without looking at signals. (A patch
// across two pages is one call too, but two copies: SIGKILL exactly between them, some nanoseconds,
// tears it; `djtap clean` knows such a place by its journal.)
Status write_patches(const Stopped& stopped, std::vector<TextPatch> patches);

}  // namespace dj
