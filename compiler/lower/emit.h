// SPDX-License-Identifier: Apache-2.0
// emit: an LLVM module with all handlers -> optimised x86-64 object, and its texts for --dump.
#pragma once
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/lower/backend.h"
#include "compiler/lower/fold_arena.h"

namespace dj::ir {

// Attribute of the handlers that djtap itself runs.
inline constexpr const char* kOwnHandler = "dj-own";

// Small: thousands of handlers are compiled in seconds, not in minutes, and call the agent for all;
// a hit takes some nanoseconds more.
enum class Effort { Usual, Small };
Effort effort_for(size_t handlers);

// Links the hot agent functions that the module calls into it (private copies, to be inlined) and
// gives every function of the module the same attributes as theirs. has_rseq, arena_base: what they
// read as constants. Effort::Small: links none.
Status link_hot_agent(llvm::Module& module, uint64_t arena_base, bool has_rseq, Effort effort);

// Configures data layout and triple; call before code is made.
Status prepare(Backend& backend, llvm::Module& module);
// Verifies, and optimises in place. Loads of `fixed` bytes become constants.
// handlers: how many run in the target; the more they are, the more agent functions are called by
// them instead of compiled into each.
Status optimise(Backend& backend, llvm::Module& module, const FixedBytes& fixed, size_t handlers);
// All that optimise() and emit_object() make their object from: the same key, the same object.
// Call before link_hot_agent(), whose arguments are part of it.
std::string object_key(const llvm::Module& module, const FixedBytes& fixed, size_t handlers,
                       uint64_t arena_base, bool has_rseq);
// Sends a function of one instruction the whole way, so that LLVM's code is read and its tables are
// made before they are waited for. Any thread; a compilation meanwhile waits for its end.
void warm_up(Backend& backend);
Result<std::vector<uint8_t>> emit_object(Backend& backend, llvm::Module& module, Effort effort);
Result<std::string> emit_assembly(Backend& backend, const llvm::Module& module, Effort effort);
// Without attributes, metadata and what is only declared.
std::string ir_text(const llvm::Module& module);

}  // namespace dj::ir
