// SPDX-License-Identifier: Apache-2.0
// Splits a command line by wordexp(), which expands ~ and variables, too.
#include "runtime/command/command_words.h"

#include <wordexp.h>

namespace dj {

Result<std::vector<std::string>> command_words(const std::string& text) {
  wordexp_t words;
  const int failed = wordexp(text.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF);
  if (failed == WRDE_BADCHAR || failed == WRDE_CMDSUB)
    return Error{"the command needs a shell; say so: -- sh -c '...'"};
  if (failed == WRDE_BADVAL) return Error{"an undefined variable stands in the command"};
  if (failed != 0) return Error{"the command cannot be split into words (unbalanced quotes?)"};
  std::vector<std::string> result(words.we_wordv, words.we_wordv + words.we_wordc);
  wordfree(&words);
  if (result.empty()) return Error{"the command is empty"};
  return result;
}

}  // namespace dj
