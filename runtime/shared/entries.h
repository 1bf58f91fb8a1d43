// SPDX-License-Identifier: Apache-2.0
// entries.h declares every agent function that generated handlers call besides the script built-ins
// (stdlib/builtins.def). Each is extern "C", uses general registers only, and never blocks or
// faults: it counts what goes wrong in SessionWords::skipped, or raises a script error.
//
// Handlers see these as LLVM bitcode (hot ones are inlined) or as symbols of the agent object
// (cold ones). Code finds the arena by the constant `dj_arena_base`, which the lowerer defines in
// the module of the handlers; `dj_has_rseq` (1: glibc's rseq area may be trusted) stands beside it.
// `dj_rseq` is an absolute symbol: the offset of struct rseq from the fs base, given at link time.
#pragma once
#include "runtime/shared/abi.h"
#include "runtime/shared/context.h"
#include "runtime/shared/map.h"

#pragma GCC visibility push(hidden)
extern "C" {
extern const uint64_t dj_arena_base;
extern const uint32_t dj_has_rseq;

// --- counters and scalar statistics (hot) ---
// Adds n to sharded counter number `counter`; exact under threads, signals, forks.
void dj_count_add(uint32_t counter, int64_t n);
// Sum over all rows. Concurrent additions may or may not be seen.
int64_t dj_count_read(uint32_t counter);
// Resets counter to 0 (delete). Additions that race with it are kept or lost as a whole.
void dj_count_clear(uint32_t counter);
// `rows`: address of row 0 of a scalar aggregate, `stride` bytes a row (one row per CPU and one
// more).
void dj_stat_add(dj::abi::Stat* rows, uint32_t stride, const dj::abi::StatShape* shape,
                 int64_t sample);
// op: 0 count, 1 sum, 2 min, 3 max, 4 avg. Sets *empty to 1 when there is no sample (result 0).
int64_t dj_stat_read(const dj::abi::Stat* rows, uint32_t stride, uint32_t op, uint32_t* empty);
// Variance and percentiles (kStatVariance ...), cold. Of an array's element: rows = its Stat or
// null, stride = 0.
int64_t dj_stat_derived(const dj::abi::Stat* rows, uint32_t stride, const dj::abi::StatShape* shape,
                        uint32_t op, uint32_t* empty);
// Count of one bucket of a histogram; *bad set to 1 when there is no such bucket.
int64_t dj_stat_bucket(const dj::abi::Stat* rows, uint32_t stride, const dj::abi::StatShape* shape,
                       uint32_t linear, int64_t index, uint32_t* bad);
void dj_stat_clear(dj::abi::Stat* rows, uint32_t stride, const dj::abi::StatShape* shape);

// --- arrays (hot). keys: `Map::key_count` words, strings as StrWords ---
// 0 (the empty value) when absent.
int64_t dj_map_get(const dj::abi::Map* map, const uint64_t* keys);
int64_t dj_map_has(const dj::abi::Map* map, const uint64_t* keys);  // 1 or 0
void dj_map_set(const dj::abi::Map* map, const uint64_t* keys, int64_t value);
// element = element OP operand, created from 0 when absent. Returns the new value; *old gets the
// former. op: index of ast::BinOp (Add, Sub, Mul, Div, Mod, Shl, Shr, UShr, And, Or, Xor). Div and
// Mod by 0 are excluded by the caller. With abi::kDoubleOp: of dj_double_compute.
int64_t dj_map_update(const dj::abi::Map* map, const uint64_t* keys, uint32_t op, int64_t operand,
                      int64_t* old);
void dj_map_stat_add(const dj::abi::Map* map, const uint64_t* keys, int64_t sample);
int64_t dj_map_stat_read(const dj::abi::Map* map, const uint64_t* keys, uint32_t op,
                         uint32_t* empty);
void dj_map_delete(const dj::abi::Map* map, const uint64_t* keys);
void dj_map_clear(const dj::abi::Map* map);

// --- snapshots (cold): read and clear. What handlers add meanwhile is in what is taken or stays
// ---
int64_t dj_count_take(uint32_t counter);
// Ends the element; 0 when absent. Of an array of words.
int64_t dj_map_take(const dj::abi::Map* map, const uint64_t* keys);
// All elements of `from` become those of `to`, an array of the same keys and values that only one
// handler at a time uses.
void dj_map_move(const dj::abi::Map* from, const dj::abi::Map* to);
// The same for the rows of a scalar aggregate. Each word is moved at once: of a sample that is
// being added, count and sum may end up on different sides.
void dj_stat_move(dj::abi::Stat* from, dj::abi::Stat* to, uint32_t stride,
                  const dj::abi::StatShape* shape);

// --- iteration over arrays (cold) ---
// Returns an iterator in the context's scratch, or null (raised: no scratch left). limit < 0: none.
// The set of elements is fixed here; an element deleted later is passed over. Only elements whose
// key i is keys[i] for each bit i of `given`.
void* dj_foreach_begin(dj::abi::Context* ctx, const dj::abi::Map* map,
                       const dj::abi::SortOrder* order, int64_t limit, const uint64_t* keys,
                       uint32_t given);
// Next element: its keys to `keys`, its value (Int, Str) to *value; 0 at the end.
uint32_t dj_foreach_next(void* iterator, uint64_t* keys, int64_t* value);

// --- slices (cold): the elements whose key i is keys[i] for each bit i of `given` ---
int64_t dj_slice_has(const dj::abi::Map* map, const uint64_t* keys, uint32_t given);  // 1 or 0
void dj_slice_delete(const dj::abi::Map* map, const uint64_t* keys, uint32_t given);
// As dj_map_stat_read and dj_stat_derived, of all their samples together.
int64_t dj_slice_stat_read(const dj::abi::Map* map, const uint64_t* keys, uint32_t given,
                           uint32_t op, uint32_t* empty);
// As dj_event_hist and dj_stat_bucket, of the elements' sums.
void dj_slice_event_hist(uint32_t site, const dj::abi::Map* map, const uint64_t* keys,
                         uint32_t given, uint32_t form);
int64_t dj_slice_bucket(const dj::abi::Map* map, const uint64_t* keys, uint32_t given,
                        uint32_t linear, int64_t bucket, uint32_t* bad);

// --- contexts (hot): scratch memory and limits of one handler run ---
// Null: skip this hit (already counted). `site` is what errors are reported with.
dj::abi::Context* dj_enter(uint32_t site);
void dj_leave(dj::abi::Context* ctx);
// One back edge or call: 0 when MAXACTION is used up (raised).
uint32_t dj_action(dj::abi::Context* ctx);
// Entering and leaving a script function: 0 when MAXNESTING is exceeded (raised).
uint32_t dj_nest(dj::abi::Context* ctx);
void dj_unnest(dj::abi::Context* ctx);
// Raises a script error from a handler (ctx may be null): sets ctx->raised; sends an ErrorEvent and
// counts, or keeps it for dj_caught where a try block is open. `span` is the lowerer's index of the
// script place.
void dj_raise(dj::abi::Context* ctx, uint32_t site, uint32_t span, uint32_t kind, int64_t a);
// The same with a text of the script: the built-in error().
void dj_user_error(dj::abi::Context* ctx, const dj::abi::Str* text);
// The text of the error that was raised last while Context::tries was not 0.
const dj::abi::Str* dj_caught(dj::abi::Context* ctx);

// --- target memory (cold) ---
// Checked read of size 1, 2, 4 or 8 bytes, zero-extended; *bad set to 1 (result 0) if it cannot be
// read.
uint64_t dj_read(uint64_t address, uint32_t size, uint32_t* bad);

// --- strings ---
// The one address for this text, or the address of the empty string when out of budget (counted).
const dj::abi::Str* dj_intern(const dj::abi::Str* s);
uint32_t dj_str_equal(const dj::abi::Str* a, const dj::abi::Str* b);
int64_t dj_str_compare(const dj::abi::Str* left, const dj::abi::Str* right);  // <0, 0, >0, bytewise
const dj::abi::Str* dj_str_concat(dj::abi::Context* ctx, const dj::abi::Str* left,
                                  const dj::abi::Str* right);
// text =~ pattern: 1 or 0. program: of compiler/regex. What matched stays in the context.
int64_t dj_match(dj::abi::Context* ctx, const dj::abi::Str* text, const dj::abi::Str* program);
// form: Str of the script's format text; args as in Format::arguments. In the context's scratch.
const dj::abi::Str* dj_sprintf(dj::abi::Context* ctx, const dj::abi::Str* form,
                               const uint64_t* args, uint32_t count);
// The text of target values, see runtime/shared/target_text.h. bad[i] not 0: words[i] was not
// readable.
const dj::abi::Str* dj_target_text(dj::abi::Context* ctx, const dj::abi::Str* format,
                                   const uint64_t* words, const uint32_t* bad);

// --- doubles (cold): their bits. op: index of ast::BinOp (Add, Sub, Mul, Div) ---
uint64_t dj_double_compute(uint32_t op, uint64_t a, uint64_t b);
int32_t dj_double_compare(uint64_t a, uint64_t b);  // -1, 0, 1; 2: one is no number
uint64_t dj_double_of_int(int64_t number);
uint64_t dj_double_of_unsigned(uint64_t number);
uint64_t dj_double_of_float(uint64_t bits);
uint64_t dj_float_of_double(uint64_t bits);  // rounded
int64_t dj_int_of_double(uint64_t bits);     // cut; INT64_MIN, as the machine's, of too large ones
uint64_t dj_unsigned_of_double(uint64_t bits);  // cut; the nearest that there is
uint64_t dj_double_of_extended(uint64_t mantissa, uint64_t sign_exponent);
// Numbers that debug info computes, of up to 16 bytes. from, to, form: abi::NumberForm; op: WideOp
// (wide_number.h).
unsigned __int128 dj_convert_number(uint32_t from, uint32_t to, unsigned __int128 bits);
unsigned __int128 dj_wide_compute(uint32_t form, uint32_t op, unsigned __int128 a,
                                  unsigned __int128 b);
int32_t dj_wide_compare(uint32_t form, unsigned __int128 a, unsigned __int128 b);

// --- events (hot) ---
// One printf: bit i of string_mask: args[i] is a Str address, copied into the record.
void dj_event_print(uint32_t site, uint32_t format, const uint64_t* args, uint32_t count,
                    uint32_t string_mask);
// One histogram: the words of the aggregate are copied. For a scalar: rows and stride; for an array
// element: rows = its Stat, stride = 0. form: HistForm (stat.h).
void dj_event_hist(uint32_t site, const dj::abi::Stat* rows, uint32_t stride,
                   const dj::abi::StatShape* shape, uint32_t form);
// The same as a string, made in the run's scratch memory; of a slice the elements' sum.
const dj::abi::Str* dj_hist_text(dj::abi::Context* ctx, const dj::abi::Stat* rows, uint32_t stride,
                                 const dj::abi::StatShape* shape, uint32_t form);
const dj::abi::Str* dj_slice_hist_text(dj::abi::Context* ctx, const dj::abi::Map* map,
                                       const uint64_t* keys, uint32_t given, uint32_t form);
const dj::abi::Stat* dj_map_stat_at(const dj::abi::Map* map, const uint64_t* keys);  // null: absent

// --- return probes (cold); slot: where the return address lies; see capture.h ---
// Entry values of a call, for return handler `handler`.
void dj_capture_store(uint32_t handler, uint64_t slot, const uint64_t* values, uint32_t count);
// Takes them out again: 1 and values filled, or 0 (counted as kSkipReturnMiss).
uint32_t dj_capture_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t count);
// The same behind a system call, but a miss is not counted: a new process returns from a call that
// its parent has made, and the probe sees the parent's return.
uint32_t dj_syscall_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t count);
// A tail jump: the callee will return for the calls that are here. exit: the site that returns
// later, and kExit bits. With kExitOwn for the calls of this function, else for those that it was
// going to return for (first for these, where it may be both).
void dj_tail_leave(uint32_t handler, uint32_t exit, uint64_t slot);
// The first instruction of a function that may be the callee.
void dj_tail_land(uint32_t handler, uint64_t slot);
// The exit of such a function: takes out one call that returns here. Its site + 1 and values
// filled, or 0: no more.
uint32_t dj_tail_take(uint32_t handler, uint64_t slot, uint64_t* values, uint32_t count);

// --- the target's loader (cold) ---
// Tells the controller that objects came or went, and waits until it has looked.
void dj_loader_event();

// --- processes that the target forks (cold): told to the controller ---
void dj_forked_begins();
void dj_forked_ends();

// --- not called by handlers: the agent's own entry points, resolved by the controller by name ---
void dj_trap_handler(int signal, void* siginfo, void* ucontext);  // the SIGTRAP action
void dj_restorer();                                               // its SA_RESTORER
// Called by the detour of a `syscall` instruction, all registers as the program left them but rcx,
// r11 and flags. Returns with CF=0: execute the system call with the (perhaps changed) registers;
// CF=1: skip it, rax is the result. CF=0 and ZF=0: it may start a thread or a process; call
// dj_child_hook right behind it, with the registers as it left them; they stay so, but for rcx, r11
// and flags.
void dj_syscall_hook();
void dj_child_hook();
// Called by the detour of _dl_find_object() at its begin (own_code.h). Returns to that function's
// caller where the program counter it asks for is djtap's own. dj_own_object: is it? Then *object,
// a struct dl_find_object, is filled.
void dj_find_object();
uint32_t dj_own_object(uint64_t pc, void* object);
// What a detour calls in place of a handler that is switched off: returns at once.
void dj_switched_off();
}
#pragma GCC visibility pop
