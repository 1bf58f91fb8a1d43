// How deep a walk is, the stack tells: every walker recurses.
#include "compiler/debuginfo/walk_limits.h"

#include <algorithm>

namespace dj {
namespace {

constexpr uintptr_t kMostStack = 512 << 10;  // bytes
thread_local uint64_t references_left = UINT64_MAX;

// From the shallowest call in this thread.
bool is_too_deep() {
  thread_local uintptr_t shallowest = 0;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  shallowest = std::max(shallowest, here);
  return shallowest - here > kMostStack;
}

}  // namespace

Question::Question(uint64_t most) : outer_(references_left) { references_left = most; }
Question::~Question() { references_left = outer_; }

bool may_follow() {
  if (references_left == 0 || is_too_deep()) return false;
  references_left--;
  return true;
}

bool first_child(Dwarf_Die* parent, Dwarf_Die* child) {
  return !is_too_deep() && dwarf_child(parent, child) == 0;
}

}  // namespace dj
