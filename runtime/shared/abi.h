// SPDX-License-Identifier: Apache-2.0
// abi.h is THE CONTRACT between controller, agent and generated code: it says what lies where in
// the data arena. It is freestanding: beside its own parts it includes only <stdint.h> and
// <stddef.h>. Every field names its writer.
//
// The arena lies at the same address below 2 GB in the controller and the target, so that generated
// code reaches it by 32-bit displacements. Its words refer to each other by offsets (arena_ref.h).
// Layout fixes all before the first probe is armed. A session shares three parts, by who writes:
//
// * Constants, [arena_base, arena_base + constant_bytes): only the controller writes. Every other
//   process maps them read-only. Offsets and sizes stand here, and every reader believes them. Each
//   process that djtap has probed by itself has constants of its own, a forked child its parent's.
// * Data, up to arena_base + arena_bytes: handlers write, of any process that shares the arena. No
//   reader believes them: it bounds each index and each length, and follows a reference only as
//   str_at() (strings.h) does.
// * Private memory, behind the arena (thread_table.h): each process has its own.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/arena_ref.h"
#include "runtime/shared/exec_wish.h"
#include "runtime/shared/executed.h"

namespace dj::abi {

constexpr uint64_t kMagic = 0x31504154'4a44ull;  // "DJTAP1"
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMaxCpus = 512;
constexpr uint32_t kMaxKeys = 9;        // keys of one array
constexpr uint32_t kMaxEventArgs = 32;  // arguments of one printf
constexpr uint32_t kMaxCaptures = 16;   // entry values of one return probe
constexpr uint32_t kNoSpan = ~0u;       // ErrorEvent::span of an error that a built-in raised

// Why a hit did not do all it should have. Indexes SessionWords::skipped; texts in
// runtime/session/losses.cpp.
enum Skip : uint32_t {
  kSkipNoContext,     // more handlers at once than contexts
  kSkipMapFull,       // an insertion into a full array was dropped
  kSkipRingFull,      // an event was dropped
  kSkipStringBudget,  // a string could not be stored for lack of string memory
  kSkipStringCut,     // a string was longer than MAXSTRINGLEN and was cut
  kSkipMaxAction,     // a handler ran out of MAXACTION
  kSkipNestedCalls,   // MAXNESTING
  kSkipReturnFull,    // no room for a return probe's entry values
  kSkipReturnMiss,    // a return without its entry values
  kSkipStackCut,      // a stack had more frames than MAXBACKTRACE
  kSkipMapBusy,       // an array operation gave up after very many collisions with others
  kSkipCount
};

// Script errors that a handler can raise. Carried in an ErrorEvent.
enum ErrorKind : uint32_t {
  kErrBadAddress,  // a: address
  kErrDivideByZero,
  kErrMaxAction,  // a: the limit
  kErrNesting,    // a: the limit
  kErrEmptyStat,  // @min, @max, @avg of an aggregate without a value
  kErrUser,       // error("text"): text follows
  kErrScratch,    // a: bytes of scratch memory that a foreach or a match would have needed
  kErrNoMatch,    // matched() behind an =~ that failed
  kErrNoGroup,    // a: number of a group that the pattern does not have
  kErrBucket,     // a: index of a histogram's bucket that does not exist
  kErrEndless,    // a: the limit of jumps backwards in a DWARF expression
};

// Str is a script string: `len` bytes of data, never a terminating NUL. It does not change once its
// address is known to others. Two interned Strs (strings.h) have the same text iff they have the
// same address. The data part of the arena holds Strs that a hostile process may change: read them
// by text_of().
struct Str {
  uint32_t len;
  char data[4];  // really len bytes
};
constexpr uint32_t kMostStringBytes = 1 << 20;

// Text: what a Str said at one moment; never longer than kMostStringBytes. As many bytes behind any
// Str can be read.
struct Text {
  const char* data;
  uint32_t len;
};
inline Text text_of(const Str* s) {
  const uint32_t len = __atomic_load_n(&s->len, __ATOMIC_RELAXED);
  return {s->data, len < kMostStringBytes ? len : kMostStringBytes};
}

// Stat: one aggregate. Each word is updated by a locked instruction of its own. Followed by the
// histogram words that StatShape asks for. All zero = empty: min and max are stored so that 0
// stands for their neutral elements; read them by stat_min() and stat_max() of stat.h.
struct Stat {
  int64_t count, sum;
  int64_t min_word;  // min ^ INT64_MAX
  int64_t max_word;  // max ^ INT64_MIN
};
// Words behind a Stat, in this order: 130 if log (bucket of 0 is number 65, see stat.h), linear,
// the sum of the squares in two words, the fine buckets of percentiles.
struct StatShape {
  uint32_t bytes;         // sizeof(Stat) + histograms, multiple of 8
  uint32_t has_log;       // 0 or 1
  uint32_t linear_count;  // 0: none; includes one bucket below and one above
  uint32_t extras;        // kStatSquares, kStatFine, kStatGrows
  int64_t linear_start, linear_step;
};
constexpr uint32_t kLogBuckets = 130;
constexpr uint32_t kStatSquares = 1, kStatFine = 2,
                   kStatGrows = 4;  // kStatGrows: no sample is ever taken out

// Counters: row cpu (0 .. cpus-1) for threads with a registered rseq area, row `cpus` for the
// others, each 1 << counter_shift bytes apart; word i of every row belongs to counter i.
// Behind them, equally far apart, the threads' own rows (thread_rows.h), each changed by
// one thread alone, with one instruction. A thread's gs base is the distance of its row from the
// first of these, so `incq %gs:word` of that one counts in its own.
// Scalar statistics: rows of CPUs, stat_stride bytes a row.

// LoaderTalk: the target's loader says that objects came or went, and waits for the answer, so that
// probes stand in an object before any of its code runs.
enum LoaderAwaits : uint32_t {
  kAwaited,     // the loader waits for an answer
  kNotAwaited,  // no answer comes for now: djtap is stopped, or hangs
  kNobody,      // no answer comes any more
};
struct LoaderTalk {
  uint32_t events;    // written by handlers, a futex: how often something was said
  uint32_t answered;  // written by the controller, a futex: events up to this one need not wait
  uint32_t awaits;    // LoaderAwaits; written by both
  uint32_t presence;  // while djtap lives it has one of the bits kPresent (presence.h)
};
constexpr uint32_t kPresent = 0x3fffffff;  // FUTEX_TID_MASK

// The program is about to do what handlers cannot live with, and waits until the session has ended
// for its process (ThreadTable::ended).
enum EndReason : uint32_t {
  kNoEnd,
  kEndForGsBase,        // takes the gs base, which leads to counters (thread_rows.h)
  kEndForControlBlock,  // a thread gets a control block that is not the C library's: no rseq area
  kEndForDispatch,      // catches its own system calls, and handlers' with them
  kEndForFilter,        // installs a seccomp filter that looks at the addresses of calls
};

constexpr uint32_t kTscShift = 32;  // of Header::tsc_mult, nanoseconds a cycle

// SessionWords: what handlers and the agent tell the controller of the session as a whole. Data.
struct SessionWords {
  LoaderTalk loader;
  uint64_t end_wanted;  // EndReason of some process; which one it is says its ThreadTable
  uint64_t exit_requested;
  uint64_t error_count;
  uint64_t tracee;  // a process that asks to be traced, by the number that it has for itself, until
                    // djtap has seen to it; 0: none
  uint64_t denied;  // system calls that seccomp filters deny to some process of the session
                    // (denied.h), to be told
  uint64_t skipped[kSkipCount];
  uint64_t trap_hits, trap_cache_hits, trap_strays;
  ExecutedPrograms executed;
  ExecTalk exec;
};

constexpr uint32_t kMostContexts = 4096;  // of a session

struct Captures;     // capture.h
struct Context;      // context.h
struct OwnStackTop;  // own_stack.h
struct Ring;         // ring.h
struct SiteInfo;     // below
struct StackTables;  // unwind.h
struct Strings;      // strings.h
struct ThreadRows;   // thread_rows.h
struct ThreadTable;  // thread_table.h
struct TrapTable;    // trap.h

// Header: at the arena's base. Constants. arena_base: where the target has the arena; a process
// that has it elsewhere gives its own Arena to the references.
struct Header {
  // Known with the layout: generated code has these as immediate operands (fold_arena.h).
  uint64_t magic;
  uint32_t version, cpus;
  uint64_t arena_base, arena_bytes;
  uint64_t constant_bytes;  // of the constants; whole pages
  ArenaRef<SessionWords> words;
  ArenaRef<int64_t> counters;  // row 0
  uint32_t counter_shift, counter_count;
  ArenaRef<Ring> rings;          // Ring 0; the others follow, ring_stride bytes apart
  PrivateRef<Context> contexts;  // Context 0; the others follow, context_bytes apart
  uint64_t ring_stride;          // ring `cpus` serves threads without rseq
  uint64_t ring_bytes;           // of one ring's data, a power of two
  uint32_t context_bytes, context_count;
  ArenaRef<Strings> strings;
  ArenaRef<Captures> captures;      // none: no return probe needs it
  ArenaRef<SiteInfo> sites;         // site_count of them
  uint32_t site_count, max_string;  // MAXSTRINGLEN
  uint32_t max_action, max_nesting;
  PrivateRef<ThreadTable> threads;     // none: ask the kernel
  PrivateRef<OwnStackTop> own_stacks;  // OwnStack 0 (own_stack.h)
  // Known to the session only, from here on.
  ArenaRef<TrapTable> trap_table;      // trap.h; none: no int3 site
  ArenaRef<ThreadRows> thread_rows;    // thread_rows.h
  ArenaRef<StackTables> stack_tables;  // unwind.h; none: no handler walks stacks
  uint32_t pad;
  uint64_t target_pid;                 // of the process that has these constants
  uint64_t target_own_pid;    // the number by which it knows itself: another one in a pid namespace
                              // of its own
  uint64_t controller;        // pid of djtap
  uint64_t thread_row_count;  // 0: no thread has a row
  uint64_t own_code;  // address of the first OwnArea (own_code.h); 0: none. The controller adds to
                      // them later, too
  uint64_t own_code_dlopened;  // the same of objects that were opened later: in memory that forks
                               // from before do not have
  uint64_t ticket;             // random, tells sessions apart
  uint64_t session_start_tsc;
  // CLOCK_REALTIME = time_base_ns + ((tsc - tsc_base) * tsc_mult >> kTscShift). tsc_mult 0: ask the
  // kernel
  uint64_t tsc_base, time_base_ns, tsc_mult;
  int64_t errno_offset;  // the C library's errno minus fs base; 0: not known
  // From here on upwards lies only the first thread's stack, and handlers have room there.
  uint64_t first_stack;
  uint64_t first_pid, first_own_pid;  // both numbers of the session's first process, for target()
  uint64_t follows_execs;             // 1: what processes execute is to be probed, too
};

inline Arena arena_of(const Header* header) { return {header->arena_base, header->arena_bytes}; }
inline SessionWords* session_words(const Header* header) {
  return header->words.get(arena_of(header));
}

// SiteInfo: what probefunc() and pp() say (constant Strs, none: ""), and the load bias
// of the site's module (static variables). Constants. First Plan::sites, then Plan::host_probes.
struct SiteInfo {
  ArenaRef<const Str> probefunc, ppfunc, pp, module;
  uint64_t bias;
  uint64_t pc : 63;  // ELF address that stack listings begin with; 0: none
  // 1: nothing of the function is on the stack but its return address (entries and exits).
  uint64_t boundary : 1;
};

}  // namespace dj::abi
