// SPDX-License-Identifier: Apache-2.0
// .eh_frame read for what the unwinder knows about code: where functions begin and end, and where
// exceptions land in them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/debuginfo/object_file.h"

namespace dj {

// One frame description entry: code [begin, end); lsda: address of its exception table, 0: none.
struct FrameEntry {
  uint64_t begin = 0, end = 0;
  uint64_t lsda = 0;
  bool begins_called = false;  // at `begin` nothing is said of the CFA: it is that of the CIE
  bool repeats_cfa = false;    // what the CIE says is said again: a block that is code of its own
};

// All entries of .eh_frame, in file order. Entries that cannot be read are left out.
std::vector<FrameEntry> read_frames(const ObjectFile& elf);
// The entry whose code begins at `begin`, found by .eh_frame_hdr's table (LSB 10.6.2) or, without
// one, by reading all; empty: there is none.
std::optional<FrameEntry> frame_from(const ObjectFile& elf, uint64_t begin);

// FrameSearch: frame_from() for as many questions as are said beforehand; for many it reads all
// entries once. `elf` must outlive it.
class FrameSearch {
 public:
  FrameSearch(const ObjectFile& elf, size_t questions);
  std::optional<FrameEntry> from(uint64_t begin) const;

 private:
  const ObjectFile& elf_;
  const bool is_few_;
  std::vector<FrameEntry> all_;  // by begin; of many questions
};

// Adds the landing pads that the entry's exception table names. `calls`: how many calls may still
// be read in tables of this file, which may share their bytes.
void add_landing_pads(const ObjectFile& elf, const FrameEntry& entry, size_t& calls,
                      std::vector<uint64_t>& pads);

}  // namespace dj
