// What a session leaves behind, read from the arena and from the list of sites.
#include "runtime/control/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/shared/map.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

// In the order of abi::Skip.
constexpr const char* kSkipTexts[abi::kSkipCount] = {
    "hits skipped: too many handlers at once (raise -D CONTEXTS)",
    "hits skipped: recursion of a handler",
    "new elements dropped: an array is full (raise -D MAXMAPENTRIES)",
    "events lost: a ring is full (raise -D RINGBYTES)",
    "strings dropped: string memory is full (raise -D STRINGBYTES)",
    "strings cut (raise -D MAXSTRINGLEN)",
    "handlers ended by MAXACTION",
    "handlers ended by MAXNESTING",
    "returns without entry values: no room for them",
    "returns without entry values: entered before the probe",
    "array operations given up: too much contention",
};

std::string text_of(uint64_t word, Type type) {
  if (type != Type::Str) return std::to_string(static_cast<int64_t>(word));
  if (word == 0) return "\"\"";
  const abi::Str* s = reinterpret_cast<const abi::Str*>(word);
  return fmt::format("\"{}\"", std::string_view(s->data, s->len));
}

std::string text_of(const abi::StatTotal& total) {
  if (total.count == 0) return "@count=0";
  return fmt::format("@count={} @min={} @max={} @sum={} @avg={}", total.count, total.min, total.max,
                     total.sum, total.get(abi::kStatAvg));
}

int64_t counter_sum(const Layout& layout, uint32_t counter) {
  int64_t sum = 0;
  for (uint32_t row = 0; row <= layout.cpus; ++row) {
    uint64_t address =
        layout.header.counters + (uint64_t{row} << layout.header.counter_shift) + 8 * counter;
    sum += *reinterpret_cast<const int64_t*>(address);
  }
  return sum;
}

// One element of an array as text, and what it is sorted by.
struct Element {
  std::string keys, value;
  int64_t weight = 0;
};

void report_array(const Global& global, const GlobalSlot& slot, Output& output) {
  std::vector<Element> elements;
  abi::map_each(reinterpret_cast<const abi::Map*>(slot.address), [&](const abi::MapNode& node,
                                                                     const abi::Stat* stat) {
    Element element;
    for (size_t i = 0; i < global.keys.size(); ++i) {
      element.keys += (i > 0 ? "," : "") + text_of(node.keys[i], global.keys[i]);
    }
    if (stat != nullptr) {
      abi::StatTotal total = abi::stat_total(stat, 0, 1);
      element.value = " " + text_of(total);
      element.weight = total.count;
    } else {
      element.value = "=" + text_of(node.pair.first, global.value);
      element.weight = global.value == Type::Int ? static_cast<int64_t>(node.pair.first) : 0;
    }
    elements.push_back(std::move(element));
  });
  std::sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.keys < b.keys;
  });
  for (const Element& element : elements)
    output.write(fmt::format("{}[{}]{}\n", global.name, element.keys, element.value));
}

void report_global(const Global& global, const GlobalSlot& slot, const Layout& layout,
                   Output& output) {
  switch (global.storage) {
    case Storage::Counter:
      output.write(fmt::format("{}={}\n", global.name, counter_sum(layout, slot.counter)));
      break;
    case Storage::Scalar:
      output.write(
          fmt::format("{}={}\n", global.name,
                      text_of(*reinterpret_cast<const uint64_t*>(slot.address), global.value)));
      break;
    case Storage::Stats: {
      const abi::Stat* rows = reinterpret_cast<const abi::Stat*>(slot.address);
      output.write(fmt::format("{} {}\n", global.name,
                               text_of(abi::stat_total(rows, slot.stride, layout.cpus + 1))));
      break;
    }
    case Storage::Array:
      report_array(global, slot, output);
      break;
  }
}

}  // namespace

void report_globals(const Program& program, const Layout& layout, Output& output) {
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    if (global.ever_written && !global.ever_read)
      report_global(global, layout.globals[i], layout, output);
  }
}

void report_skips(const abi::Header& header) {
  for (uint32_t i = 0; i < abi::kSkipCount; ++i) {
    if (header.skipped[i] != 0)
      fmt::print(stderr, "WARNING: {} {}\n", header.skipped[i], kSkipTexts[i]);
  }
}

void report_sites(const std::vector<InstalledSite>& sites) {
  for (const InstalledSite& site : sites) fmt::print(stderr, "{}\n", to_string(site));
}

void warn_skipped_sites(const std::vector<InstalledSite>& sites) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const InstalledSite& site : sites) {
    // The detail in parentheses is for --probes; here sites of one kind are one line.
    if (site.state == SiteState::Skipped)
      by_reason[site.reason.substr(0, site.reason.find(" ("))].push_back(site.symbol);
  }
  for (const auto& [reason, symbols] : by_reason) {
    std::string names = fmt::format(
        "{}",
        fmt::join(symbols.begin(), symbols.begin() + std::min<size_t>(3, symbols.size()), ", "));
    fmt::print(stderr, "WARNING: {} not probed [SKIPPED: {}]: {}{}\n",
               symbols.size() == 1 ? "1 site" : fmt::format("{} sites", symbols.size()), reason,
               names, symbols.size() > 3 ? " ... (all by --probes)" : "");
  }
}

}  // namespace dj
