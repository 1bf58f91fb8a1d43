// SPDX-License-Identifier: Apache-2.0
// llvm_versions names what LLVM's versions spell differently, so that the rest of this room reads
// the same for all of them. A part for a version that djtap no longer builds with
// (DJTAP_LEAST_LLVM) can go.
#pragma once
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/JITLink/ELF.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <string>

namespace dj::ir {

// The target triple as modules and machines take it: text before LLVM 21.
#if LLVM_VERSION_MAJOR >= 21
using TripleWord = llvm::Triple;
#else
using TripleWord = const char*;
#endif

// A symbol's name in JITLink: text before LLVM 20, a pointer into a pool of texts from then on.
using LinkName = llvm::jitlink::JITLinkContext::LookupMap::key_type;
#if LLVM_VERSION_MAJOR >= 20
struct LinkNames {
  std::shared_ptr<llvm::orc::SymbolStringPool> pool =
      std::make_shared<llvm::orc::SymbolStringPool>();
};
inline std::string text_of(const LinkName& name) { return (*name).str(); }
inline auto link_graph_of(llvm::MemoryBufferRef object, const LinkNames& names) {
  return llvm::jitlink::createLinkGraphFromELFObject(object, names.pool);
}
#else
struct LinkNames {};
inline std::string text_of(const LinkName& name) { return name.str(); }
inline auto link_graph_of(llvm::MemoryBufferRef object, const LinkNames&) {
  return llvm::jitlink::createLinkGraphFromELFObject(object);
}
#endif

}  // namespace dj::ir
