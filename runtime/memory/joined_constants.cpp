// SPDX-License-Identifier: Apache-2.0
// Copies what all processes have alike, in the order in which Layout has placed it.
#include "runtime/memory/joined_constants.h"

#include <algorithm>

#include "runtime/process/fresh_pages.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/strings.h"

namespace dj {
namespace {

// Copies the session's bytes at `at` to the same place of the process's constants.
void copy(uint64_t constants, const abi::Header& header, uint64_t at, uint64_t bytes) {
  fill_fresh_pages({reinterpret_cast<uint8_t*>(constants + at - header.arena_base), bytes},
                   {reinterpret_cast<const uint8_t*>(at), bytes});
}

}  // namespace

void format_joined(uint64_t constants, const Layout& layout, const abi::Header& header,
                   uint64_t sites, const SessionFacts& facts) {
  const abi::Arena arena = layout.arena();
  uint64_t front = header.strings.address(arena) + sizeof(abi::Strings);
  if (header.captures.is_set())
    front = std::max(front, header.captures.address(arena) + sizeof(abi::Captures));
  copy(constants, header, layout.base, front - layout.base);
  copy(constants, header, layout.strings.constants, texts_used(header));
  if (header.sites.is_set())
    copy(constants, header, header.sites.address(arena), sites * sizeof(abi::SiteInfo));
  std::ranges::copy(facts.stack_tables,
                    reinterpret_cast<uint8_t*>(constants + header.stack_tables.offset));
  abi::Header own = header;
  own.target_pid = static_cast<uint64_t>(facts.target_pid);
  own.target_own_pid = static_cast<uint64_t>(facts.target_own_pid);
  own.ticket = facts.ticket;
  own.errno_offset = facts.errno_offset;
  own.first_stack = facts.first_stack;
  own.trap_table = {};
  own.own_code = own.own_code_dlopened = 0;
  own.thread_row_count = 0;
  *reinterpret_cast<abi::Header*>(constants) = own;
}

uint64_t texts_used(const abi::Header& header) { return abi::strings_of(&header)->constants_used; }

void copy_plan(uint64_t constants, const abi::Header& header, uint64_t texts, uint64_t first_site,
               uint64_t sites) {
  const abi::Arena arena = abi::arena_of(&header);
  const abi::Strings& strings = *abi::strings_of(&header);
  copy(constants, header, header.strings.address(arena), sizeof strings);
  copy(constants, header, strings.constants.first.address(arena) + texts,
       strings.constants_used - texts);
  if (header.sites.is_set())
    copy(constants, header, header.sites.address(arena) + first_site * sizeof(abi::SiteInfo),
         (sites - first_site) * sizeof(abi::SiteInfo));
}

}  // namespace dj
