// SPDX-License-Identifier: Apache-2.0
// What a target can do with the memory that a session shares with it, tried in a live process.
#include "runtime/memory/session_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>

#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/victim.h"
#include "runtime/text/journal.h"

namespace dj {
namespace {

constexpr char kWaits[] = R"(
#include <stdio.h>
#include <unistd.h>
int main(void) { char c; puts("ready"); fflush(stdout); return read(0, &c, 1) == 1; }
)";
constexpr uint64_t kPage = 4096, kConstants = 2 * kPage, kArena = 16 * kPage;

struct Shared : ::testing::Test {
  Shared() : victim({compile_victim(kWaits)}) {}
  void SetUp() override {
    victim.line();
    Result<Stopped> made = Stopped::stop(victim.pid());
    ASSERT_TRUE(made.ok());
    stopped.emplace(made.take());
  }
  // With one code area near the program.
  void create(uint64_t constants, uint64_t area_bytes = kPage) {
    const std::vector<Mapping> maps = read_maps(victim.pid()).value();
    base = choose_arena_base(maps, read_maps(0).value(), heap_begin(victim.pid()),
                             kArena + abi::private_bytes(kPage))
               .value();
    Result<SessionMemory> made = SessionMemory::create(
        *stopped, {base, constants, kArena, kPage},
        {{{maps.front().begin, maps.front().end}},
         area_bytes,
         sizeof(JournalHeader),
         {},
         shared_code});
    ASSERT_TRUE(made.ok()) << made.error().message;
    memory.emplace(made.take());
    code = memory->take_code();
    ASSERT_EQ(code.size(), 1u);
  }
  Mapping at(uint64_t address) const {
    for (const Mapping& m : read_maps(victim.pid()).take()) {
      if (address >= m.begin && address < m.end) return m;
    }
    return {};
  }
  uint64_t journal() const {
    for (const Mapping& m : read_maps(victim.pid()).take()) {
      if (m.inode == memory->inode()) return m.begin;
    }
    return 0;
  }
  int64_t call(long number, std::initializer_list<uint64_t> arguments) {
    RemoteCall remote = RemoteCall::borrow(*stopped).take();
    return remote.syscall(number, arguments).value();
  }
  Victim victim;
  std::optional<Stopped> stopped;
  std::optional<SessionMemory> memory;
  CodeAreas code;
  SharedCode shared_code;
  uint64_t base = 0;
};

TEST_F(Shared, ConstantsAreReadAloneAndDataWritten) {
  create(kConstants);
  for (const uint64_t offset : {uint64_t{0}, kConstants}) {
    memory->arena()[offset] = 42;
    uint8_t seen[1] = {};
    ASSERT_TRUE(stopped->read(base + offset, seen).ok());
    EXPECT_EQ(seen[0], 42);
  }
  const Mapping constants = at(base), data = at(base + kConstants);
  EXPECT_EQ(constants.end, base + kConstants);
  EXPECT_TRUE(constants.read && !constants.write && !constants.exec && constants.shared);
  EXPECT_TRUE(data.read && data.write && !data.exec && data.shared);
  EXPECT_EQ(data.end, base + kArena);
  EXPECT_NE(constants.inode, data.inode);
}

TEST_F(Shared, ThereNeedNotBeConstants) {
  create(0);
  EXPECT_TRUE(at(base).write);
  EXPECT_EQ(at(base).end, base + kArena);
}

TEST_F(Shared, NobodyMakesWritableWhatIsOnlyRead) {
  create(kConstants);
  const uint64_t area = code.area(0).base();
  ASSERT_NE(journal(), 0u);
  for (const uint64_t address : {base, area, journal()}) {
    EXPECT_EQ(call(SYS_mprotect, {address, kPage, PROT_READ | PROT_WRITE}), -EACCES);
    EXPECT_EQ(call(SYS_madvise, {address, kPage, MADV_REMOVE}), -EACCES);
  }
}

// Two pages of code of its own behind one that others have, too.
TEST_F(Shared, CodeOfOthersIsAtTheBeginOfAnArea) {
  const SharedFile code_of_all =
      SharedFile::make(std::string(kMemoryName) + "-all", kPage, SharedFile::Use::Read).take();
  code_of_all.view()[7] = 42;
  shared_code = {&code_of_all, kPage};
  create(kConstants, 3 * kPage);
  CodeArea& area = code.area(0);
  EXPECT_EQ(code.shared_bytes(), kPage);
  EXPECT_EQ(at(area.base()).inode, code_of_all.inode());
  EXPECT_TRUE(at(area.base()).exec && !at(area.base()).write);
  EXPECT_NE(at(area.base() + kPage).inode, code_of_all.inode());
  EXPECT_EQ(at(area.base() + kPage).end, area.end());
  area.view(area.base() + kPage, 1)[0] = 43;
  for (const auto& [offset, value] : std::map<uint64_t, uint8_t>{{7, 42}, {kPage, 43}}) {
    uint8_t seen[1] = {};
    EXPECT_EQ(area.view(area.base() + offset, 1)[0], value);
    ASSERT_TRUE(stopped->read(area.base() + offset, seen).ok());
    EXPECT_EQ(seen[0], value);
  }
  EXPECT_EQ(call(SYS_mprotect, {area.base(), kPage, PROT_READ | PROT_WRITE}), -EACCES);
}

TEST_F(Shared, NoDescriptorOfItStays) {
  const std::string folder = "/proc/" + std::to_string(victim.pid()) + "/fd";
  const auto count = [&folder] {
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  const auto before = count();
  create(kConstants);
  EXPECT_EQ(count(), before);
}

TEST_F(Shared, WhereItsPlaceIsTakenNothingIsLeft) {
  create(kConstants);
  const size_t mappings = read_maps(victim.pid()).value().size();
  memory.reset();  // of djtap; the target's are there
  EXPECT_FALSE(
      SessionMemory::create(*stopped, {base, 0, kArena, kPage}, {{}, kPage, sizeof(JournalHeader)})
          .ok());
  EXPECT_EQ(read_maps(victim.pid()).value().size(), mappings);
}

}  // namespace
}  // namespace dj
