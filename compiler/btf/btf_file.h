// SPDX-License-Identifier: Apache-2.0
// BtfFile: one file of BTF, the type information that a kernel brings along. Answers by name what a
// function takes and returns. No type of libbpf leaves this room.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/result.h"

struct btf;

namespace dj {

struct Prototype {
  struct Parameter {
    std::string name, type;
  };
  std::vector<Parameter> parameters;  // those with names, in order; "..." is none
  std::string returns;                // a type; empty: nothing

  bool operator==(const Prototype& other) const = default;
};
inline bool operator==(const Prototype::Parameter& a, const Prototype::Parameter& b) {
  return a.name == b.name && a.type == b.type;
}

class BtfFile {
 public:
  // Reads the file: raw BTF, or an ELF file with a section .BTF. `base`: of a kernel's module, the
  // kernel's own file, whose types its types are made of; must outlive this object. Fails with
  // Fail::NotFound where there is no such file.
  static Result<BtfFile> read(const std::string& path, const BtfFile* base = nullptr);

  // Returns what this file (not its base) says of the function. None: it has no function of that
  // name, or several that differ.
  std::optional<Prototype> prototype(std::string_view function) const;

 private:
  struct Free {
    void operator()(btf* types) const;
  };
  explicit BtfFile(btf* types) : types_(types) {}
  void index_functions(const BtfFile* base);
  Prototype prototype_of(uint32_t function) const;

  std::unique_ptr<btf, Free> types_;
  std::vector<std::pair<std::string_view, uint32_t>> functions_;  // sorted: name, its type's number
};

}  // namespace dj
