// SPDX-License-Identifier: Apache-2.0
// CompleteTypes: the definitions of a file's types, for declarations of them. Only for this room.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dj {

class CompleteTypes {
 public:
  // units: all that may have types.
  explicit CompleteTypes(std::vector<Dwarf_Die> units) : units_(std::move(units)) {}
  // The type of the declaration's kind and name, in the same namespaces and classes.
  std::optional<Dwarf_Die> find(Dwarf_Die* declared);

 private:
  struct Named {
    std::vector<Dwarf_Die> dies;  // several: names without the arguments of their template
    bool lacks_arguments = false;
  };
  void collect(Dwarf_Die* parent, const std::string& scope);
  void add(const std::string& name, const Dwarf_Die& type);
  std::optional<Dwarf_Die> search(Dwarf_Die* declared);

  std::vector<Dwarf_Die> units_;
  std::unordered_map<std::string, Named> types_;                    // filled when first asked
  std::unordered_map<uint64_t, std::optional<Dwarf_Die>> answers_;  // by declaration
  // Of the unit that is being read: the scopes of declarations that types outside of them complete.
  std::unordered_map<uint64_t, std::string> declared_in_;
};

}  // namespace dj
