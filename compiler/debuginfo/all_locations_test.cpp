// SPDX-License-Identifier: Apache-2.0
// Every location of every variable of a file becomes a place, or is refused for a reason that is
// known here. DJTAP_SCAN: more files, with colons between.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "compiler/debuginfo/dwarf_ops.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/victim_support.h"

namespace dj {
namespace {

// What debug info itself does not say.
constexpr const char* kNotSaid[] = {
    "it was optimized out",
    "only its value at the function's entry is known, and that is gone here",
    "it was optimized out of this copy of the function",
    // Mistakes of compilers, which gdb refuses, too.
    "its DWARF expression takes words that are not on its stack",
    "its DWARF expression computes with words of different types",
};

// How often each reason, and where first; "" a place.
struct Found {
  size_t count = 0;
  std::string first;
};
using Reasons = std::map<std::string, Found>;

void add(const std::string& reason, Dwarf_Die* variable, uint64_t address, Reasons& reasons) {
  Found& found = reasons[reason];
  if (found.count++ == 0) {
    found.first = die_name(variable) + " at " + fmt::format("{:#x}", address);
  }
}

void count_variable(Dwarf_Die* variable, Dwarf_Die* function, DwarfIndex& index, Reasons& reasons) {
  Dwarf_Attribute location;
  if (!dwarf_attr(variable, DW_AT_location, &location)) {
    return;
  }
  LocationWalk entry(&location);
  while (entry.next()) {
    Dwarf_Addr low = 0, high = 0, first = 0;
    const bool everywhere = entry.begin == 0 && entry.end == ~Dwarf_Addr{0};
    if (everywhere && function && dwarf_ranges(function, 0, &low, &first, &high) > 0) {
      entry.begin = first;
    }
    if (entry.begin >= entry.end) {
      continue;
    }
    const OpContext context{index, function, &location, entry.begin + index.bias(),
                            false, 0,        variable};
    const Result<ValueLocation> value_at = translate({entry.ops, entry.count}, context);
    add(value_at.ok() ? "" : value_at.error().message, variable, entry.begin, reasons);
  }
  if (entry.failed()) {
    add(std::string("elfutils: ") + dwarf_errmsg(-1), variable, 0, reasons);
  }
}

void count_inside(Dwarf_Die* die, Dwarf_Die* function, DwarfIndex& index, Reasons& reasons) {
  for (Dwarf_Die& child : children(die)) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable:
      case DW_TAG_formal_parameter:
        count_variable(&child, function, index, reasons);
        break;
      case DW_TAG_subprogram:
        count_inside(&child, &child, index, reasons);
        break;
      default:
        count_inside(&child, function, index, reasons);
    }
  }
}

Reasons reasons_of(const std::string& path) {
  Reasons reasons;
  Result<ObjectFile> elf = ObjectFile::open(path);
  std::unique_ptr<DwarfIndex> index = elf.ok() ? DwarfIndex::open(elf.value()) : nullptr;
  if (index) {
    for (Dwarf_Die unit : index->units()) {
      count_inside(&unit, nullptr, *index, reasons);
    }
  }
  return reasons;
}

void add_file(const std::string& path, Reasons& sum) {
  for (const auto& [reason, found] : reasons_of(path)) {
    const bool known = reason.empty() || std::find(std::begin(kNotSaid), std::end(kNotSaid),
                                                   reason) != std::end(kNotSaid);
    EXPECT_TRUE(known) << path << ": " << found.count << " times: " << reason << ", as of "
                       << found.first;
    sum[reason].count += found.count;
    sum[reason].first = found.first + " of " + path;
  }
}

void print(const Reasons& sum) {
  for (const auto& [reason, found] : sum) {
    std::printf("%8zu %s, as of %s\n", found.count, reason.empty() ? "places" : reason.c_str(),
                found.first.c_str());
  }
}

// A place of a variable is what most reasons are none for: a file without any was not read.
size_t places_in(const Reasons& sum) {
  const auto places = sum.find("");
  return places == sum.end() ? 0 : places->second.count;
}

TEST(AllLocations, OfTheCLibrary) {
  Reasons sum;
  add_file("/lib/x86_64-linux-gnu/libc.so.6", sum);
  add_file("/lib/x86_64-linux-gnu/libm.so.6", sum);
  print(sum);
  if (sum.empty()) {
    GTEST_SKIP() << "the C library's debug information is not installed";
  }
  EXPECT_GT(places_in(sum), 10'000u);
}

TEST(AllLocations, OfFilesThatAreAskedFor) {
  const char* paths = std::getenv("DJTAP_SCAN");
  if (!paths) {
    GTEST_SKIP() << "DJTAP_SCAN names no files";
  }
  std::istringstream all(paths);
  Reasons sum;
  for (std::string path; std::getline(all, path, ':');) {
    add_file(path, sum);
  }
  print(sum);
  EXPECT_GT(places_in(sum), 0u);
}

}  // namespace
}  // namespace dj
