// SPDX-License-Identifier: Apache-2.0
// TextReader and write_patches(): read and write the text of a stopped process, page by page.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/placement.h"
#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// TextReader reads memory of the target through a cache of one page. It is valid as long as no
// write changes that memory.
class TextReader {
 public:
  explicit TextReader(const Stopped& stopped) : stopped_(stopped) {}
  // Whether exactly these bytes are at `address`. Sets *readable to false when the page is
  // unmapped.
  bool equals(uint64_t address, std::span<const uint8_t> bytes, bool* readable);
  // Reads bytes.size() bytes. False: a page is unmapped.
  bool read(uint64_t address, std::span<uint8_t> bytes);

 private:
  const Stopped& stopped_;
  uint64_t page_ = 1;
  bool readable_ = false;
  std::vector<uint8_t> bytes_;
};

// TextPatch is one change of text: the bytes that djtap writes at `address`.
struct TextPatch {
  uint64_t address = 0;
  arch::JumpBytes bytes;
};

// Writes all patches. Even if djtap is killed, each patch stands there whole or not at all: djtap
// writes a page by one call, and the kernel copies a page without a look at signals. A patch across
// two pages is one call too, but two copies: a SIGKILL in the nanoseconds between them tears it;
// `djtap clean` knows such a place by its journal.
Status write_patches(const Stopped& stopped, std::vector<TextPatch> patches);

}  // namespace dj
