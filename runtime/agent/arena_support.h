// SPDX-License-Identifier: Apache-2.0
// TestArena formats a data arena for the agent's unit tests, which forked children share as a
// target does.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/shared/capture.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/map.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"
#include "runtime/shared/thread_table.h"

namespace dj::abi {

// Whether node `index` is in its chain. One that a killed process was about to insert is not,
// though filled.
inline bool map_is_linked(Arena arena, const Map* map, uint32_t index) {
  uint64_t link = load(map_head(arena, map, load(&map_node(arena, map, index)->hash)));
  for (uint32_t steps = 0; steps < map->capacity; ++steps) {
    uint64_t next = link & kLinkIndexMask;
    if (next == 0 || next > map->capacity) return false;
    if (next == index + 1) return true;
    link = load(&map_node(arena, map, static_cast<uint32_t>(next) - 1)->link);
  }
  return false;
}

// Calls visit(const MapNode&, const Stat*) for every element; the Stat is null where elements are
// words. The controller has its own way, which believes no link (map_elements.h).
template <typename Visit>
void map_each(Arena arena, const Map* map, Visit visit) {
  for (uint32_t i = 0; i < map_used(arena, map); ++i) {
    MapNode* node = map_node(arena, map, i);
    if ((load(&node->pair.second) & kNodeAlive) == 0 || !map_is_linked(arena, map, i)) continue;
    visit(*node,
          map->shape.bytes != 0 ? map_node_stat(map, node) : static_cast<const Stat*>(nullptr));
  }
}

}  // namespace dj::abi

namespace dj {

inline void* begin_walk(abi::Context* ctx, const abi::Map* map, const abi::SortOrder& order,
                        int64_t limit, const uint64_t* keys, uint32_t given) {
  return dj_foreach_begin(ctx, map, &order, limit, keys, given);
}

constexpr uint64_t kTestRingBytes = 1 << 16, kTestHandlers = 8;

class TestArena : public testing::Test {
 protected:
  void SetUp() override {
    void* at = reinterpret_cast<void*>(dj_arena_base);
    ASSERT_EQ(at, mmap(at, kBytes + kPrivateBytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    constants_ = {dj_arena_base + 4096, dj_arena_base + kConstantBytes};
    data_ = {constants_.end, dj_arena_base + kBytes};
    private_ = {data_.end, data_.end + kPrivateBytes};
    abi::Header& header = this->header();
    header.arena_base = dj_arena_base;
    header.arena_bytes = kBytes;
    header.constant_bytes = kConstantBytes;
    header.words.offset = offset_of(take(sizeof(abi::SessionWords)));
    header.cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
    header.counter_shift = 7;
    header.counter_count = 8;
    header.counters.offset = offset_of(take((header.cpus + 1) << header.counter_shift));
    header.ring_bytes = kTestRingBytes;
    header.ring_stride = abi::ring_bytes(kTestRingBytes);
    header.rings.offset = offset_of(take(header.ring_stride * (header.cpus + 1)));
    header.context_bytes = 16384;
    header.context_count = 4;
    header.contexts.offset =
        offset_of(private_.take(uint64_t{header.context_bytes} * header.context_count));
    header.threads.offset = offset_of(private_.take(sizeof(abi::ThreadTable)));
    header.strings.offset = offset_of(constants_.take(sizeof(abi::Strings)));
    const uint64_t constants = constants_.take(kStringBytes);
    abi::strings_init(&strings(), take(abi::strings_data_bytes(kStringBytes)) - dj_arena_base,
                      kStringBytes, constants - dj_arena_base, kStringBytes);
    header.captures.offset = offset_of(constants_.take(sizeof(abi::Captures)));
    abi::captures_init(header.captures.get(place()),
                       take(abi::captures_bytes(kTestHandlers)) - dj_arena_base, kTestHandlers);
    header.max_string = 64;
    header.max_action = 1000;
    header.max_nesting = 10;
    header.target_pid = header.target_own_pid = static_cast<uint64_t>(getpid());
    header.first_pid = header.first_own_pid = header.target_pid;
  }
  void TearDown() override {
    munmap(reinterpret_cast<void*>(dj_arena_base), kBytes + kPrivateBytes);
  }

  abi::Header& header() { return *reinterpret_cast<abi::Header*>(dj_arena_base); }
  static abi::Arena place() { return {dj_arena_base, kBytes}; }
  abi::SessionWords& words() { return *abi::session_words(&header()); }
  abi::Strings& strings() { return *header().strings.get(place()); }
  abi::StringWords& string_words() { return *strings().words.get(place()); }
  // For a reference of the Header.
  static uint32_t offset_of(uint64_t address) {
    return static_cast<uint32_t>(address - dj_arena_base);
  }
  // The next free place of a part of the memory.
  struct Part {
    uint64_t next = 0, end = 0;
    uint64_t take(uint64_t bytes) {
      uint64_t at = next;
      next = (next + bytes + 127) / 128 * 128;
      EXPECT_LE(next, end);
      return at;
    }
  };
  // Of the data.
  uint64_t take(uint64_t bytes) { return data_.take(bytes); }
  abi::Ring* ring(uint32_t i) { return abi::ring_of_row(&header(), place(), i); }
  abi::Map* make_map(const abi::MapForm& form) {
    auto* map = reinterpret_cast<abi::Map*>(constants_.take(sizeof(abi::Map)));
    abi::map_init(map, form, take(abi::map_bytes(form)) - dj_arena_base);
    return map;
  }
  abi::Map* make_map(uint32_t capacity, uint32_t keys, const abi::StatShape* shape = nullptr) {
    return make_map({capacity, keys, shape});
  }
  // A Str that is not interned; lives as long as the fixture.
  const abi::Str* str(std::string_view text) {
    auto* made = reinterpret_cast<abi::Str*>(take(sizeof(abi::Str) + text.size()));
    made->len = static_cast<uint32_t>(text.size());
    std::memcpy(made->data, text.data(), text.size());
    return made;
  }
  static std::string text(const abi::Str* s) { return {s->data, s->len}; }

  static constexpr uint64_t kBytes = 64 << 20, kConstantBytes = 4 << 20, kStringBytes = 1 << 20;
  static constexpr uint64_t kPrivateBytes = 16 << 20;
  Part constants_, data_, private_;
};

}  // namespace dj
