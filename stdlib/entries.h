// SPDX-License-Identifier: Apache-2.0
// entries.h declares the entries of builtins.def, with the types that handlers call them with. What
// each does is in the manual, by the name beside it there. site: the probed place; ctx: the
// handler's run, by which errors are raised, and whose scratch memory has the texts that are made;
// other texts are the session's.
#pragma once
#include "runtime/shared/entries.h"

#pragma GCC visibility push(hidden)
extern "C" {
// --- the process and the thread that are at the probe ---
int64_t dj_pid();
int64_t dj_tid();
int64_t dj_uid();
int64_t dj_euid();
int64_t dj_gid();
int64_t dj_egid();
int64_t dj_ppid();
int64_t dj_pgrp();
int64_t dj_sid();
const dj::abi::Str* dj_execname(dj::abi::Context* ctx);
int64_t dj_user_errno();
int64_t dj_target();
int64_t dj_cpu_number();

// --- what /proc has of a process: its command line, environment and files ---
const dj::abi::Str* dj_cmdline_args(dj::abi::Context* ctx, int64_t first, int64_t last,
                                    const dj::abi::Str* delimiter);
const dj::abi::Str* dj_cmdline_arg(dj::abi::Context* ctx, int64_t n);
const dj::abi::Str* dj_cmdline_str(dj::abi::Context* ctx);
const dj::abi::Str* dj_env_var(dj::abi::Context* ctx, const dj::abi::Str* name);
const dj::abi::Str* dj_pexecname(dj::abi::Context* ctx);
const dj::abi::Str* dj_proc_text(dj::abi::Context* ctx, int64_t process, const dj::abi::Str* name);
const dj::abi::Str* dj_proc_line(dj::abi::Context* ctx, int64_t process, const dj::abi::Str* name,
                                 const dj::abi::Str* key);

// --- times: of the day, of a clock that nobody sets, of the processor; ctime() of seconds ---
int64_t dj_time_ns();
int64_t dj_time_us();
int64_t dj_time_ms();
int64_t dj_time_s();
int64_t dj_local_clock_ns();
int64_t dj_local_clock_us();
int64_t dj_local_clock_ms();
int64_t dj_local_clock_s();
int64_t dj_cycles();
const dj::abi::Str* dj_ctime(dj::abi::Context* ctx, int64_t seconds);

// --- the probe point, and what came from stdin ---
const dj::abi::Str* dj_probefunc(uint32_t site);
const dj::abi::Str* dj_ppfunc(uint32_t site);
const dj::abi::Str* dj_pp(uint32_t site);
const dj::abi::Str* dj_probemod(uint32_t site);
const dj::abi::Str* dj_input_char(uint32_t site, dj::abi::Context* ctx);

// --- stacks: addresses as hexadecimal text, or with names and places ---
const dj::abi::Str* dj_ubacktrace(uint32_t site, dj::abi::Context* ctx);
const dj::abi::Str* dj_sprint_ubacktrace(uint32_t site, dj::abi::Context* ctx);
const dj::abi::Str* dj_sprint_ubacktrace_fileline(uint32_t site, dj::abi::Context* ctx);
const dj::abi::Str* dj_sprint_ubacktrace_brief(uint32_t site, dj::abi::Context* ctx);
const dj::abi::Str* dj_sprint_usyms(dj::abi::Context* ctx, const dj::abi::Str* callers);
const dj::abi::Str* dj_ucallers(uint32_t site, dj::abi::Context* ctx, int64_t count);
int64_t dj_ustack(uint32_t site, dj::abi::Context* ctx, int64_t n);
int64_t dj_uaddr(uint32_t site);

// --- what lies at an address of the target ---
const dj::abi::Str* dj_usymname(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_usymfile(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_usymline(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_usymfileline(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_usymdata(dj::abi::Context* ctx, int64_t address);
int64_t dj_umodaddr(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_umodname(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_umodbuildid(dj::abi::Context* ctx, int64_t address);

// --- what djtap is asked to do, and what ends the handler ---
void dj_exit();
void dj_warn(uint32_t site, const dj::abi::Str* text);
void dj_system(uint32_t site, const dj::abi::Str* command);
void dj_switch_file(uint32_t site);
void dj_abort(dj::abi::Context* ctx);

// --- texts; places in them count from 0 ---
int64_t dj_strlen(const dj::abi::Str* s);
const dj::abi::Str* dj_substr(dj::abi::Context* ctx, const dj::abi::Str* s, int64_t start,
                              int64_t length);
int64_t dj_isinstr(const dj::abi::Str* text, const dj::abi::Str* part);
int64_t dj_strpos(const dj::abi::Str* text, const dj::abi::Str* part);
int64_t dj_strtol(const dj::abi::Str* s, int64_t base);
int64_t dj_isdigit(const dj::abi::Str* s);
int64_t dj_stringat(const dj::abi::Str* s, int64_t at);
const dj::abi::Str* dj_str_replace(dj::abi::Context* ctx, const dj::abi::Str* text,
                                   const dj::abi::Str* search, const dj::abi::Str* replacement);
const dj::abi::Str* dj_tokenize(dj::abi::Context* ctx, const dj::abi::Str* input,
                                const dj::abi::Str* delimiters);
const dj::abi::Str* dj_text_str(dj::abi::Context* ctx, const dj::abi::Str* s);
const dj::abi::Str* dj_text_strn(dj::abi::Context* ctx, const dj::abi::Str* s, int64_t length,
                                 int64_t quoted);
const dj::abi::Str* dj_cxx_class(dj::abi::Context* ctx, const dj::abi::Str* name);

// --- what =~ matched last in this run ---
const dj::abi::Str* dj_matched(dj::abi::Context* ctx, int64_t group);
const dj::abi::Str* dj_matched_str(dj::abi::Context* ctx);
int64_t dj_ngroups(dj::abi::Context* ctx);

// --- numbers; doubles are their bits ---
int64_t dj_swap16(int64_t value);
int64_t dj_swap32(int64_t value);
int64_t dj_swap64(int64_t value);
int64_t dj_randint(int64_t limit);
uint64_t dj_double(uint64_t value);
int64_t dj_round(uint64_t value);
int64_t dj_trunc(uint64_t value);
int64_t dj_floor(uint64_t value);
int64_t dj_ceil(uint64_t value);
uint64_t dj_sqrt(uint64_t value);

// --- texts in the target's memory. Where it cannot be read: an error, `otherwise` or, of nofault
// and quoted ones, what stands in the manual ---
const dj::abi::Str* dj_user_string(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string_n(dj::abi::Context* ctx, int64_t address, int64_t length);
const dj::abi::Str* dj_user_string2(dj::abi::Context* ctx, int64_t address,
                                    const dj::abi::Str* otherwise);
const dj::abi::Str* dj_user_string_n2(dj::abi::Context* ctx, int64_t address, int64_t length,
                                      const dj::abi::Str* otherwise);
const dj::abi::Str* dj_user_string_nofault(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string_n_nofault(dj::abi::Context* ctx, int64_t address,
                                             int64_t length);
const dj::abi::Str* dj_user_string_utf16(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string_utf32(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string2_utf16(dj::abi::Context* ctx, int64_t address,
                                          const dj::abi::Str* otherwise);
const dj::abi::Str* dj_user_string2_utf32(dj::abi::Context* ctx, int64_t address,
                                          const dj::abi::Str* otherwise);
const dj::abi::Str* dj_user_bytes(dj::abi::Context* ctx, int64_t address, int64_t length);
const dj::abi::Str* dj_user_bytes_hex(dj::abi::Context* ctx, int64_t address, int64_t length);
const dj::abi::Str* dj_user_string_quoted(dj::abi::Context* ctx, int64_t address);
const dj::abi::Str* dj_user_string_n_quoted(dj::abi::Context* ctx, int64_t address, int64_t length);
const dj::abi::Str* dj_user_string_n2_quoted(dj::abi::Context* ctx, int64_t address, int64_t length,
                                             int64_t room);
const dj::abi::Str* dj_user_buffer_quoted(dj::abi::Context* ctx, int64_t address, int64_t length,
                                          int64_t room);
const dj::abi::Str* dj_user_buffer_quoted_error(dj::abi::Context* ctx, int64_t address,
                                                int64_t length, int64_t room);

// --- numbers there; an error where it cannot be read ---
int64_t dj_user_int8(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_int16(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_int32(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_int64(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_uint8(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_uint16(dj::abi::Context* ctx, int64_t address);
int64_t dj_user_uint32(dj::abi::Context* ctx, int64_t address);
uint64_t dj_user_double(dj::abi::Context* ctx, int64_t address);
uint64_t dj_user_float(dj::abi::Context* ctx, int64_t address);
}
#pragma GCC visibility pop
