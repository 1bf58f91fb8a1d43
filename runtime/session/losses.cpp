// SPDX-License-Identifier: Apache-2.0
// Losses are read from the words of the session and from the tables that count some of them.
#include "runtime/session/losses.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/map_elements.h"
#include "runtime/output/messages.h"
#include "runtime/process/os_error.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/thread_rows.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

// In the order of abi::Skip.
constexpr struct {
  const char* code;
  const char* noun;
  const char* rest;
} kSkipTexts[abi::kSkipCount] = {
    {"DJ5904", "hit", "skipped: too many handlers at once (raise -D CONTEXTS)"},
    {"DJ5905", "new element", "dropped: an array is full"},
    {"DJ5905", "event", "lost: a ring is full (raise -D RINGBYTES)"},
    {"DJ5905", "string", "dropped: string memory is full (raise -D STRINGBYTES)"},
    {"DJ5905", "string", "cut (raise -D MAXSTRINGLEN)"},
    {"DJ5906", "handler", "ended by MAXACTION"},
    {"DJ5906", "handler", "ended by MAXNESTING"},
    {"DJ5907", "return", "without entry values: no room for them"},
    {"DJ5907", "return",
     "without entry values: entered before the probe or before a fork, or at an entry that is not "
     "probed, or reading them was an error"},
    {"DJ5905", "stack", "cut (raise -D MAXBACKTRACE)"},
    {"DJ5904", "array operation", "given up: too much contention"},
};

uint64_t lost_returns(const ArenaView& arena, const Plan& plan, const Layout& layout) {
  if (!layout.header.captures.is_set()) return 0;
  const uint64_t first = layout.words.captures + offsetof(abi::CaptureCount, unseen) +
                         abi::kUnseenTail * sizeof(uint64_t);
  // The room for later handlers is not read: its pages are not there yet.
  const uint64_t handlers =
      std::min<uint64_t>(plan.handlers.size() + plan.dlopened_calls.size(), capture_handlers(plan));
  uint64_t lost = 0;
  for (uint64_t i = 0; i < handlers; ++i)
    lost += arena.word(first + i * sizeof(abi::CaptureCount)).number();
  return lost;
}

uint64_t crowded_threads(const ArenaView& arena, const Layout& layout) {
  const uint64_t crowded =
      layout.header.thread_rows.address(layout.arena()) + offsetof(abi::ThreadRows, crowded);
  return arena.word<uint32_t>(crowded).number();
}

// How room is made in the arrays that have been full: " (raise the size of `a[5]`)".
std::string room_for_elements(const ArenaView& arena, const Program& program,
                              const Layout& layout) {
  std::vector<std::string> sized, others;
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    if (global.storage != Storage::Array || global.array.wrap) continue;
    const GlobalSlot& slot = layout.globals[i];
    const abi::MapForm form = map_form(global, slot, layout);
    if (used_nodes(arena, slot.data, form) < form.capacity) continue;
    if (global.array.capacity == 0) {
      others.push_back(fmt::format("`{}`", global.name));
    } else {
      sized.push_back(fmt::format("`{}[{}]`", global.name, global.array.capacity));
    }
  }
  std::vector<std::string> ways;
  if (!sized.empty()) ways.push_back(fmt::format("the size of {}", fmt::join(sized, ", ")));
  if (!others.empty())
    ways.push_back(fmt::format("-D MAXMAPENTRIES for {}", fmt::join(others, ", ")));
  return ways.empty() ? "" : fmt::format(" (raise {})", fmt::join(ways, " and "));
}

// "events", "processes".
std::string plural(std::string_view noun) { return counted(0, noun).substr(2); }

// "sh (2), sed ..." of the programs that processes of the session have executed; the target can
// write there. Empty: none has a name.
std::string executed_names(const ToldWords& words) {
  constexpr size_t kMostNamed = 8;
  std::map<std::string, uint64_t> programs;  // two places may have one name
  for (uint32_t i = 0; i < abi::kExecutedPrograms; ++i) {
    const auto [name, count] = words.executed_program(i);
    if (!name.empty() && count > 0) programs[printable(name)] += count;
  }
  std::string names;
  size_t shown = 0;
  for (const auto& [name, count] : programs) {
    if (++shown > kMostNamed) break;
    names += fmt::format("{}{}", shown == 1 ? "" : ", ", name);
    if (count > 1) names += fmt::format(" ({})", count);
  }
  return programs.size() > kMostNamed ? names + " ..." : names;
}

}  // namespace

std::vector<Loss> losses(const LossInput& input) {
  const ArenaView arena(input.layout.base, input.layout.bytes);
  std::vector<Loss> found;
  uint32_t kind = 0;
  const auto add = [&](std::string_view code, uint64_t count, std::string_view noun,
                       std::string rest) {
    ++kind;
    if (count > 0)
      found.push_back({kind, std::string(code), count, std::string(noun), std::move(rest)});
  };
  for (uint32_t i = 0; i < abi::kSkipCount; ++i) {
    const auto& [code, noun, rest] = kSkipTexts[i];
    const uint64_t count = input.words.skipped(static_cast<abi::Skip>(i));
    const bool is_full = i == abi::kSkipMapFull && count > 0;
    add(code, count, noun,
        rest + (is_full ? room_for_elements(arena, input.program, input.layout) : ""));
  }
  add("DJ5908", crowded_threads(arena, input.layout), "thread",
      "found no row to count in: counts may be too low");
  add("DJ5907", lost_returns(arena, input.plan, input.layout), "return",
      "not seen: tail calls into code whose exits are not known");
  // Where all processes of some programs are meant, what these execute is none of them.
  const uint64_t executed = input.plan.is_everywhere ? 0 : input.words.executed();
  const std::string names = executed > 0 ? executed_names(input.words) : "";
  add("DJ5912", executed, "process",
      "that the target had started left the session by execve()" +
          (names.empty() ? "" : ": " + names));
  return found;
}

void report_losses(const LossInput& input) {
  for (const Loss& loss : losses(input))
    report_warning(loss.code, fmt::format("{} {}", counted(loss.count, loss.noun), loss.rest));
}

void LossWatch::look() {
  constexpr uint64_t kIntervalNs = 100'000'000, kPatienceNs = 300'000'000;
  const uint64_t now = now_ns();
  if (now < next_ns_) return;
  next_ns_ = now + kIntervalNs;
  for (const Loss& loss : losses(input_)) {
    const auto [seen, is_new] = seen_.try_emplace(loss.kind, Seen{now, false});
    if (is_new || seen->second.is_told || now - seen->second.first_ns < kPatienceNs) continue;
    seen->second.is_told = true;
    report_warning(loss.code, fmt::format("{} {}; {} so far, all are counted at the end",
                                          plural(loss.noun), loss.rest, loss.count));
  }
}

}  // namespace dj
