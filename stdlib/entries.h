// Entries of builtins.def: the types that handlers call them with.
#pragma once
#include "runtime/shared/entries.h"

#pragma GCC visibility push(hidden)
extern "C" {
int64_t dj_pid();
int64_t dj_tid();
int64_t dj_uid();
const dj::abi::Str* dj_execname(dj::abi::Context* ctx);
int64_t dj_target();
int64_t dj_cpu_number();
int64_t dj_time_ns();
int64_t dj_time_us();
int64_t dj_time_ms();
int64_t dj_time_s();
int64_t dj_cycles();
const dj::abi::Str* dj_probefunc(uint32_t site);
const dj::abi::Str* dj_ppfunc(uint32_t site);
const dj::abi::Str* dj_pp(uint32_t site);
void dj_exit();
void dj_user_error(dj::abi::Context* ctx, const dj::abi::Str* text);
int64_t dj_strlen(const dj::abi::Str* s);
const dj::abi::Str* dj_substr(dj::abi::Context* ctx, const dj::abi::Str* s, int64_t start,
                              int64_t length);
int64_t dj_isinstr(const dj::abi::Str* text, const dj::abi::Str* part);
int64_t dj_strtol(const dj::abi::Str* s, int64_t base);
const dj::abi::Str* dj_user_string(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string_n(dj::abi::Context* ctx, int64_t address, int64_t length);
}
#pragma GCC visibility pop
