// SPDX-License-Identifier: Apache-2.0
// TargetIndex: what a Lua tapset may ask of the target's files: functions, marks, variables and the
// layout of types. Plain data between compiler/resolve, which answers, and runtime/lua, which asks.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

struct IndexedFunction {
  std::string name;      // as a person writes it
  std::string symbol;    // the linker's name
  std::string module;    // path
  uint64_t address = 0;  // ELF address
  uint64_t size = 0;
};

struct IndexedMark {
  std::string provider, name, module;
  size_t arguments = 0;
};

struct IndexedVariable {
  std::string name, type;
  bool parameter = false;
};

class TargetIndex {
 public:
  virtual ~TargetIndex() = default;
  // Paths: the executable, then what it has mapped. Empty: there is no target.
  virtual std::vector<std::string> modules() = 0;
  // pattern: "[object!]name", as in func(). By module, then by address. An error: the pattern is
  // none.
  virtual Result<std::vector<IndexedFunction>> functions(const std::string& pattern) = 0;
  // object: a name or wildcard for modules; "" all.
  virtual std::vector<IndexedMark> marks(const std::string& object) = 0;
  // Parameters and locals of the first function that the pattern means; an error: no function, or
  // no debug info.
  virtual Result<std::vector<IndexedVariable>> variables(const std::string& pattern) = 0;
  // Bytes from the begin of a type ("struct point", "vector<int>") to a part of it ("a.b[2]"), by
  // the debug info of the object. The error says what is not known.
  virtual Result<int64_t> offset(const std::string& object, const std::string& type,
                                 const std::string& part) = 0;
  virtual Result<int64_t> size(const std::string& object, const std::string& type) = 0;
};

}  // namespace dj
