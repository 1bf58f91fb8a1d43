// SPDX-License-Identifier: Apache-2.0
// stack_names(): the functions that a stack of addresses leads through.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/shared/abi.h"

namespace dj {

// Takes what ubacktrace() gives: addresses in hexadecimal with blanks between, innermost first.
// Gives a name for each, in the same order: the function's, as a person writes it; "[object+0x12]"
// where none is known in an object; the address as it stands outside of all. Nothing: the text is
// no such stack, or the session names none. header: of the session; its StackTables are sealed
// against the target (runtime/shared/unwind.h).
std::optional<std::vector<std::string>> stack_names(const abi::Header& header,
                                                    std::string_view stack);

// The same of one session, for those who do not know it.
using StackNamer = std::function<std::optional<std::vector<std::string>>(std::string_view stack)>;

}  // namespace dj
