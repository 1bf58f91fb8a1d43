// SPDX-License-Identifier: Apache-2.0
// What handlers do in an arena that a hostile process writes to. The constants cannot be written
// and the memory around the arena is not there, so who follows a forged word out of the arena ends
// this test; a scan of private memory finds who follows one into it.
#include <sys/mman.h>

#include <chrono>
#include <random>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/stat.h"
#include "runtime/shared/thread_rows.h"
#include "stdlib/entries.h"

namespace dj {
namespace {

class Forged : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    guard_ = reinterpret_cast<uint64_t*>(private_.take(kGuardBytes));
    for (uint64_t i = 0; i < kGuardBytes / 8; ++i) guard_[i] = kPaint ^ i;
    words_ = make_map(32, 2);
    sums_ = make_map({32, 1, nullptr, false, true, header().cpus});
    wrapping_ = make_map({8, 1, nullptr, true});
    shape_ = {sizeof(abi::Stat) + sizeof(int64_t) * abi::kLogBuckets, 1, 0, 0, 0, 0};
    stats_ = make_map({16, 1, &shape_});
    copies_ = make_map({16, 1, &shape_});
    refs_ = take(8 * kRefs);
    header().trap_table.offset = offset_of(constants_.take(abi::trap_table_bytes(10, 0)));
    abi::trap_table_init(&table(), take(abi::trap_data_bytes(10, 0, header().cpus)) - dj_arena_base,
                         10, 0);
    ASSERT_TRUE(abi::trap_table_insert(&table(), &table().begin, 0x5000, 0x6000));
    header().site_count = 4;
    header().sites.offset = offset_of(constants_.take(4 * sizeof(abi::SiteInfo)));
    header().thread_row_count = 8;
    header().thread_rows.offset = offset_of(take(sizeof(abi::ThreadRows) + sizeof(uint32_t) * 8));
    known_ = reinterpret_cast<uint64_t>(abi::strings_intern_constant(&header(), "loadavg", 7));
    end_of_data_ = data_.next;
    ASSERT_EQ(mprotect(reinterpret_cast<void*>(dj_arena_base), kConstantBytes, PROT_READ), 0);
  }
  abi::TrapTable& table() { return *header().trap_table.get(place()); }

  // A word as attackers write them: an index, an address here or elsewhere, anything.
  uint64_t word() {
    switch (random_() % 8) {
      case 0:
        return 0;
      case 1:
        return random_() % 64;
      case 2:
        return random_();
      case 3:
        return dj_arena_base + random_() % kBytes;
      case 4:
        return random_() % kBytes;
      case 5:
        return ~uint64_t{0} - random_() % 64;
      case 6:
        return reinterpret_cast<uint64_t>(guard_) + random_() % kGuardBytes;
      default:
        return reinterpret_cast<uint64_t>(guard_) - dj_arena_base;
    }
  }
  void scribble(uint64_t count) {
    const uint64_t begin = dj_arena_base + kConstantBytes;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = begin + random_() % (end_of_data_ - begin) / 8 * 8;
      *reinterpret_cast<uint64_t*>(at) = word();
    }
    // Small parts would be met too rarely.
    for (const abi::Map* map : {words_, sums_, wrapping_, stats_, copies_}) {
      auto* first = reinterpret_cast<uint64_t*>(abi::map_words(place(), map));
      for (int i = 0; i < 4; ++i) first[random_() % (8 + map->bucket_mask)] = word();
      abi::map_node(place(), map, static_cast<uint32_t>(random_() % map->capacity))->link = word();
    }
    for (uint64_t i = 0; i < kRefs; ++i) reinterpret_cast<uint64_t*>(refs_)[i] = word();
    for (int i = 0; i < 3; ++i)
      reinterpret_cast<uint64_t*>(&string_words())[random_() % 5000] = word();
  }
  const abi::Str* string(uint64_t i) {
    return abi::str_at(&header(), reinterpret_cast<uint64_t*>(refs_)[i % kRefs]);
  }
  void use_strings(abi::Context* ctx) {
    const abi::Str *a = string(random_()), *b = string(random_());
    dj_intern(a);
    dj_str_equal(a, b);
    dj_str_compare(a, b);
    const abi::Str* joined = dj_intern(dj_str_concat(ctx, a, b));
    EXPECT_LE(abi::text_of(joined).len, abi::kMostStringBytes);
    dj_substr(ctx, a, 1, 100);
    dj_strtol(b, 0);
    dj_strpos(joined, joined);
    dj_tokenize(ctx, joined, string(random_()));
    dj_str_replace(ctx, joined, b, joined);
    dj_text_str(ctx, a);
    dj_warn(0, joined);
    const uint64_t args[] = {reinterpret_cast<uint64_t>(a), 5, reinterpret_cast<uint64_t>(b)};
    dj_event_print(0, 0, args, 3, 5);
    dj_user_error(ctx, b);
    ctx->raised = 0;
  }
  void use_maps(abi::Context* ctx) {
    for (const abi::Map* map : {words_, sums_, wrapping_}) {
      const uint64_t keys[] = {random_() % 4, random_() % 2};
      int64_t old;
      dj_map_update(map, keys, 0, 1, &old);
      dj_map_set(map, keys, 7);
      dj_map_get(map, keys);
      dj_map_has(map, keys);
      if (map->grows == 0) dj_map_take(map, keys);
      if (map->grows == 0) dj_map_delete(map, keys);
      walk(ctx, map);
    }
    const uint64_t key = random_() % 4;
    uint32_t empty;
    dj_map_stat_add(stats_, &key, 5);
    dj_map_stat_read(stats_, &key, 1, &empty);
    dj_slice_delete(stats_, &key, 1);
    dj_slice_stat_read(stats_, &key, 0, 1, &empty);
    dj_slice_event_hist(0, stats_, &key, 0, 0);
    dj_map_move(stats_, copies_);
    dj_map_clear(copies_);
  }
  void walk(abi::Context* ctx, const abi::Map* map) {
    uint64_t keys[2] = {};
    const uint32_t sort = abi::kSortKey | (random_() % 2 != 0 ? abi::kSortText : 0u);
    void* each = begin_walk(ctx, map, {sort, 0, 0}, -1, keys, 0);
    if (each == nullptr) {
      ctx->raised = 0;
      return;
    }
    int64_t value;
    for (int i = 0; dj_foreach_next(each, keys, &value) != 0; ++i) ASSERT_LE(i, 64);
  }
  void use_the_rest() {
    uint64_t values[2] = {};
    const uint64_t slot = reinterpret_cast<uint64_t>(values);
    dj_capture_store(1, slot, values, 2);
    dj_tail_leave(1, abi::kExitOwn | 1, slot);
    const uint32_t site = dj_tail_take(1, slot, values, 2);
    EXPECT_LE(site, header().site_count);
    dj_capture_take(1, slot, values, 2);
    dj_count_add(1, 1);
    dj_count_read(1);
    bool hit;
    abi::TrapCache* caches = table().caches.get(place());
    const abi::TrapEntry* entry = abi::trap_cached_find(&table(), caches, 0x5000, &hit);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(abi::trap_detour(*entry), 0x6000u);
    const uint32_t row =
        abi::take_thread_row(abi::thread_rows(&header()), 8, 77, [](uint32_t) { return true; });
    EXPECT_LT(row, 8u);
  }

  static constexpr uint64_t kGuardBytes = 1 << 16, kPaint = 0x5ca1ab1e'00000000, kRefs = 16;
  std::mt19937_64 random_{1};
  uint64_t* guard_ = nullptr;
  const abi::Map *words_ = nullptr, *sums_ = nullptr, *wrapping_ = nullptr;
  const abi::Map *stats_ = nullptr, *copies_ = nullptr;
  abi::StatShape shape_ = {};
  uint64_t refs_ = 0, known_ = 0, end_of_data_ = 0;
};

TEST_F(Forged, WordsLeadNowhereElse) {
  constexpr auto kBudget = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 3000; ++round) {
    if (std::chrono::steady_clock::now() - begin > kBudget) break;
    scribble(200);
    const auto started = std::chrono::steady_clock::now();
    abi::Context* ctx = dj_enter(1);
    ASSERT_NE(ctx, nullptr);
    use_strings(ctx);
    use_maps(ctx);
    dj_leave(ctx);
    use_the_rest();
    ASSERT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(2)) << round;
  }
  for (uint64_t i = 0; i < kGuardBytes / 8; ++i) ASSERT_EQ(guard_[i], kPaint ^ i) << i;
}

// A constant text is what the controller wrote, whatever the data said of it before.
TEST_F(Forged, ConstantTextsStay) {
  EXPECT_EQ(text(reinterpret_cast<const abi::Str*>(known_)), "loadavg");
  EXPECT_LT(known_, dj_arena_base + kConstantBytes);
  EXPECT_EQ(abi::strings_intern(&header(), "loadavg", 7), reinterpret_cast<abi::Str*>(known_));
}

// A hostile process has put a Str of its own into the table before the controller interns the text.
TEST_F(Forged, ConstantTextsLieInTheConstants) {
  ASSERT_EQ(
      mprotect(reinterpret_cast<void*>(dj_arena_base), kConstantBytes, PROT_READ | PROT_WRITE), 0);
  const abi::Str* planted = abi::strings_intern(&header(), "status", 6);
  const abi::Str* kept = abi::strings_intern_constant(&header(), "status", 6);
  EXPECT_NE(kept, planted);
  EXPECT_LT(reinterpret_cast<uint64_t>(kept), dj_arena_base + kConstantBytes);
  EXPECT_EQ(abi::strings_intern(&header(), "status", 6), kept);
}

TEST_F(Forged, ReferencesOutsideAreTheEmptyString) {
  const abi::Str* empty = abi::str_at(&header(), 0);
  EXPECT_EQ(text(empty), "");
  for (uint64_t ref : {uint64_t{1}, kBytes, kBytes - abi::kStringTail, ~uint64_t{0}, dj_arena_base,
                       reinterpret_cast<uint64_t>(guard_) - dj_arena_base})
    EXPECT_EQ(abi::str_at(&header(), ref), empty) << ref;
  const uint64_t inside = kBytes - abi::kStringTail - 1;
  EXPECT_EQ(reinterpret_cast<uint64_t>(abi::str_at(&header(), inside)), dj_arena_base + inside);
}

}  // namespace
}  // namespace dj
