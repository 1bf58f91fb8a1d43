// SPDX-License-Identifier: Apache-2.0
// TextImage holds the bytes of the target's text around some sites. It reads them at once and
// writes them back with the sites' changes. djtap makes it while the program runs: the slow part is
// done then, so that all threads stand only for the copying.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/text_memory.h"
#include "runtime/text/site_text.h"

namespace dj {

class TextImage {
 public:
  // Makes room for the sites' original bytes; sites without any (skipped ones) have no part in it.
  TextImage(const SiteList& sites, const SiteList& more = {});

  // Span: one for each page that a site touches, from the first byte of a site there to behind the
  // last one.
  struct Span {
    uint64_t begin = 0, end = 0;
    size_t at = 0;          // in the image's bytes
    bool readable = false;  // false: the page was not there when it was read
  };
  const std::vector<Span>& spans() const { return spans_; }

  // Reads all of it, by few system calls. Marks the spans that it cannot read.
  void read(const TextMemory& memory);
  // Whether `bytes` are at `address`, in the image as read() has read it and write() has changed
  // it. *readable: false when the page was not there. `address` and `bytes` are of one of the
  // sites. Several threads may call it.
  bool equals(uint64_t address, std::span<const uint8_t> bytes, bool* readable) const;
  // Whether each byte at `address` is the one of `one` or of `other`: a write that failed between
  // two pages leaves such bytes. The page must be readable.
  bool is_of_both(uint64_t address, std::span<const uint8_t> one,
                  std::span<const uint8_t> other) const;

  // Writes patches of the sites, whose pages are readable. Even when djtap is killed, each patch is
  // written as a whole or not at all, as write_patches() does.
  Status write(const TextMemory& memory, const std::vector<TextPatch>& patches);

 private:
  void read(const TextMemory& memory, size_t next, size_t end);
  // Dirty: what djtap writes at once: one patch, or all patches of a page with what lies between
  // them.
  struct Dirty {
    size_t span;  // of the first byte
    uint64_t begin, end;
    const TextPatch *first, *last;  // one behind the other
    bool stale;                     // what lies between them may have changed since it was read
  };
  void put(const TextPatch& patch, std::vector<Dirty>& dirty);
  Status refresh(const TextMemory& memory, const Dirty& dirty);
  size_t span_at(uint64_t address) const;  // index
  uint8_t* byte_at(const Span& span, uint64_t address) const {
    return &bytes_[span.at + (address - span.begin)];
  }
  std::vector<Span> spans_;           // ascending
  std::unique_ptr<uint8_t[]> bytes_;  // not cleared: what is not readable is not looked at
};

}  // namespace dj
