// What a session leaves behind, read from the arena and from the list of sites.
#include "runtime/session/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "compiler/stages/shown_symbol.h"
#include "runtime/output/map_elements.h"
#include "runtime/output/tell.h"
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
     "without entry values: entered before the probe or before a fork, or reading them was an "
     "error"},
    {"DJ5904", "array operation", "given up: too much contention"},
};

uint64_t lost_returns(const ArenaView& arena, const Plan& plan, const Layout& layout) {
  if (layout.header.captures == 0) return 0;
  const uint64_t first = layout.capture_data + offsetof(abi::CaptureCount, lost);
  uint64_t lost = 0;
  for (uint64_t i = 0, count = capture_handlers(plan); i < count; ++i)
    lost += arena.word(first + i * sizeof(abi::CaptureCount)).number();
  return lost;
}

uint64_t crowded_threads(const ArenaView& arena, const Layout& layout) {
  const uint64_t crowded = layout.header.thread_rows + offsetof(abi::ThreadRows, crowded);
  return arena.word<uint32_t>(crowded).number();
}

// How room is made in the arrays that have been full: " (raise the size of `a[5]`)".
std::string room_for_elements(const ArenaView& arena, const Program& program,
                              const Layout& layout) {
  std::vector<std::string> sized, others;
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    if (global.storage != Storage::Array || global.wrap) continue;
    const GlobalSlot& slot = layout.globals[i];
    const abi::MapForm form = map_form(global, slot, layout);
    if (used_nodes(arena, slot.data, form) < form.capacity) continue;
    if (global.capacity == 0) {
      others.push_back(fmt::format("`{}`", global.name));
    } else {
      sized.push_back(fmt::format("`{}[{}]`", global.name, global.capacity));
    }
  }
  std::vector<std::string> ways;
  if (!sized.empty()) ways.push_back(fmt::format("the size of {}", fmt::join(sized, ", ")));
  if (!others.empty())
    ways.push_back(fmt::format("-D MAXMAPENTRIES for {}", fmt::join(others, ", ")));
  return ways.empty() ? "" : fmt::format(" (raise {})", fmt::join(ways, " and "));
}

}  // namespace

void report_skips(const ToldWords& words, const Program& program, const Plan& plan,
                  const Layout& layout) {
  const ArenaView arena(layout.base, layout.bytes);
  for (uint32_t i = 0; i < abi::kSkipCount; ++i) {
    const uint64_t skipped = words.skipped(static_cast<abi::Skip>(i));
    if (skipped == 0) continue;
    const auto& [code, noun, rest] = kSkipTexts[i];
    const std::string room =
        i == abi::kSkipMapFull ? room_for_elements(arena, program, layout) : "";
    tell_warning(code, fmt::format("{} {}{}", counted(skipped, noun), rest, room));
  }
  if (const uint64_t crowded = crowded_threads(arena, layout); crowded != 0) {
    tell_warning("DJ5908", fmt::format("{} found no row to count in: counts may be too low",
                                       counted(crowded, "thread")));
  }
  if (uint64_t lost = lost_returns(arena, plan, layout); lost != 0) {
    tell_warning("DJ5907",
                 fmt::format("{} not seen: tail calls into code whose exits are not known",
                             counted(lost, "return")));
  }
}

void report_unusual_sites(const std::vector<InstalledSite>& sites) {
  constexpr size_t kMost = 100;
  size_t count = 0;
  for (const InstalledSite& site : sites) {
    if (site.reason.empty() && site.state != SiteState::Gone) continue;
    if (++count <= kMost) log_line("{}", to_string(site));
  }
  if (count > kMost) log_line("and {} more (--probes shows all)", count - kMost);
}

void report_sites(const std::vector<InstalledSite>& sites) {
  for (const InstalledSite& site : sites) log_line("{}", to_string(site));
}

void warn_skipped_sites(const std::vector<InstalledSite>& sites) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const InstalledSite& site : sites) {
    // The detail in parentheses is for --probes; here sites of one kind are one line.
    if (site.state == SiteState::Skipped)
      by_reason[site.reason.substr(0, site.reason.find(" ("))].push_back(shown_symbol(site.symbol));
  }
  for (const auto& [reason, symbols] : by_reason) {
    std::string names = fmt::format(
        "{}",
        fmt::join(symbols.begin(), symbols.begin() + std::min<size_t>(3, symbols.size()), ", "));
    const bool is_writable = reason == "writable-text";
    tell_warning("DJ4901",
                 fmt::format("{} not probed [SKIPPED: {}]: {}{}{}", counted(symbols.size(), "site"),
                             reason, names, symbols.size() > 3 ? " ... (all by --probes)" : "",
                             is_writable ? "; the program may write to its code (--writable-text "
                                           "trusts it not to)"
                                         : ""));
  }
}

void warn_unraised(Session& session) {
  const size_t left_out = session.take_unraised();
  if (left_out == 0) return;
  tell_warning("DJ5903",
               fmt::format("{} of marks not raised, as a session raises {} at most: the program "
                           "may leave those marks out",
                           counted(left_out, "semaphore"), abi::kMostRaised));
}

void report_arming(Session& session, StageClock& clock, bool list, bool warn) {
  const Installation& installation = *session.installation();
  const PageCopies& copies = installation.times().copies;
  clock.done("arm", [&] {
    return fmt::format(
        "{} of {}; {} of text copied before, in {:.1f} ms; target stopped {:.1f} ms{}",
        installation.armed_count(), counted(installation.site_count(), "site"),
        counted(copies.pages, "page"), static_cast<double>(copies.ns) / 1e6,
        static_cast<double>(session.arm_pause_ns()) / 1e6, to_string(installation.times()));
  });
  if (list) report_sites(installation.sites());
  if (warn) warn_skipped_sites(installation.skipped_sites());
  warn_unraised(session);
}

}  // namespace dj
