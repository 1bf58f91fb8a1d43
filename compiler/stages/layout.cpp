// SPDX-License-Identifier: Apache-2.0
// lay_out(): pure arithmetic over Program, Plan and limits. First all constants, then all data;
// parts follow each other on page boundaries; what is never touched costs no memory, the arena is
// sparse.
#include "compiler/stages/layout.h"

#include <algorithm>
#include <bit>
#include <set>

#include "compiler/base/page.h"
#include "compiler/stages/result_use.h"
#include "compiler/stages/walk.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/context.h"
#include "runtime/shared/map.h"
#include "runtime/shared/own_code.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/stat.h"
#include "runtime/shared/strings.h"
#include "runtime/shared/thread_rows.h"
#include "runtime/shared/thread_table.h"
#include "runtime/shared/trap.h"

namespace dj {
namespace {

constexpr uint64_t kLine = 64;
// One element of foreach's snapshot (entries.h) and the scratch memory for a handler's strings.
constexpr uint64_t kSnapshotBytes = 24, kStringScratchBytes = 64 << 10;
// All contexts together; above it there are fewer of them, but not fewer than kContextsMin.
constexpr uint64_t kContextsBytesMax = 256 << 20, kContextsMin = 4;
constexpr uint64_t kStringsInRing = 4;
// int3 bytes of one place: a jump has several guards. Memory that nobody uses is never touched.
constexpr uint64_t kTrapsPerPlace = 16;
// Places that are found later: exits of functions that a function's tail calls lead to.
constexpr uint64_t kMorePlaces = 4096;
// The rows of sums of one array; no rows where they would take more.
constexpr uint64_t kSumRowsBytes = 16 << 20;
// Threads and forked children that count at one time; fewer where rows are long.
constexpr uint64_t kThreadRows = 32768;
// SpareRoom.
constexpr uint64_t kSpareConstants = 64 << 10, kSpareData = 64 << 20, kSpareScratch = 256 << 10;
constexpr uint32_t kSpareCounters = 64;

uint64_t planned_traps(const Plan& plan) {
  constexpr uint64_t kMostExits = 1 << 17;  // functions that share their exits count them each
  return (plan.sites.size() + std::min(plan.exits, kMostExits)) * kTrapsPerPlace;
}
uint64_t most_traps(const Plan& plan) { return planned_traps(plan) + kMorePlaces * kTrapsPerPlace; }

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// The next free address of the arena at `base`; take() hands out and moves on.
struct Cursor {
  uint64_t base, next;
  uint64_t take(uint64_t bytes, uint64_t alignment) {
    uint64_t at = round_up(next, alignment);
    next = at + bytes;
    return at;
  }
  // As take(), for an ArenaRef.
  uint32_t take_ref(uint64_t bytes, uint64_t alignment) {
    return static_cast<uint32_t>(take(bytes, alignment) - base);
  }
};

SpareRoom::Range take_range(Cursor& cursor, uint64_t bytes) {
  const uint64_t begin = cursor.take(bytes, kPage);
  return {begin, begin + bytes};
}

// What the bodies of handlers say: their string literals, and scratch memory for their loops.
struct BodyFacts {
  const Program& program;
  const Limits& limits;
  std::set<std::string> texts;
  uint64_t snapshot_bytes = 0;

  void operator()(const Expr& expr) {
    if (const auto* text = std::get_if<StrLit>(&expr.node)) texts.insert(text->value);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) {
    if (const auto* loop = std::get_if<Foreach>(&stmt.node)) {
      int64_t capacity = program.globals[loop->array].array.capacity;
      snapshot_bytes += kPage + kSnapshotBytes * (capacity > 0 ? capacity : limits.max_map_entries);
    }
    for_each_child(stmt, *this);
  }
};

abi::StatShape stat_shape(const Global& global) {
  abi::StatShape shape = {};
  shape.has_log = global.asked.hist_log;
  if (global.asked.hist_linear) {
    const Linear& linear = *global.asked.hist_linear;
    int64_t buckets = linear.step > 0 && linear.stop >= linear.start
                          ? (linear.stop - linear.start) / linear.step
                          : 0;
    shape.linear_count = static_cast<uint32_t>(buckets + 3);  // start .. stop, one below, one above
    shape.linear_start = linear.start;
    shape.linear_step = linear.step;
  }
  shape.extras = (global.asked.variance ? abi::kStatSquares : 0) |
                 (global.asked.percentiles ? abi::kStatFine : 0) |
                 (global.array.grows ? abi::kStatGrows : 0);
  uint64_t words = (shape.has_log ? abi::kLogBuckets : 0) + shape.linear_count +
                   (global.asked.variance ? 2 : 0) +
                   (global.asked.percentiles ? abi::kFineBuckets : 0);
  shape.bytes = static_cast<uint32_t>(sizeof(abi::Stat) + 8 * words);
  return shape;
}

void lay_out_counters(const Program& program, const Plan& plan, Layout& layout, Cursor& cursor) {
  uint32_t count = 0;
  for (size_t i = 0; i < program.globals.size(); ++i) {
    if (program.globals[i].storage == Storage::Counter) layout.globals[i].counter = count++;
  }
  layout.spare.counter = count;
  if (plan.awaits_additions) count += kSpareCounters;
  layout.spare.counters_end = count;
  // A line apart from other rows, and one more: the prefetcher takes pairs.
  uint64_t row_bytes = std::bit_ceil(std::max<uint64_t>(8ull * count, 2 * kLine));
  layout.header.counter_count = count;
  layout.header.counter_shift = static_cast<uint32_t>(std::countr_zero(row_bytes));
  const uint64_t threads = std::min(kThreadRows, kThreadRowsBytes / row_bytes);
  layout.header.counters.offset = cursor.take_ref(row_bytes * (layout.cpus + 1 + threads), kPage);
  layout.thread_rows = static_cast<uint32_t>(threads);
  layout.header.thread_rows.offset =
      cursor.take_ref(offsetof(abi::ThreadRows, owner) + 4 * threads, 2 * kLine);
}

void lay_out_global_constants(const Global& global, GlobalSlot& slot, Cursor& cursor) {
  if (global.value == Type::Stat) {
    slot.shape = stat_shape(global);
    slot.shape_address = cursor.take(sizeof(abi::StatShape), kLine);
  }
  if (global.storage == Storage::Array) slot.address = cursor.take(sizeof(abi::Map), kLine);
}

void lay_out_global(const Global& global, GlobalSlot& slot, Layout& layout, Cursor& cursor) {
  switch (global.storage) {
    case Storage::Counter:
      break;
    case Storage::Scalar:
      slot.address = cursor.take(8, kLine);
      break;
    case Storage::Stats:
      slot.stride = std::bit_ceil(std::max<uint32_t>(slot.shape.bytes, 2 * kLine));
      slot.address = cursor.take(uint64_t{slot.stride} * (layout.cpus + 1), 2 * kLine);
      break;
    case Storage::Array:
      slot.data = cursor.take(abi::map_bytes(map_form(global, slot, layout)), kPage);
      break;
  }
}

// Those that have no place yet.
void lay_out_texts(const Program& program, BodyFacts facts, Layout& layout, Cursor& cursor) {
  std::set<std::string>& texts = facts.texts;
  texts.insert("");
  for (const Global& global : program.globals) {
    if (const auto* text = std::get_if<std::string>(&global.init)) texts.insert(*text);
  }
  for (const std::string& text : layout.strings.texts) texts.erase(text);
  for (const std::string& text : texts) {
    layout.strings.texts.push_back(text);
    layout.strings.words.push_back(cursor.take(sizeof(uint32_t), sizeof(uint32_t)));
  }
}

// Of a handler that takes snapshots of arrays, with scratch memory for strings.
uint64_t context_bytes(uint64_t snapshot_bytes, const Limits& limits) {
  uint64_t strings = std::max<uint64_t>(kStringScratchBytes, 16 * limits.max_string_len);
  return round_up(sizeof(abi::Context) + strings + snapshot_bytes, kPage);
}

void lay_out_contexts(uint64_t snapshot_bytes, Layout& layout) {
  const uint64_t bytes = context_bytes(snapshot_bytes, layout.limits);
  uint64_t count =
      std::clamp<uint64_t>(kContextsBytesMax / bytes, kContextsMin, layout.limits.contexts);
  layout.header.context_bytes = static_cast<uint32_t>(bytes);
  layout.header.context_count = static_cast<uint32_t>(count);
}

// Behind the arena.
void lay_out_private_memory(Layout& layout) {
  abi::Header& header = layout.header;
  const uint64_t begin = layout.base + layout.bytes, bytes = abi::context_bytes(&header);
  const auto from_base = [&layout](uint64_t at) { return static_cast<uint32_t>(at - layout.base); };
  header.contexts.offset = from_base(begin);
  header.threads.offset = from_base(begin + bytes);
  header.own_stacks.offset = from_base(abi::own_stacks_at(begin, bytes));
}

// Literals of all bodies, and the scratch memory of the body that needs most (with all functions').
BodyFacts body_facts(const Program& program, const Limits& limits) {
  BodyFacts all{program, limits, {}, 0};
  for (const Function& function : program.functions) {
    if (function.body) all(*function.body);
  }
  uint64_t functions = all.snapshot_bytes, most = 0;
  for (const Probe& probe : program.probes) {
    all.snapshot_bytes = 0;
    if (probe.body) all(*probe.body);
    most = std::max(most, all.snapshot_bytes);
  }
  all.snapshot_bytes = functions + most;
  return all;
}

void fill_limits(const Limits& limits, abi::Header& header) {
  header.max_string = static_cast<uint32_t>(limits.max_string_len);
  header.max_action = static_cast<uint32_t>(limits.max_action);
  header.max_nesting = static_cast<uint32_t>(limits.max_nesting);
}

// What each process uses stands in front, in few page tables: most of the large parts behind it is
// never touched.
void lay_out_all_constants(const Program& program, const Plan& plan, const BodyFacts& facts,
                           uint64_t stack_bytes, Layout& layout, Cursor& cursor) {
  abi::Header& header = layout.header;
  for (size_t i = 0; i < program.globals.size(); ++i) {
    lay_out_global_constants(program.globals[i], layout.globals[i], cursor);
  }
  lay_out_texts(program, facts, layout, cursor);
  if (plan.awaits_additions) layout.spare.constants = take_range(cursor, kSpareConstants);
  header.strings.offset = cursor.take_ref(sizeof(abi::Strings), kLine);
  const bool dlopened = has_room_for_more(plan);
  header.site_count = static_cast<uint32_t>(plan.sites.size() + plan.host_probes.size()) +
                      (dlopened ? kDlopenedSites : 0);
  if (keeps_calls(plan) || dlopened)
    header.captures.offset = cursor.take_ref(sizeof(abi::Captures), kLine);
  header.sites.offset = cursor.take_ref(sizeof(abi::SiteInfo) * header.site_count, kPage);
  if (stack_bytes > 0) header.stack_tables.offset = cursor.take_ref(stack_bytes, kPage);
  layout.traps.dlopened = dlopened ? kDlopenedTraps : 0;
  layout.traps.table_bytes = abi::trap_table_bytes(most_traps(plan), layout.traps.dlopened);
  layout.traps.table = cursor.take(layout.traps.table_bytes, kPage);
  // Of the texts that the controller interns: as much as handlers have.
  layout.strings.constants = cursor.take(static_cast<uint64_t>(layout.limits.string_bytes), kPage);
}

void lay_out_all_data(const Program& program, const Plan& plan, Layout& layout, Cursor& cursor) {
  abi::Header& header = layout.header;
  header.words.offset = cursor.take_ref(sizeof(abi::SessionWords), kLine);
  lay_out_counters(program, plan, layout, cursor);
  for (size_t i = 0; i < program.globals.size(); ++i) {
    lay_out_global(program.globals[i], layout.globals[i], layout, cursor);
  }
  header.ring_bytes = static_cast<uint64_t>(layout.limits.ring_bytes);
  header.ring_stride = round_up(abi::ring_bytes(header.ring_bytes), kPage);
  header.rings.offset = cursor.take_ref(header.ring_stride * (layout.cpus + 1), kPage);
  const auto string_bytes = static_cast<uint64_t>(layout.limits.string_bytes);
  layout.strings.data = cursor.take(abi::strings_data_bytes(string_bytes), kPage);
  if (header.captures.is_set())
    layout.words.captures = cursor.take(abi::captures_bytes(capture_handlers(plan)), kPage);
  layout.traps.data_bytes =
      abi::trap_data_bytes(most_traps(plan), layout.traps.dlopened, layout.cpus);
  layout.traps.data = cursor.take(layout.traps.data_bytes, kPage);
  if (plan.awaits_processes) {
    TrapsAt& traps = layout.traps;
    static_assert(kProcessTraps <= kMorePlaces * kTrapsPerPlace);  // the table has room for them
    traps.further_traps = planned_traps(plan) + kProcessTraps;
    traps.further_bytes =
        round_up(abi::trap_data_bytes(traps.further_traps, kProcessTraps, layout.cpus), kPage);
    const uint64_t most = std::min<uint64_t>(kMostProcesses, kProcessesBytes / traps.further_bytes);
    traps.processes += static_cast<uint32_t>(most);
    traps.further = cursor.take(most * traps.further_bytes, kPage);
  }
  layout.words.samples = cursor.take(8 * plan.host_probes.size(), kLine);
  if (plan.awaits_additions) layout.spare.data = take_range(cursor, kSpareData);
}

}  // namespace

abi::MapForm map_form(const Global& global, const GlobalSlot& slot, const Layout& layout) {
  abi::MapForm form{
      static_cast<uint32_t>(global.array.capacity > 0 ? global.array.capacity
                                                      : layout.limits.max_map_entries),
      static_cast<uint32_t>(global.keys.size())};
  if (global.value == Type::Stat) form.shape = &slot.shape;
  form.wrap = global.array.wrap;
  form.grows = global.array.grows;
  if (global.array.sums &&
      uint64_t{layout.cpus} << abi::map_row_shift(form.capacity) <= kSumRowsBytes)
    form.rows = layout.cpus;
  return form;
}

Layout lay_out(const Program& program, const Plan& plan, const Limits& limits, uint32_t cpus,
               uint64_t base, uint64_t stack_bytes) {
  Layout layout;
  layout.base = base;
  layout.cpus = cpus;
  layout.limits = limits;
  // A record is at most half of its ring, and others should have room beside the longest string.
  layout.limits.ring_bytes = std::max<int64_t>(
      limits.ring_bytes, int64_t(std::bit_ceil(uint64_t(limits.max_string_len) * kStringsInRing)));
  layout.globals.resize(program.globals.size());
  abi::Header& header = layout.header;
  header = {};
  header.magic = abi::kMagic;
  header.version = abi::kVersion;
  header.cpus = cpus;
  fill_limits(limits, header);

  const BodyFacts facts = body_facts(program, limits);
  lay_out_contexts(facts.snapshot_bytes + (plan.awaits_additions ? kSpareScratch : 0), layout);
  Cursor cursor{base, base + sizeof(abi::Header)};
  lay_out_all_constants(program, plan, facts, stack_bytes, layout, cursor);
  header.constant_bytes = round_up(cursor.next - base, kPage);
  cursor.next = base + header.constant_bytes;
  lay_out_all_data(program, plan, layout, cursor);

  layout.bytes = round_up(cursor.next + abi::kStringTail - base, kPage);
  header.arena_base = base;
  header.arena_bytes = layout.bytes;
  lay_out_private_memory(layout);
  const uint64_t first = layout.strings.constants - base;
  layout.refs = {first, layout.bytes - abi::kStringTail - first};
  return layout;
}

Status lay_out_more(const Program& program, Layout& layout) {
  Layout more = layout;
  const BodyFacts facts = body_facts(program, layout.limits);
  if (context_bytes(facts.snapshot_bytes, layout.limits) > layout.header.context_bytes)
    return Error{"its loops over arrays need more memory than the session has for them"};
  const size_t first = layout.globals.size();
  more.globals.resize(program.globals.size());
  SpareRoom& spare = more.spare;
  Cursor constants{layout.base, spare.constants.begin}, data{layout.base, spare.data.begin};
  for (size_t i = first; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    lay_out_global_constants(global, more.globals[i], constants);
    lay_out_global(global, more.globals[i], more, data);
    if (global.storage == Storage::Counter) more.globals[i].counter = spare.counter++;
  }
  lay_out_texts(program, facts, more, constants);
  if (spare.counter > spare.counters_end || constants.next > spare.constants.end ||
      data.next > spare.data.end)
    return Error{"the session has no more memory for globals that are added"};
  spare.constants.begin = constants.next;
  spare.data.begin = data.next;
  layout = std::move(more);
  return ok_status();
}

}  // namespace dj
