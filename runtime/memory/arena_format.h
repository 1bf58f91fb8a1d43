// SPDX-License-Identifier: Apache-2.0
// format_arena() fills a fresh data arena: header, maps, rings, strings, constants, site names.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// SessionFacts: what only the session knows.
struct SessionFacts {
  pid_t target_pid = 0, target_own_pid = 0;  // in djtap's pid namespace and in its own
  uint64_t ticket = 0;
  int64_t errno_offset = 0;               // errno_query.h; 0: not known
  uint64_t first_stack = 0;               // stack_query.h
  bool follows_execs = false;             // of the whole session
  std::span<const uint8_t> stack_tables;  // bytes for header.stack_tables
};

// Fills the arena. `arena`: zero memory, mapped at layout.base in this process.
// Installation::place() adds what only the placed sites know: load biases and the trap table.
// Returns the header as it wrote it: djtap's own copy, since the target can write the arena's.
Result<abi::Header> format_arena(std::span<uint8_t> arena, const Layout& layout,
                                 const Program& program, const Plan& plan,
                                 const SessionFacts& facts);
// Adds the sites of `plan`, a plan for objects that the target opened later, to a formatted arena.
// `header`: djtap's own. `handlers`: how many the session has room for. Fails when there is no room
// for the sites, their handlers or their names.
Status add_dlopened_sites(const abi::Header& header, uint64_t handlers, const Plan& plan);

// Adds globals and literals to a formatted arena: those that lay_out_more() has given a place in
// `layout`, from global `first_global` and literal `first_text` (StringsAt::texts) on. Handlers may
// run, but none that uses them. Fails when the literals need more memory than there is.
Status add_globals(const abi::Header& header, const Layout& layout, const Program& program,
                   size_t first_global, size_t first_text);

}  // namespace dj
