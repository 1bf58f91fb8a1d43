// SPDX-License-Identifier: Apache-2.0
// Some hundred pages are read by one call.
#include "runtime/text/text_image.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "arch/x86_64/detour.h"
#include "compiler/base/page.h"
#include "compiler/base/parallel.h"
#include "compiler/base/sort_runs.h"

namespace dj {
TextImage::TextImage(const SiteList& sites, const SiteList& more) {
  std::vector<std::pair<uint64_t, uint64_t>> pieces;  // none crosses a page
  pieces.reserve(sites.size() + sites.size() / 64 + more.size());
  for (const SiteList* list : {&more, &sites}) {
    for (const PatchSite* site : *list) {
      for (uint64_t at = site->address, end = at + site->original.size(); at < end;) {
        const uint64_t here = std::min(end, page_down(at) + kPage);
        pieces.emplace_back(at, here);
        at = here;
      }
    }
  }
  sort_runs(pieces.begin(), pieces.end());
  for (const auto& [begin, end] : pieces) {
    if (!spans_.empty() && page_down(spans_.back().begin) == page_down(begin)) {
      spans_.back().end = std::max(spans_.back().end, end);
    } else {
      spans_.push_back({begin, end});
    }
  }
  size_t bytes = 0;
  for (Span& span : spans_) {
    span.at = bytes;
    bytes += span.end - span.begin;
  }
  bytes_ = std::make_unique_for_overwrite<uint8_t[]>(bytes);
}

// The spans from `next` to `end`.
void TextImage::read(const TextMemory& memory, size_t next, size_t end) {
  while (next < end) {
    std::vector<AddressRange> ranges;
    for (size_t i = next; i < end; i++) ranges.push_back({spans_[i].begin, spans_[i].end});
    const size_t whole = memory.read_ranges(ranges, &bytes_[spans_[next].at]);
    for (size_t i = 0; i < whole; i++) spans_[next++].readable = true;
    if (next >= end) return;
    // A page that is not there, or that only a debugger may read.
    Span& span = spans_[next++];
    const std::span<uint8_t> bytes(&bytes_[span.at], span.end - span.begin);
    span.readable = memory.read(span.begin, bytes).ok();
  }
}

void TextImage::read(const TextMemory& memory) {
  constexpr size_t kAtOnce = 256;  // as read_ranges() takes
  parallel<1>((spans_.size() + kAtOnce - 1) / kAtOnce, [&](size_t i) {
    read(memory, i * kAtOnce, std::min(spans_.size(), (i + 1) * kAtOnce));
  });
}

size_t TextImage::span_at(uint64_t address) const {
  static thread_local size_t last = 0;  // in whichever image: sites come in order
  const auto holds = [&](size_t i) {
    return i < spans_.size() && address >= spans_[i].begin && address < spans_[i].end;
  };
  if (!holds(last)) ++last;
  if (!holds(last)) {
    const auto found = std::upper_bound(spans_.begin(), spans_.end(), address,
                                        [](uint64_t a, const Span& s) { return a < s.end; });
    last = static_cast<size_t>(found - spans_.begin());
  }
  CHECK(holds(last));
  return last;
}

bool TextImage::equals(uint64_t address, std::span<const uint8_t> bytes, bool* readable) const {
  bool same = true;
  *readable = true;
  while (!bytes.empty()) {
    const Span& span = spans_[span_at(address)];
    const size_t here = std::min<size_t>(bytes.size(), span.end - address);
    *readable = *readable && span.readable;
    same = same && span.readable && memcmp(byte_at(span, address), bytes.data(), here) == 0;
    address += here;
    bytes = bytes.subspan(here);
  }
  return same && *readable;
}

bool TextImage::is_of_both(uint64_t address, std::span<const uint8_t> one,
                           std::span<const uint8_t> other) const {
  for (size_t i = 0; i < one.size(); i++) {
    const uint8_t byte = *byte_at(spans_[span_at(address + i)], address + i);
    if (byte != one[i] && byte != other[i]) return false;
  }
  return true;
}

// Puts a patch into the image, and where it is to be written: across two pages by itself, else with
// its page's others and what lies between them. They come in ascending order.
void TextImage::put(const TextPatch& patch, std::vector<Dirty>& dirty) {
  const auto is_in_page = [](uint64_t begin, uint64_t end) {
    return page_down(begin) == page_down(end - 1);
  };
  const uint64_t end = patch.address + patch.bytes.size();
  const size_t first = span_at(patch.address);
  const bool joins = !dirty.empty() && dirty.back().span == first &&
                     is_in_page(dirty.back().begin, dirty.back().end) &&
                     is_in_page(patch.address, end);
  if (joins) {
    Dirty& d = dirty.back();
    // An int3 between patches may be somebody else's (a kernel probe's), who takes it away.
    d.stale =
        d.stale || (d.end < patch.address && memchr(byte_at(spans_[first], d.end), arch::kInt3,
                                                    patch.address - d.end) != nullptr);
    d.end = std::max(d.end, end);
    d.last = &patch;
  } else {
    dirty.push_back({first, patch.address, end, &patch, &patch, false});
  }
  for (uint64_t at = patch.address; at < end;) {
    const Span& span = spans_[span_at(at)];
    const size_t here = std::min(end, span.end) - at;
    memcpy(byte_at(span, at), &patch.bytes[at - patch.address], here);
    at += here;
  }
}

// Reads what lies between its patches once more.
Status TextImage::refresh(const TextMemory& memory, const Dirty& d) {
  const Span& span = spans_[d.span];
  DJ_TRY_DO(memory.read(d.begin, std::span(byte_at(span, d.begin), d.end - d.begin)));
  for (const TextPatch* patch = d.first; patch <= d.last; patch++) {
    memcpy(byte_at(span, patch->address), patch->bytes.data(), patch->bytes.size());
  }
  return ok_status();
}

Status TextImage::write(const TextMemory& memory, const std::vector<TextPatch>& patches) {
  const auto below = [](const TextPatch& a, const TextPatch& b) { return a.address < b.address; };
  if (!std::is_sorted(patches.begin(), patches.end(), below)) {  // as sites lean on each other
    std::vector<TextPatch> ascending = patches;
    std::sort(ascending.begin(), ascending.end(), below);
    return write(memory, ascending);
  }
  std::vector<Dirty> dirty;
  for (const TextPatch& patch : patches) put(patch, dirty);
  // Nobody else writes there, so several threads may: what they take is the time of the stop.
  std::mutex failing;
  Status written = ok_status();
  parallel<kLightChunk>(dirty.size(), [&](size_t i) {
    const Dirty& d = dirty[i];
    Status done = d.stale ? refresh(memory, d) : ok_status();
    if (done.ok() && d.first == d.last) {
      done = memory.write(d.first->address, d.first->bytes);
    } else if (done.ok()) {
      done = memory.write(d.begin, std::span(byte_at(spans_[d.span], d.begin), d.end - d.begin));
    }
    if (done.ok()) return;
    std::lock_guard lock(failing);
    written = done;
  });
  return written;
}

}  // namespace dj
