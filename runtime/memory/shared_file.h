// SPDX-License-Identifier: Apache-2.0
// SharedFile: memory that djtap makes, maps for itself to read and write, and seals before any
// target gets it: nobody changes its size, and of what targets only read or execute nobody makes
// another writable mapping.
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
  // Zero memory of `bytes`, whole pages, with djtap's view of it at the address `at` (0: anywhere).
  // name: in /proc/PID/maps. Errors: the kernel refuses, the address is taken.
  static Result<SharedFile> make(const std::string& name, uint64_t bytes, Use use, uint64_t at = 0);
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  int fd() const { return fd_; }
  std::span<uint8_t> view() const { return view_; }  // djtap's; empty: of no bytes
  uint64_t inode() const { return inode_; }          // 0: of no bytes
  // Is this a mapping of it?
  bool is_in(const Mapping& mapping) const {
    return inode_ != 0 && mapping.inode == inode_ && mapping.device == device_;
  }

 private:
  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;
  std::span<uint8_t> view_;
};

}  // namespace dj
