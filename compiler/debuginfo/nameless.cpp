// SPDX-License-Identifier: Apache-2.0
// Ranges of .eh_frame minus what symbols name.
#include "compiler/debuginfo/nameless.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/eh_frame.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

namespace {

bool in_plt(const ObjectFile& elf, uint64_t address) {
  return std::any_of(elf.sections().begin(), elf.sections().end(), [&](const Section& s) {
    return s.name.starts_with(".plt") && address - s.header.sh_addr < s.header.sh_size;
  });
}

struct Named {
  uint64_t begin, end;
};

std::vector<Named> named_code(const SymbolTable& table) {
  std::vector<Named> named;
  for (const Symbol& s : table.functions) {
    named.push_back({s.address, s.address + std::max<uint64_t>(s.size, 1)});
  }
  std::sort(named.begin(), named.end(),
            [](const Named& a, const Named& b) { return a.begin < b.begin; });
  return named;
}

// `named` is sorted by begin.
bool has_name(const std::vector<Named>& named, const FrameEntry& entry) {
  auto next = std::upper_bound(named.begin(), named.end(), entry.begin,
                               [](uint64_t a, const Named& n) { return a < n.begin; });
  const bool begins_inside = next != named.end() && next->begin < entry.end;
  return begins_inside || (next != named.begin() && std::prev(next)->end > entry.begin);
}

}  // namespace

void add_nameless(const ObjectFile& elf, SymbolTable& table) {
  const std::vector<Named> named = named_code(table);
  for (const FrameEntry& entry : read_frames(elf)) {
    if (!entry.begins_called || !elf.is_code(entry.begin) || in_plt(elf, entry.begin) ||
        has_name(named, entry)) {
      continue;
    }
    table.names.push_back(fmt::format("{:#x}", entry.begin));
    table.functions.push_back(
        {entry.begin, entry.end - entry.begin, table.names.back(), STB_LOCAL, false});
  }
}

bool may_mean_nameless(std::string_view pattern) {
  const std::string_view head = pattern.substr(0, pattern.find_first_of("*?["));
  return std::string_view("0x").starts_with(head.substr(0, 2)) &&
         (head.size() > 1 || has_wildcard(pattern));
}

}  // namespace dj
