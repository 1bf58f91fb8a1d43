// SPDX-License-Identifier: Apache-2.0
// What lies where djtap wants to map its memory stays the program's.
#include "runtime/memory/target_maps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "runtime/process/launch.h"
#include "runtime/process/process.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr uint64_t kPage = 4096, kAt = 0x10000000, kOther = kAt + 16 * kPage;

bool is_mapped(pid_t pid, uint64_t address) {
  const std::vector<Mapping> maps = read_maps(pid).take();
  return std::ranges::any_of(
      maps, [&](const Mapping& m) { return m.begin <= address && address < m.end; });
}

TEST(TargetMaps, MemoryOfTheProgramStaysWhereDjtapWantsItsOwn) {
  Launched launched = launch({compile_victim("int main(void) { return 0; }")}).take();
  RemoteCall call = RemoteCall::borrow(launched.stopped).take();
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  ASSERT_TRUE(call.checked("mmap", SYS_mmap,
                           {kAt + kPage, kPage, PROT_READ | PROT_WRITE, kHow, ~uint64_t{0}, 0})
                  .ok());
  const SharedFile file = SharedFile::make("djtap-test", kPage, SharedFile::Use::Read).take();
  const SharedFile* const files[] = {&file};
  for (const uint64_t begin : {kAt, kAt + kPage}) {
    TargetMaps maps = TargetMaps::begin(call, files).take();
    ASSERT_TRUE(maps.map("file", {kOther, kOther + kPage}, PROT_READ, file, 0).ok());
    ASSERT_TRUE(maps.map_private("private", {begin, kAt + 4 * kPage}, {}).ok());
    EXPECT_TRUE(maps.run(ok_status()).ok());
    EXPECT_FALSE(maps.end().ok());
    EXPECT_TRUE(is_mapped(launched.pid, kAt + kPage));
    EXPECT_FALSE(is_mapped(launched.pid, kAt));
    EXPECT_FALSE(is_mapped(launched.pid, kOther));
  }
}

}  // namespace
}  // namespace dj
