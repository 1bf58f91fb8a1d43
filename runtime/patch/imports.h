// SPDX-License-Identifier: Apache-2.0
// Imports finds which function of which module a word of a GOT leads to. It reads the word in the
// process first; where that does not tell, it asks the dynamic symbols of the files.
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

// FunctionAt: a function, by its module's index and its first byte (ELF address).
using FunctionAt = std::pair<size_t, uint64_t>;

// DynamicLinks: GOT words and exported functions of one file; addresses are ELF addresses. A map is
// empty where the file has no such thing or cannot be read.
struct DynamicLinks {
  std::map<uint64_t, std::string> slots;      // words of the GOT: name of the imported function
  std::map<uint64_t, uint64_t> chosen;        // words filled as a resolver tells: the resolver
  std::map<std::string, uint64_t> exported;   // ~0: no function, an IFUNC, or several addresses
  std::map<std::string, uint64_t> resolvers;  // exported IFUNCs: the function that chooses
};
DynamicLinks read_dynamic_links(const std::string& path);
// Returns the words of the GOT that only the file's linkage stubs jump through (R_X86_64_JUMP_SLOT,
// ELF gABI and x86-64 psABI): ELF addresses, ascending. Empty where the file has none or cannot be
// read.
std::vector<uint64_t> read_got_slots(const std::string& path);

class Imports {
 public:
  // read_word: reads in the target that has these modules mapped; empty: only the files are there.
  Imports(const std::vector<MappedModule>& modules, const ReadWord& read_word)
      : modules_(modules), read_word_(read_word), links_(modules.size()) {}
  // Returns where the module's GOT word at `slot` (ELF address) leads now: into code of one of the
  // modules, whether or not a function begins there. A word that the loader has not filled yet
  // leads to no module, or back to its own linkage stub; by_name() may then know more. A word that
  // the program fills itself is none of the GOT, and gives nothing. Threads may run.
  std::optional<FunctionAt> bound(size_t module, uint64_t slot);
  // Returns where the word leads by the imported name. For an IFUNC it takes a word of the
  // exporting module that the same resolver has filled. Empty if the answer is not certain: the
  // word is no import, or several modules export the name and the program is none of them.
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
