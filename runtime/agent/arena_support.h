// TestArena: a formatted data arena for the agent's unit tests, shared with forked children as with
// a target.
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
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"
#include "runtime/shared/thread_table.h"

namespace dj {

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
    header.words = take(sizeof(abi::SessionWords));
    header.cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
    header.counter_shift = 7;
    header.counter_count = 8;
    header.counters = take((header.cpus + 1) << header.counter_shift);
    header.ring_bytes = kTestRingBytes;
    header.ring_stride = abi::ring_bytes(kTestRingBytes);
    header.rings = take(header.ring_stride * (header.cpus + 1));
    header.context_bytes = 16384;
    header.context_count = 4;
    header.contexts = private_.take(uint64_t{header.context_bytes} * header.context_count);
    header.strings = constants_.take(sizeof(abi::Strings));
    const uint64_t constants = constants_.take(kStringBytes);
    abi::strings_init(&strings(), take(abi::strings_data_bytes(kStringBytes)), kStringBytes,
                      constants, kStringBytes);
    header.captures = constants_.take(sizeof(abi::Captures));
    abi::captures_init(reinterpret_cast<abi::Captures*>(header.captures),
                       take(abi::captures_bytes(kTestHandlers)), kTestHandlers);
    header.max_string = 64;
    header.max_action = 1000;
    header.max_nesting = 10;
    header.target_pid = header.target_own_pid = static_cast<uint64_t>(getpid());
  }
  void TearDown() override {
    munmap(reinterpret_cast<void*>(dj_arena_base), kBytes + kPrivateBytes);
  }

  abi::Header& header() { return *reinterpret_cast<abi::Header*>(dj_arena_base); }
  abi::SessionWords& words() { return *abi::session_words(&header()); }
  abi::Strings& strings() { return *reinterpret_cast<abi::Strings*>(header().strings); }
  abi::StringWords& string_words() { return *reinterpret_cast<abi::StringWords*>(strings().words); }
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
  abi::Ring* ring(uint32_t i) {
    return reinterpret_cast<abi::Ring*>(header().rings + i * header().ring_stride);
  }
  abi::Map* make_map(const abi::MapForm& form) {
    auto* map = reinterpret_cast<abi::Map*>(constants_.take(sizeof(abi::Map)));
    abi::map_init(map, form, take(abi::map_bytes(form)));
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
