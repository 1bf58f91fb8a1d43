// SPDX-License-Identifier: Apache-2.0
// AreaMemory: JITLink's memory for one link: one range that is writable here and read and executed
// elsewhere, at another address. Sections that hold addresses go to its end, all others to its
// begin: so most pages have the same bytes at every address.
#pragma once
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace dj::ir {

class AreaMemory : public llvm::jitlink::JITLinkMemoryManager {
 public:
  // base: the address at which `working` will be executed; equally aligned up to 64 bytes.
  AreaMemory(uint64_t base, std::span<uint8_t> working)
      : base_(base), working_(working), end_(working.size()) {}
  // How many bytes are used, with a gap between begin and end.
  uint64_t used() const { return end_ == working_.size() ? used_ : working_.size(); }

  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;
  void allocate(const llvm::jitlink::JITLinkDylib*, llvm::jitlink::LinkGraph& graph,
                OnAllocatedFunction done) override;
  void deallocate(std::vector<FinalizedAlloc> allocs, OnDeallocatedFunction done) override;

 private:
  llvm::Error place(llvm::jitlink::LinkGraph& graph);

  uint64_t base_;
  std::span<uint8_t> working_;
  uint64_t used_ = 0, end_;  // what is free
};

// An upper bound of what AreaMemory uses for this ELF object.
uint64_t object_bytes_max(std::string_view object);

}  // namespace dj::ir
