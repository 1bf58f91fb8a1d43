// SPDX-License-Identifier: Apache-2.0
// AreaMemory: places segments one behind the other; writable data is refused, the arena is for
// that.
#include "compiler/lower/area_memory.h"

#include <elf.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include <algorithm>
#include <cstring>

namespace dj::ir {
namespace {

namespace jitlink = llvm::jitlink;
LLVM_ENABLE_BITMASK_ENUMS_IN_NAMESPACE();

// Nothing to do: the bytes are in place as soon as they are written.
class Placed : public jitlink::JITLinkMemoryManager::InFlightAlloc {
 public:
  explicit Placed(uint64_t address) : address_(address) {}
  void abandon(OnAbandonedFunction done) override { done(llvm::Error::success()); }
  void finalize(OnFinalizedFunction done) override {
    done(jitlink::JITLinkMemoryManager::FinalizedAlloc(llvm::orc::ExecutorAddr(address_)));
  }

 private:
  uint64_t address_;
};

llvm::Error refuse(const std::string& why) {
  return llvm::make_error<llvm::StringError>(why, llvm::inconvertibleErrorCode());
}

// Data that only relocation writes may lie in read-only memory: the linker writes through another
// view.
bool is_written_at_run_time(const jitlink::Section& section) {
  bool writable = (section.getMemProt() & llvm::orc::MemProt::Write) != llvm::orc::MemProt::None;
  bool relocated_only =
      section.getName().starts_with(".data.rel.ro") || section.getName() == "__rseq_cs";
  return writable && !relocated_only && !section.empty();
}

// Where the object's call frame information begins, as a symbol, which link() gives with the
// others.
void name_frames(jitlink::LinkGraph& graph) {
  jitlink::Section* frames = graph.findSectionByName(".eh_frame");
  if (frames == nullptr || frames->empty()) return;
  jitlink::Block* first =
      *std::min_element(frames->blocks().begin(), frames->blocks().end(),
                        [](auto* a, auto* b) { return a->getAddress() < b->getAddress(); });
  graph.addDefinedSymbol(*first, 0, "dj_handler_frames", 0, jitlink::Linkage::Strong,
                         jitlink::Scope::Hidden, false, true);
}

}  // namespace

llvm::Error AreaMemory::place(jitlink::LinkGraph& graph) {
  for (const jitlink::Section& section : graph.sections()) {
    if (section.getMemLifetime() != llvm::orc::MemLifetime::NoAlloc &&
        is_written_at_run_time(section)) {
      return refuse("code for the target has writable data in " + section.getName().str());
    }
  }
  name_frames(graph);
  jitlink::BasicLayout layout(graph);
  for (auto& [group, segment] : layout.segments()) {
    uint64_t start = llvm::alignTo(used_, segment.Alignment);
    uint64_t end = start + segment.ContentSize + segment.ZeroFillSize;
    if (end > working_.size()) return refuse("the code area is too small");
    segment.Addr = llvm::orc::ExecutorAddr(base_ + start);
    segment.WorkingMem = reinterpret_cast<char*>(working_.data() + start);
    std::memset(segment.WorkingMem + segment.ContentSize, 0, segment.ZeroFillSize);
    used_ = end;
  }
  return layout.apply();
}

void AreaMemory::allocate(const jitlink::JITLinkDylib*, jitlink::LinkGraph& graph,
                          OnAllocatedFunction done) {
  uint64_t start = used_;
  if (llvm::Error error = place(graph)) return done(std::move(error));
  done(std::make_unique<Placed>(base_ + start));
}

void AreaMemory::deallocate(std::vector<FinalizedAlloc> allocs, OnDeallocatedFunction done) {
  for (FinalizedAlloc& alloc : allocs) alloc.release();
  done(llvm::Error::success());
}

uint64_t object_bytes_max(std::string_view object) {
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return 0;
  std::memcpy(&header, object.data(), sizeof header);
  uint64_t bytes = 64;
  constexpr uint64_t kStubBytes = 32;  // a table entry and a jump for each symbol from outside
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    uint64_t at = header.e_shoff + uint64_t{i} * sizeof section;
    if (at + sizeof section > object.size()) break;
    std::memcpy(&section, object.data() + at, sizeof section);
    // Every block of a section may be aligned anew.
    if (section.sh_flags & SHF_ALLOC) bytes += section.sh_size + 2 * section.sh_addralign;
    if (section.sh_type == SHT_SYMTAB) bytes += section.sh_size / sizeof(Elf64_Sym) * kStubBytes;
  }
  return bytes + 4096;
}

}  // namespace dj::ir
