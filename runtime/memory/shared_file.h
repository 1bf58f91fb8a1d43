// SPDX-License-Identifier: Apache-2.0
// SharedFile is memory that djtap makes, maps for itself to read and write, and seals before any
// target gets it. After that no process can change its size. Of memory that targets only read or
// execute, no process can make another writable mapping.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

class SharedFile {
 public:
  enum class Use { Written, Read };  // by targets; Read: executed, too
  SharedFile() = default;            // of no bytes
  // Makes zero memory of `bytes` bytes, whole pages, with djtap's view of it at the address `at`
  // (0: anywhere). name: in /proc/PID/maps. Fails if the kernel refuses or the address is taken.
  static Result<SharedFile> make(const std::string& name, uint64_t bytes, Use use, uint64_t at = 0);
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  // Shows the file's first place.size() bytes, whole pages, at `place`, which lies in djtap's view
  // of another file, and ends with it. There they cannot be written. False: the kernel refuses.
  bool show_at(std::span<uint8_t> place) const;

  int fd() const { return fd_; }
  std::span<uint8_t> view() const { return view_; }  // djtap's; empty: of no bytes
  uint64_t inode() const { return inode_; }          // 0: of no bytes
  // Whether this is a mapping of the file.
  bool is_in(const Mapping& mapping) const {
    return inode_ != 0 && mapping.inode == inode_ && mapping.device == device_;
  }

 private:
  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;
  std::span<uint8_t> view_;
};

}  // namespace dj
