// SPDX-License-Identifier: Apache-2.0
// STAGE TYPE Image: relocatable objects with all handlers of a Plan, not yet placed. And linking:
// Image + base address + memory -> bytes for that base. LLVM stays behind this header.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"

namespace dj {

// Facts about the target that generated code depends on.
struct TargetAbi {
  bool has_rseq = true;  // false: musl, Go, static without TLS: locked operations only
};

// A place in the script that a run-time error can name; dj_raise's `span`.
struct Image {
  std::vector<uint8_t> object;  // ELF relocatable with all handlers ("dj_handler_N") and functions
  std::vector<Span> spans;      // by dj_raise span index
  std::string ir, assembly;     // filled when asked for (--dump=ir, asm), else empty
  bool is_cached = false;       // the object is an earlier session's
};

// What a detour must push for a handler: registers (DWARF numbers) as stack arguments, first one at
// the lowest address, behind the site index when wants_site. rdi rsi rdx rcx r8 r9 are never
// listed: they are where the program left them and the handler reads them in place. The flags
// (arch::kFlags) may be the last.
struct HandlerAbi {
  std::vector<uint8_t> stack_regs;
  bool wants_site = false;
  // A handler that does nothing but add a constant to a counter: detours may do that themselves, in
  // threads' own rows (runtime/shared/thread_rows.h). Address of the counter's word in row 0; 0:
  // another handler.
  uint64_t count_word = 0;
  int32_t count_add = 0;
};

// Objects of earlier sessions. The key (some kilobytes, any bytes) is all that an object is made
// from but djtap itself: its owner must keep objects of different builds apart.
struct ObjectCache {
  std::function<std::vector<uint8_t>(const std::string& key)> find;  // empty: there is none
  std::function<void(const std::string& key, const std::vector<uint8_t>& object)> keep;
};

// lower(): Plan -> LLVM module -> optimised object. abis gets one entry per Plan::handlers.
struct EmitOptions {
  TargetAbi abi;
  bool want_ir = false, want_assembly = false;
  std::vector<Span> spans;  // of an earlier image of the session: Image::spans begins with them
  const ObjectCache* kept = nullptr;  // null, or texts are wanted: all is compiled
};
Result<Image> lower(const Program& program, const Plan& plan, const Layout& layout,
                    const EmitOptions& options, std::vector<HandlerAbi>& abis);

// CodeMove: a number in linked code that is another one at another base.
struct CodeMove {
  uint32_t offset = 0;   // from the base
  bool is_wide = false;  // of 8 bytes, else of 4
  bool grows = false;    // as the base does: an address of this code. Else it shrinks: a
                         // distance from this code to something that stays
};
// Linked code in `working` memory, valid at `base`. Symbols: "dj_handler_N", the agent's entries.
struct Linked {
  std::map<std::string, uint64_t> symbols;
  uint64_t bytes_used = 0;         // from the start of the memory
  std::vector<uint64_t> handlers;  // those of `symbols` that are named "dj_handler_N", by N
  // What a copy at another base must change; empty: it must be linked anew there.
  std::optional<std::vector<CodeMove>> moves;
};
// AgentPlaces: what the agent's code has as numbers and only the target says. Distances are from
// the fs base of a thread.
struct AgentPlaces {
  int64_t rseq_offset = 0;               // of struct rseq
  int64_t stack_block = 0;               // runtime/process/stack_query.h; 0: not known
  uint64_t threads = 0, own_stacks = 0;  // the Header's
  bool operator==(const AgentPlaces&) const = default;
};
// Links image and agent for address `base` into `working` (the controller's rw view of the same
// pages). Pure but for writing `working`.
Result<Linked> link(const Image& image, uint64_t base, std::span<uint8_t> working,
                    const AgentPlaces& places);
// Bytes that link() needs for this image, agent included, rounded up to pages (an upper bound).
uint64_t link_bytes(const Image& image);
// Links into djtap itself (own rx memory), for Host handlers. The code lives until djtap ends.
Result<Linked> link_host(const Image& image);

}  // namespace dj
