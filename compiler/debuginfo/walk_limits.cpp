// SPDX-License-Identifier: Apache-2.0
// How deep a walk is, the stack tells: every walker recurses.
#include "compiler/debuginfo/walk_limits.h"

#include <dwarf.h>

namespace dj {
namespace {

// Bytes of stack. Some hundred entries in each other: libdw goes through all that lies in an entry
// to find the next one, so the time grows with the depth. What answers are made of may recurse
// more.
constexpr uintptr_t kMostOfChildren = 48 << 10, kMostOfReferences = 512 << 10;
thread_local uint64_t references_left = UINT64_MAX;
thread_local uintptr_t question_at = 0;  // where the question was asked; 0: none was

uintptr_t stack_here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

bool is_deeper(uintptr_t most) { return question_at != 0 && question_at - stack_here() > most; }

}  // namespace

Question::Question(uint64_t most) : outer_(references_left), outer_at_(question_at) {
  references_left = most;
  question_at = stack_here();
}
Question::~Question() {
  references_left = outer_;
  question_at = outer_at_;
}

bool may_follow() {
  if (references_left == 0 || is_deeper(kMostOfReferences)) return false;
  references_left--;
  return true;
}

bool first_child(Dwarf_Die* parent, Dwarf_Die* child) {
  return !is_deeper(kMostOfChildren) && dwarf_child(parent, child) == 0;
}

bool is_endless(Dwarf_Die* type) {
  constexpr int kMostSteps = 64;
  Dwarf_Die here = *type;
  for (int step = 0; step < kMostSteps; ++step) {
    Dwarf_Attribute next;
    if (dwarf_hasattr(&here, DW_AT_byte_size) != 0 ||
        dwarf_attr_integrate(&here, DW_AT_type, &next) == nullptr ||
        dwarf_formref_die(&next, &here) == nullptr)
      return false;
  }
  return true;
}

}  // namespace dj
