// SPDX-License-Identifier: Apache-2.0
// /proc/PID/mem, in page-sized pieces.
#include "runtime/process/text_patch.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/page.h"

namespace dj {
namespace {

// Several patches within one page: one read, one write.
Status write_page(const Stopped& stopped, std::span<const TextPatch> patches) {
  uint64_t begin = patches.front().address;
  uint64_t end = patches.back().address + patches.back().bytes.size();
  std::vector<uint8_t> bytes(end - begin);
  DJ_TRY_DO(stopped.read(begin, bytes));
  for (const TextPatch& patch : patches) {
    std::copy(patch.bytes.begin(), patch.bytes.end(),
              bytes.begin() + static_cast<long>(patch.address - begin));
  }
  return stopped.write(begin, bytes);
}

}  // namespace

bool TextReader::equals(uint64_t address, std::span<const uint8_t> bytes, bool* readable) {
  *readable = true;
  while (!bytes.empty()) {
    uint8_t now[64];
    const size_t here = std::min(bytes.size(), sizeof now);
    *readable = read(address, std::span(now).first(here));
    if (!*readable || memcmp(now, bytes.data(), here) != 0) {
      return false;
    }
    address += here;
    bytes = bytes.subspan(here);
  }
  return true;
}

bool TextReader::read(uint64_t address, std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    if (page_down(address) != page_) {
      page_ = page_down(address);
      bytes_.resize(kPage);
      readable_ = stopped_.read(page_, bytes_).ok();
    }
    if (!readable_) {
      return false;
    }
    size_t here = std::min<size_t>(bytes.size(), kPage - (address - page_));
    memcpy(bytes.data(), &bytes_[address - page_], here);
    address += here;
    bytes = bytes.subspan(here);
  }
  return true;
}

Status write_patches(const Stopped& stopped, std::vector<TextPatch> patches) {
  std::sort(patches.begin(), patches.end(), [](auto& a, auto& b) { return a.address < b.address; });
  auto crosses = [](const TextPatch& p) {
    return page_down(p.address) != page_down(p.address + p.bytes.size() - 1);
  };
  for (size_t first = 0; first < patches.size();) {
    size_t last = first + 1;
    while (!crosses(patches[first]) && last < patches.size() && !crosses(patches[last]) &&
           page_down(patches[last].address) == page_down(patches[first].address)) {
      last++;
    }
    DJ_TRY_DO(write_page(stopped, std::span(patches).subspan(first, last - first)));
    first = last;
  }
  return ok_status();
}

}  // namespace dj
