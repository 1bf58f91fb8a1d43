// SPDX-License-Identifier: Apache-2.0
// CodeMoves collects from JITLink's graphs, behind their fix-ups, which numbers in the code depend
// on where it lies, so that a copy can be made for another base without linking again.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/lower/llvm_versions.h"
#include "compiler/stages/image.h"

namespace dj::ir {

class CodeMoves {
 public:
  // All that moves together: `bytes` from `base` on.
  CodeMoves(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) {}
  // Adds the numbers of a graph whose symbols have their addresses.
  void add(const llvm::jitlink::LinkGraph& graph);
  // Empty: a number depends on the base in a way that a CodeMove cannot say.
  std::optional<std::vector<CodeMove>> take() { return std::move(moves_); }

 private:
  void add(const llvm::jitlink::Edge& edge, uint64_t at);
  bool is_inside(uint64_t address) const { return address - base_ < bytes_; }

  uint64_t base_, bytes_;
  std::optional<std::vector<CodeMove>> moves_{std::in_place};
};

}  // namespace dj::ir
