// Imports: which function of which module a word of a GOT leads to, by the files' dynamic symbols.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/control/process.h"

namespace dj {

// A function by its module's index and its first byte (ELF address).
using FunctionAt = std::pair<size_t, uint64_t>;

// Of one file. Empty where there is no such thing or the file cannot be read.
struct DynamicLinks {
  std::map<uint64_t, std::string> slots;     // words of the GOT: name of the imported function
  std::map<std::string, uint64_t> exported;  // ~0: no function, an IFUNC, or several addresses
};
DynamicLinks read_dynamic_links(const std::string& path);

class Imports {
 public:
  explicit Imports(const std::vector<MappedModule>& modules)
      : modules_(modules), links_(modules.size()) {}
  // Where the module's GOT word at `slot` leads. Nothing if that is not certain: no import, a
  // choice at run time (IFUNC), or exported by several modules, none of which is the program.
  std::optional<FunctionAt> function(size_t module, uint64_t slot);

 private:
  const DynamicLinks& links(size_t module);

  const std::vector<MappedModule>& modules_;
  std::vector<std::optional<DynamicLinks>> links_;  // read when first needed
};

}  // namespace dj
