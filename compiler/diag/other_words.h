// SPDX-License-Identifier: Apache-2.0
// Words of other languages and tracers, and how djtap says the same: the help of "there is no ..."
// mistakes.
#pragma once
#include <string>
#include <string_view>

namespace dj {

// "in djtap: ..." for a word such as "elif", "and", "strcmp" or "uprobe"; "" for all others.
std::string help_for_other_word(std::string_view word);
// As that, for the name of a SystemTap function that only the kernel could answer.
std::string help_for_kernel_word(std::string_view word);

}  // namespace dj
