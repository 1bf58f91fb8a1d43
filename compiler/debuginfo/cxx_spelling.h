// SPDX-License-Identifier: Apache-2.0
// one_spelling(): the spelling of a C++ name that stands for all that mean the same.
#pragma once
#include <string>
#include <string_view>

namespace dj {

// Two texts that gdb takes for the same function have the same result. It has no blanks but between
// words, "char const*" for "const char *", "unsigned long" for "long unsigned int" and std::string
// for what that is an alias of. Text that is no C++ comes back without its blanks.
std::string one_spelling(std::string_view name);

}  // namespace dj
