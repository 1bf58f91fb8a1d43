// SPDX-License-Identifier: Apache-2.0
// Limits of walks through debug information, whose entries may lie in each other as deep as a file
// has bytes, and refer to each other in circles. first_child() and referred() are the only ways
// from one entry to another, and end there: an entry that is too deep has no children, and a
// question that has followed too many references finds no more.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>

namespace dj {

// Question: counts the references that are followed for one answer, in this thread, and measures
// the depth from here. Each walk asks one.
class Question {
 public:
  static constexpr uint64_t kMostReferences = 5'000'000;
  explicit Question(uint64_t most = kMostReferences);
  ~Question();
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  uint64_t outer_;      // what is left to the question in which this one is asked
  uintptr_t outer_at_;  // and where that was asked
};

// May this question follow another reference? Counts it.
bool may_follow();
// dwarf_child(): false: there is none, or it lies too deep.
bool first_child(Dwarf_Die* parent, Dwarf_Die* child);
// Does a type of no size of its own lead on and on to others, as an array that is its own element?
// dwarf_aggregate_size() takes long to refuse one.
bool is_endless(Dwarf_Die* type);

}  // namespace dj
