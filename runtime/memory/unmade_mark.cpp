// SPDX-License-Identifier: Apache-2.0
// The mark is two words, of which the first one tells it from data.
#include "runtime/memory/unmade_mark.h"

#include <cstring>

#include "runtime/process/running_memory.h"

namespace dj {
namespace {

constexpr uint64_t kMagic = 0x44414d4e'55504a44ull;  // "DJPUNMAD"
struct Mark {
  uint64_t magic, bytes;
};

}  // namespace

void mark_unmade(std::span<uint8_t> data, uint64_t bytes) {
  const Mark mark = {kMagic, bytes};
  if (data.size() >= sizeof mark) memcpy(data.data(), &mark, sizeof mark);
}

void unmark_unmade(std::span<uint8_t> data) {
  if (data.size() >= sizeof(Mark)) memset(data.data(), 0, sizeof(Mark));
}

uint64_t marked_private_bytes(pid_t pid, uint64_t data) {
  constexpr uint64_t kMost = uint64_t{2} << 30,
                     kPage = 4096;  // whoever has the memory can write it
  const RunningMemory memory(pid);
  Mark mark = {};
  if (!memory.is_open() || !memory.read(data, &mark, sizeof mark)) return 0;
  return mark.magic == kMagic && mark.bytes <= kMost && mark.bytes % kPage == 0 ? mark.bytes : 0;
}

}  // namespace dj
