// SPDX-License-Identifier: Apache-2.0
// TargetMaps makes a session's mappings in the target, all of them or none, and checks that they
// are there. In a program that has not run yet it first tries to make all of them by one chain of
// system calls, in which the target opens djtap's files by their names.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/memory/shared_file.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/remote_map.h"

namespace dj {

class TargetMaps {
 public:
  // Gives the target descriptors of these files, at the latest in run(), except those of no bytes.
  // The files outlive this object.
  static Result<TargetMaps> begin(RemoteCall& call, std::span<const SharedFile* const> files);
  // Maps a part of one of the files, at the latest in end(), which comes behind run(). range.begin
  // 0: the kernel chooses the address. protection: as of mmap(). `what`: names the mapping in an
  // Error, and outlives this object.
  Status map(const char* what, const AddressRange& range, int protection, const SharedFile& file,
             uint64_t offset);
  // The same with zero memory that no other process shares, to read and write. Forked children find
  // the bytes of `wiped`, which may be empty, zero again.
  Status map_private(const char* what, const AddressRange& range, const AddressRange& wiped);
  // Begins with what is still to be made. True: the target makes it now, until end(). An error: the
  // target has nothing of it. mapped: what map() has returned.
  Result<bool> run(const Status& mapped);
  // Makes what is still to be made, and closes the descriptors in the target. Unmaps the mappings,
  // too, if `mapped` was an error or a mapping is not there as it was made: another process may
  // have put other files in their places. Returns the first error.
  Status end();
  // The ranges of the mappings.
  std::vector<AddressRange> ranges() const;

 private:
  struct File {
    const SharedFile* file;
    uint64_t number;  // of its descriptor in the target
  };
  struct Piece {
    const char* what;
    AddressRange range;
    int protection;
    const SharedFile* file;  // null: private memory
    uint64_t offset;         // in the file
    AddressRange wiped;      // of private memory
  };
  explicit TargetMaps(RemoteCall& call) : call_(call) {}
  Status send();
  Status add(Piece piece);
  Status wipe(const Piece& piece);
  Status make_all();
  Result<bool> is_room() const;
  Result<bool> begin_chain();
  Result<bool> end_chain();
  RemoteMapping mapping_of(const Piece& piece) const;
  Status check(std::vector<Piece>& pieces) const;
  Status unmap(const std::vector<Piece>& pieces);
  RemoteCall& call_;
  std::vector<File> files_;
  std::vector<uint64_t> sockets_;  // numbers of descriptors, too
  std::vector<Piece> pieces_;
  bool is_chained_ = false;  // run() and end() make all
  Status mapped_ = ok_status();
};

}  // namespace dj
