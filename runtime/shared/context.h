// SPDX-License-Identifier: Apache-2.0
// Context holds scratch memory and limits of one handler run that needs more than registers. It
// lies in private memory, never on the program's stack. dj_enter takes one and dj_leave gives it
// back; the ThreadTable says which thread has it. One that a thread left behind (killed, longjmp
// out of a signal handler) is found by its owner and stack pointer and reused.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/event.h"
#include "runtime/shared/regex.h"

namespace dj::abi {

// Context::raised of abort(): no `try` catches it.
constexpr uint32_t kAborted = 2;

struct Context {
  uint64_t index;   // its own, for ThreadTable::context_owners and context_runs
  uint64_t stack;   // the program's stack pointer in the run
  uint32_t raised;  // a script error happened: the handler must leave. Read by generated code
  uint32_t site;
  int32_t actions_left;
  int32_t nesting_left;
  uint32_t scratch_used;
  uint32_t scratch_bytes;
  uint32_t iterators;    // offset in scratch of the innermost live foreach; scratch_bytes: none
  uint32_t span;         // of the built-in call that runs; set before those that can raise
  int32_t action_limit;  // what actions_left began with
  uint32_t tries;        // open try blocks: errors are kept here instead of being reported
  uint32_t error;        // ErrorKind that was kept
  uint32_t token_at;     // tokenize(): how far the text is taken apart
  uint64_t token_text;   // tokenize(): the Str; 0: none in this run
  // The program's stack pointer and saved registers at the site, when the handler walks the stack;
  // stack_pointer 0: not known (handlers of djtap itself). Order of SavedRegister (unwind.h).
  uint64_t stack_pointer;
  uint64_t saved[6];
  int64_t error_value;    // its ErrorPayload::a
  uint64_t error_text;    // kErrUser: address of its Str
  uint64_t match_text;    // the last =~: address of the Str that it looked at
  uint32_t match_groups;  // groups of its pattern, the whole match included; 0: it failed
  uint32_t pad2;
  uint32_t match_at[2 * kMaxRegexGroups];  // begin and end of each group; kNoMatch: took no part
  // Where the calls of script functions stand that run now (Image::spans), by nesting_left modulo
  // the size as it was before the call.
  uint32_t calls[kMaxShownCalls];
  char scratch[8];  // really scratch_bytes
};
static_assert(offsetof(Context, raised) == 16);

// What foreach sorts by; kSortText and kSortDouble say what the key or value is.
enum Sort : uint32_t { kSortNone, kSortKey, kSortValue, kSortStat, kSortText = 4, kSortDouble = 8 };

// SortOrder says in which order a foreach visits an array's elements. The lowerer writes each one
// into the handlers' constants.
struct SortOrder {
  uint32_t by;          // Sort, with kSortText where the key or value is a string, kSortDouble ...
  uint32_t argument;    // kSortKey: the key's number; kSortStat: dj_stat_read's op
  uint32_t descending;  // 1: the largest first
};

}  // namespace dj::abi
