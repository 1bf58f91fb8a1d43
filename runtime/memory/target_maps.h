// SPDX-License-Identifier: Apache-2.0
// TargetMaps makes a session's mappings in the target, all of them or none, and checks that they
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
  // Gives the target descriptors of these files, except those of no bytes. The files outlive this
  // object.
  static Result<TargetMaps> begin(RemoteCall& call, std::span<const SharedFile* const> files);
  // Maps a part of one of the files. range.begin 0: the kernel chooses the address. protection: as
  // of mmap(). `what`: names the mapping in an Error. Returns the address.
  Result<uint64_t> map(const char* what, const AddressRange& range, int protection,
                       const SharedFile& file, uint64_t offset);
  // Maps zero memory that no other process shares, to read and write.
  Status map_private(const char* what, const AddressRange& range);
  // Closes the files' descriptors in the target. Unmaps the mappings, too, if `mapped` is an error
  // or a mapping is not there as it was made: another process may have put other files in their
  // places. Returns the first error.
  Status end(const Status& mapped);
  // The ranges of the mappings.
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
