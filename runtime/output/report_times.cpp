// SPDX-License-Identifier: Apache-2.0
// Cycles to nanoseconds, and columns.
#include "runtime/output/report_times.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "compiler/base/printable.h"
#include "compiler/stages/timed_probes.h"
#include "runtime/output/global_values.h"

namespace dj {
namespace {

struct Row {
  abi::StatTotal total;
  int64_t hits = 0;
  std::string label;
};

}  // namespace

int64_t to_ns(int64_t cycles, const Layout& layout) {
  const abi::Header& header = layout.header;
  if (header.tsc_mult == 0) return cycles;
  __int128 scaled = static_cast<__int128>(cycles) * static_cast<int64_t>(header.tsc_mult);
  return static_cast<int64_t>(scaled >> abi::kTscShift);
}

std::string label_of(const Probe& probe, const Sources& sources) {
  Span points = probe.points.front().span;
  points.end = probe.points.back().span.end;
  const Source& source = sources.files[points.file];
  LineCol at = source.line_col(points.begin);
  return fmt::format("{} at {}:{}:{}", unwrapped(sources.text(points)), source.name, at.line,
                     at.column);
}

void report_times(const std::vector<GlobalId>& times, const Program& program,
                  const Sources& sources, const Layout& layout) {
  const abi::Header& header = layout.header;
  std::vector<Row> rows;
  for (size_t i = 0; i < times.size(); ++i) {
    const Probe& probe = program.probes[i];
    const Value total = read_global(program, times[i], layout).elements.front().value;
    const Value hits = read_global(program, *probe.hits, layout).elements.front().value;
    rows.push_back({std::get<StatValue>(total), std::get<int64_t>(hits), label_of(probe, sources)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.total.sum > b.total.sum; });
  log_line("{:>12} {:>10} {:>10} {:>10} {:>12} {:>14}  probe ({})", "hits", "skips", "min", "avg",
           "max", "total", header.tsc_mult == 0 ? "cycles" : "ns");
  for (const Row& row : rows) {
    const abi::StatTotal& t = row.total;
    bool none = t.count == 0;
    log_line("{:>12} {:>10} {:>10} {:>10} {:>12} {:>14}  {}", row.hits,
             std::max<int64_t>(row.hits - t.count, 0), none ? 0 : to_ns(t.min, layout),
             to_ns(t.get(abi::kStatAvg), layout), none ? 0 : to_ns(t.max, layout),
             to_ns(t.sum, layout), row.label);
  }
}

std::vector<Element> process_times(GlobalId times, const Program& program, const Layout& layout) {
  std::vector<Element> all = read_global(program, times, layout).elements;
  std::erase_if(all, [](const Element& element) {
    return std::get<int64_t>(element.keys.front()) == getpid();  // begin, end, timers
  });
  return all;
}

void report_process_times(GlobalId times, const ProcessNames& names, const Program& program,
                          const Layout& layout) {
  constexpr size_t kShown = 50;
  std::vector<Element> all = process_times(times, program, layout);
  if (all.size() < 2) return;
  const auto sum = [](const Element& element) { return std::get<StatValue>(element.value).sum; };
  std::ranges::stable_sort(all, std::greater(), sum);
  log_line("{:>12} {:>10} {:>14} {:>9}  process ({})", "hits", "avg", "total", "pid",
           layout.header.tsc_mult == 0 ? "cycles" : "ns");
  for (const Element& element : std::span(all).first(std::min(all.size(), kShown))) {
    const abi::StatTotal& t = std::get<StatValue>(element.value);
    const auto pid = std::get<int64_t>(element.keys.front());
    const auto name = names.find(static_cast<int>(pid));
    log_line("{:>12} {:>10} {:>14} {:>9}  {}", t.count, to_ns(t.get(abi::kStatAvg), layout),
             to_ns(t.sum, layout), pid, name != names.end() ? name->second : "(forked)");
  }
  if (all.size() > kShown) log_line(".. and {} more", all.size() - kShown);
  if (all.size() >= kMostTimedProcesses)
    log_line("these are the {} processes that came last; earlier ones are not shown", all.size());
}

}  // namespace dj
