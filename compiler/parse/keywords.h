// SPDX-License-Identifier: Apache-2.0
// The keywords of the script language: the editor offers them, and the parser's diagnostics compare
// words with them.
#pragma once
#include <string>
#include <vector>

namespace dj {

// The keywords' spellings that begin a statement; those that begin a top-level item.
const std::vector<std::string>& statement_keywords();
const std::vector<std::string>& item_keywords();

}  // namespace dj
