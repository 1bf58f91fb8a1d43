// SPDX-License-Identifier: Apache-2.0
// What moves is told by where an edge's target lies: inside the code, or outside it.
#include "compiler/lower/code_moves.h"

#include <llvm/ExecutionEngine/JITLink/x86_64.h>

namespace dj::ir {
namespace {

namespace jitlink = llvm::jitlink;

enum class Number : uint8_t { Address, ShortAddress, Distance, DistanceTo, Other };

// What stands where an edge of this kind is, and in how many bytes. Behind the fix-ups no edge asks
// JITLink for an entry of its table of addresses any more: each leads to its entry, as one of
// these.
std::pair<Number, int> number_of(jitlink::Edge::Kind kind) {
  switch (kind) {
    case jitlink::x86_64::Pointer64:
      return {Number::Address, 8};
    case jitlink::x86_64::Pointer32:
    case jitlink::x86_64::Pointer32Signed:
      return {Number::ShortAddress, 4};
    case jitlink::x86_64::Delta64:
      return {Number::Distance, 8};
    case jitlink::x86_64::Delta32:
    case jitlink::x86_64::PCRel32:
    case jitlink::x86_64::BranchPCRel32:
    case jitlink::x86_64::BranchPCRel32ToPtrJumpStub:
    case jitlink::x86_64::BranchPCRel32ToPtrJumpStubBypassable:
    case jitlink::x86_64::PCRel32GOTLoadRelaxable:
    case jitlink::x86_64::PCRel32GOTLoadREXRelaxable:
      return {Number::Distance, 4};
    case jitlink::x86_64::NegDelta64:
      return {Number::DistanceTo, 8};
    case jitlink::x86_64::NegDelta32:
      return {Number::DistanceTo, 4};
    default:
      return {Number::Other, 0};
  }
}

}  // namespace

void CodeMoves::add(const jitlink::Edge& edge, uint64_t at) {
  const auto [number, bytes] = number_of(edge.getKind());
  const bool inside = is_inside(edge.getTarget().getAddress().getValue());
  if (number == Number::Other || (number == Number::ShortAddress && inside)) {
    moves_.reset();
  } else if (number != Number::ShortAddress && inside == (number == Number::Address)) {
    const bool grows = number != Number::Distance;
    moves_->push_back({static_cast<uint32_t>(at - base_), bytes == 8, grows});
  }
}

void CodeMoves::add(const jitlink::LinkGraph& graph) {
  for (const jitlink::Block* block : const_cast<jitlink::LinkGraph&>(graph).blocks()) {
    for (const jitlink::Edge& edge : block->edges()) {
      if (moves_ && edge.isRelocation())
        add(edge, (block->getAddress() + edge.getOffset()).getValue());
    }
  }
}

}  // namespace dj::ir
