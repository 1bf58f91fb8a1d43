// SPDX-License-Identifier: Apache-2.0
// KernelSymbols holds the names and addresses of the running kernel and of its modules, from
// /proc/kallsyms.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// KernelSymbol is one line of the list. Its type is the letter that nm prints ('T': a function that
// other files of the kernel may name, 't': one of a single file).
struct KernelSymbol {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module = {};  // empty: the kernel itself
  bool is_text() const { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }
  bool is_global() const { return type == 'T' || type == 'W'; }
  // The linker's script has made the name, as the begin or the end of something.
  bool is_bound() const;
};

class KernelSymbols {
 public:
  // Reads the list at `path`. Fails where the kernel hides its addresses: they are all 0 then.
  static Result<KernelSymbols> read(const std::string& path);

  // Those of the kernel itself, sorted by address.
  const std::vector<KernelSymbol>& all() const { return all_; }
  // Those of modules, sorted by address. A module here may also be code that the kernel makes while
  // it runs ([bpf], [__builtin__kprobes]).
  const std::vector<KernelSymbol>& of_modules() const { return of_modules_; }
  // Returns the address of a bound; empty: the kernel has none of that name.
  std::optional<uint64_t> bound(std::string_view name) const;

 private:
  std::vector<char> text_;  // holds the names
  std::vector<KernelSymbol> all_, of_modules_;
  std::unordered_map<std::string_view, uint64_t> bounds_;
};

}  // namespace dj
