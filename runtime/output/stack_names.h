// SPDX-License-Identifier: Apache-2.0
// stack_names() names the functions that a stack of addresses leads through.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/shared/abi.h"

namespace dj {

// Returns a name for each address, in the same order: the function's, as a person writes it;
// "[object+0x12]" for an unknown function of an object; the address itself outside of all objects.
// Empty: the text is no such stack, or the session names none. stack: what ubacktrace() gives,
// addresses in hexadecimal with blanks between, innermost first. header: the session's; its
// StackTables are sealed against the target (runtime/shared/unwind.h).
std::optional<std::vector<std::string>> stack_names(const abi::Header& header,
                                                    std::string_view stack);

// StackNamer is stack_names() for one session, for callers that do not know the session.
using StackNamer = std::function<std::optional<std::vector<std::string>>(std::string_view stack)>;

}  // namespace dj
