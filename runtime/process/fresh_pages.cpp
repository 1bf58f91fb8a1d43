// SPDX-License-Identifier: Apache-2.0
// Where /proc/self/mem cannot be had, it is a copy.
#include "runtime/process/fresh_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/base/result.h"

namespace dj {

void fill_fresh_pages(std::span<uint8_t> memory, std::span<const uint8_t> bytes) {
  CHECK(bytes.size() <= memory.size());
  const int own = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
  const auto at = static_cast<off_t>(reinterpret_cast<uint64_t>(memory.data()));
  const ssize_t written = own >= 0 ? pwrite(own, bytes.data(), bytes.size(), at) : 0;
  if (own >= 0) close(own);
  const auto done = static_cast<size_t>(std::max<ssize_t>(written, 0));
  std::ranges::copy(bytes.subspan(done), memory.begin() + static_cast<ptrdiff_t>(done));
}

}  // namespace dj
