// SPDX-License-Identifier: Apache-2.0
// Imports: which function of which module a word of a GOT leads to: what stands there in the
// process, else what the files' dynamic symbols say.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/patch/target_facts.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// A function by its module's index and its first byte (ELF address).
using FunctionAt = std::pair<size_t, uint64_t>;

// Of one file. Empty where there is no such thing or the file cannot be read.
struct DynamicLinks {
  std::map<uint64_t, std::string> slots;      // words of the GOT: name of the imported function
  std::map<uint64_t, uint64_t> chosen;        // words that the loader fills as a resolver tells it
  std::map<std::string, uint64_t> exported;   // ~0: no function, an IFUNC, or several addresses
  std::map<std::string, uint64_t> resolvers;  // exported IFUNCs: the function that chooses
};
DynamicLinks read_dynamic_links(const std::string& path);
// Words of the GOT that only the file's linkage stubs jump through (R_X86_64_JUMP_SLOT, ELF gABI
// and x86-64 psABI), ascending ELF addresses. Empty where there are none or the file cannot be
// read.
std::vector<uint64_t> read_got_slots(const std::string& path);

class Imports {
 public:
  // read_word: reads in the target that has them mapped; empty: there are only the files.
  Imports(const std::vector<MappedModule>& modules, const ReadWord& read_word)
      : modules_(modules), read_word_(read_word), links_(modules.size()) {}
  // Where the module's GOT word at `slot` (ELF address) leads now: into code of one of the modules,
  // whatever begins there. A word that the loader has not filled leads nowhere, or back to its own
  // linkage stub, and then by_name() may know more; one that the program fills is none of the GOT.
  // Nobody need be stopped.
  std::optional<FunctionAt> bound(size_t module, uint64_t slot);
  // Where it leads by its name; of an IFUNC, where a word of its own module leads that the same
  // resolver has filled. Nothing if that is not certain: no import, or exported by several modules,
  // none of which is the program.
  std::optional<FunctionAt> by_name(size_t module, uint64_t slot);

 private:
  const DynamicLinks& links(size_t module);
  // What the loader has chosen for an IFUNC that the module exports.
  std::optional<FunctionAt> chosen(size_t module, const std::string& name);

  const std::vector<MappedModule>& modules_;
  const ReadWord& read_word_;
  std::vector<std::optional<DynamicLinks>> links_;  // read when first needed
};

}  // namespace dj
