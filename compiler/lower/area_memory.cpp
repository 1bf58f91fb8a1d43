// SPDX-License-Identifier: Apache-2.0
// AreaMemory: places segments one behind the other; writable data is refused, the arena is for
// that. So a section that JITLink may take for writable is one that holds addresses.
#include "compiler/lower/area_memory.h"

#include <elf.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/lower/llvm_versions.h"

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

constexpr auto kWrite = llvm::orc::MemProt::Write;

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

// Whether the section has addresses of linked code. What code itself has of another object is a
// number that only the target says (AgentPlaces).
bool holds_addresses(jitlink::Section& section) {
  const bool is_code =
      (section.getMemProt() & llvm::orc::MemProt::Exec) != llvm::orc::MemProt::None;
  for (const jitlink::Block* block : section.blocks()) {
    for (const jitlink::Edge& edge : block->edges()) {
      const bool is_address = edge.getKind() == jitlink::x86_64::Pointer64;
      if (is_address && (!is_code || edge.getTarget().isDefined())) return true;
    }
  }
  return false;
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

// The name to which an entry of JITLink's own tables leads; a stub leads to an entry of the GOT.
std::string target_of(const jitlink::Block& entry) {
  for (const jitlink::Edge& edge : entry.edges()) {
    const jitlink::Symbol& target = edge.getTarget();
    if (target.hasName()) return text_of(target.getName());
    if (target.isDefined()) return target_of(target.getBlock());
  }
  return "";
}

// JITLink would lay the entries of its tables as their objects happen to lie in djtap's heap: then
// two links of the same code differed.
void order_tables(jitlink::LinkGraph& graph) {
  for (const llvm::StringRef name : {jitlink::x86_64::GOTTableManager::getSectionName(),
                                     jitlink::x86_64::PLTTableManager::getSectionName()}) {
    jitlink::Section* table = graph.findSectionByName(name);
    if (table == nullptr) continue;
    std::vector<jitlink::Block*> entries(table->blocks().begin(), table->blocks().end());
    std::ranges::sort(entries, {}, [](const jitlink::Block* entry) { return target_of(*entry); });
    uint64_t place = 0;
    for (jitlink::Block* entry : entries) entry->setAddress(llvm::orc::ExecutorAddr(place++));
  }
}

}  // namespace

llvm::Error AreaMemory::place(jitlink::LinkGraph& graph) {
  for (jitlink::Section& section : graph.sections()) {
    if (section.getMemLifetime() == llvm::orc::MemLifetime::NoAlloc) continue;
    if (is_written_at_run_time(section))
      return refuse("code for the target has writable data in " + section.getName().str());
    section.setMemProt(holds_addresses(section) ? section.getMemProt() | kWrite
                                                : section.getMemProt() & ~kWrite);
  }
  name_frames(graph);
  order_tables(graph);
  jitlink::BasicLayout layout(graph);
  for (auto& [group, segment] : layout.segments()) {
    const uint64_t bytes = segment.ContentSize + segment.ZeroFillSize;
    const bool is_behind = (group.getMemProt() & kWrite) != llvm::orc::MemProt::None;
    uint64_t start = llvm::alignTo(used_, segment.Alignment);
    if (is_behind && bytes <= end_)
      start = llvm::alignDown(end_ - bytes, segment.Alignment.value());
    if (start + bytes > end_ || start < used_) return refuse("the code area is too small");
    segment.Addr = llvm::orc::ExecutorAddr(base_ + start);
    segment.WorkingMem = reinterpret_cast<char*>(working_.data() + start);
    std::memset(segment.WorkingMem + segment.ContentSize, 0, segment.ZeroFillSize);
    (is_behind ? end_ : used_) = is_behind ? start : start + bytes;
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
