// SPDX-License-Identifier: Apache-2.0
// Layout: where every global, table and buffer of a session lies in the data arena, constants
// first, data behind (runtime/shared/abi.h). Computed once from Program and Plan; lower takes
// addresses from it, runtime/memory formats the arena by it, report reads by it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/arena_ref.h"
#include "runtime/shared/map.h"
#include "runtime/shared/strings.h"

namespace dj {

// Limits a session may set by -D NAME=VALUE; SystemTap's names.
struct Limits {
  int64_t max_map_entries = 2048;  // MAXMAPENTRIES
  int64_t max_string_len = 512;    // MAXSTRINGLEN
  int64_t max_action = 1000;       // MAXACTION in a probe in the target (MAXACTION_HOST elsewhere)
  int64_t max_action_host = 1000000;  // for begin, end and timer handlers
  int64_t max_nesting = 10;           // MAXNESTING
  int64_t max_backtrace = 20;         // MAXBACKTRACE: frames of ubacktrace() and the like
  int64_t max_errors = 0;           // MAXERRORS: end the session after more script errors; 0: never
  int64_t trap_cache = 0;           // TRAPCACHE: 1: the per-CPU cache in front of the int3 table
  int64_t ring_bytes = 1 << 20;     // a CPU's event ring (power of two)
  int64_t string_bytes = 16 << 20;  // interned strings of a session
  int64_t contexts = 64;            // handlers at once that need scratch memory
};

// The threads' own rows of counters (runtime/shared/thread_rows.h) are not more bytes: a gs base
// that djtap has set is less than any address of a program's data.
constexpr uint64_t kThreadRowsBytes = 4 << 20;

struct GlobalSlot {
  uint64_t address = 0;        // Scalar: the word. Stats: row 0. Array: the Map. Counter: unused
  uint64_t data = 0;           // Array: its MapWords
  uint32_t counter = 0;        // Counter: its number
  uint32_t stride = 0;         // Stats: bytes from row to row
  abi::StatShape shape = {};   // Stats and arrays of Stat
  uint64_t shape_address = 0;  // where the arena holds a copy of shape
};

// StringsAt says where the session's interned strings lie (runtime/shared/strings.h).
struct StringsAt {
  std::vector<std::string> texts;    // constants: interned by the controller at start
  std::vector<uint64_t> words;       // address of each constant's ArenaRef<const Str>
  uint64_t constants = 0, data = 0;  // addresses of what strings_init() wants
};

// TrapsAt says where the look-up from int3 to site lies (runtime/shared/trap.h).
struct TrapsAt {
  uint64_t table = 0, table_bytes = 0;
  uint64_t data = 0, data_bytes = 0;
  uint64_t dlopened = 0;  // sites that it has room for in objects that are opened later
  // Data of further processes, one behind the other; each process has its own table.
  uint64_t further = 0, further_bytes = 0;  // of the first; of each
  uint64_t further_traps = 0;               // int3 bytes that each has room for at its beginning
  uint32_t processes = 1;                   // how many have room, with the session's first
};

// WordsAt says where handlers keep what is under way.
struct WordsAt {
  uint64_t captures = 0;  // address of what captures_init() wants; 0: none
  uint64_t samples = 0;   // a word for each host probe: not 0 while its sample is under way
};

// SpareRoom: where the globals and literals of probes lie that are added while the session runs
// (Plan::awaits_additions). lay_out_more() takes from its front.
struct SpareRoom {
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  Range constants, data;
  uint32_t counter = 0, counters_end = 0;  // numbers of counters
};

struct Layout {
  uint64_t base = 0;   // below 2 GB
  uint64_t bytes = 0;  // page-aligned; the arena is sparse
  uint32_t cpus = 1;
  abi::Arena arena() const { return {base, bytes}; }
  Limits limits;
  abi::Header header =
      {};  // filled but for what only the session knows (pid, ticket, tsc, trap_table)
  std::vector<GlobalSlot> globals;  // by GlobalId
  StringsAt strings;
  abi::RefRange refs = {};   // what StrWords may refer to
  uint32_t thread_rows = 0;  // ThreadRows::count
  // Address of the first of the threads' own rows of counters.
  uint64_t thread_words() const {
    return header.counters.address(arena()) + (uint64_t{cpus + 1} << header.counter_shift);
  }
  TrapsAt traps;
  WordsAt words;
  SpareRoom spare;
};

// The array `global` in `layout`; the form's shape is slot's.
abi::MapForm map_form(const Global& global, const GlobalSlot& slot, const Layout& layout);

// base: a page-aligned address below 2 GB where `Layout::bytes` and private_bytes() behind them are
// free in both processes; kNominalBase where no target exists (--stop-after, tests). Pure.
constexpr uint64_t kNominalBase = 0x40000000;
// Room for sites and handlers in objects that the target opens later (Plan::awaits_objects), and in
// further processes of the session (Plan::awaits_processes).
constexpr uint32_t kDlopenedSites = 262'144, kDlopenedHandlers = 32'768, kDlopenedTraps = 65'536;
// Further processes of a session at once; fewer where their data would take more memory than that.
// Each has room for the int3 bytes of the first plan and so many more, and for as many in objects
// that it opens later.
constexpr uint32_t kMostProcesses = 1024, kProcessTraps = 8192;
constexpr uint64_t kProcessesBytes = 96 << 20;
inline bool has_room_for_more(const Plan& plan) {
  return plan.awaits_objects || plan.awaits_processes || plan.awaits_additions;
}
// Handlers that may keep calls until they return.
inline uint64_t capture_handlers(const Plan& plan) {
  return plan.handlers.size() + (has_room_for_more(plan) ? kDlopenedHandlers : 0);
}
// stack_bytes: room for the StackTables (runtime/shared/unwind.h); 0: none.
Layout lay_out(const Program& program, const Plan& plan, const Limits& limits, uint32_t cpus,
               uint64_t base, uint64_t stack_bytes = 0);
// Gives the program's globals and literals that `layout` does not have yet a place in its spare
// room. The program begins with the globals that it has. Fails when there is too little room; then
// `layout` is as it was.
Status lay_out_more(const Program& program, Layout& layout);

}  // namespace dj
