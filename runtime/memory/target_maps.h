// SPDX-License-Identifier: Apache-2.0
// TargetMaps: makes a session's mappings in the target, all of them or none, and says whether they
// are there.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/memory/shared_file.h"
#include "runtime/process/remote_call.h"

namespace dj {

class TargetMaps {
 public:
  // Gives the target these files, those of no bytes not. They outlive this object.
  static Result<TargetMaps> begin(RemoteCall& call, std::span<const SharedFile* const> files);
  // Maps a part of one of the files. range.begin 0: where the kernel likes. protection: as of
  // mmap(). `what`: for the Error. Returns where it lies.
  Result<uint64_t> map(const char* what, const AddressRange& range, int protection,
                       const SharedFile& file, uint64_t offset);
  // Zero memory that no other process shares, to read and write.
  Status map_private(const char* what, const AddressRange& range);
  // Takes the files from the target, and the mappings, too, unless `mapped` is well and all of
  // them are there as they were made: another process may have put other files in their places.
  // Returns the first error.
  Status end(const Status& mapped);
  // Of what was mapped.
  std::vector<AddressRange> ranges() const;

 private:
  struct File {
    const SharedFile* file;
    uint64_t number;  // of its descriptor in the target
  };
  struct Piece {
    AddressRange range;
    int protection;
    const SharedFile* file;  // null: private memory
    uint64_t offset;
  };
  explicit TargetMaps(RemoteCall& call) : call_(call) {}
  Status check() const;
  RemoteCall& call_;
  std::vector<File> files_;
  std::vector<Piece> pieces_;
};

}  // namespace dj
