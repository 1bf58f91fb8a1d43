// SPDX-License-Identifier: Apache-2.0
// KernelMemory reads the running kernel's memory through /proc/kcore, without a module of djtap's.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// KernelMemory: an ELF core file whose segments are the kernel's memory.
class KernelMemory {
 public:
  // Opens the file at `path`. Fails for a user who is not root, in a kernel that is locked down,
  // and in one that has no such file.
  static Result<KernelMemory> open(const std::string& path);
  KernelMemory(KernelMemory&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        path_(std::move(other.path_)),
        segments_(std::move(other.segments_)) {}
  KernelMemory& operator=(KernelMemory&&) = delete;
  ~KernelMemory();

  // Fills `to` with the bytes at `address`.
  Status read(uint64_t address, std::span<uint8_t> to) const;

 private:
  struct Segment {
    uint64_t address, bytes, offset;
  };
  KernelMemory(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  Status read_headers();
  Status read_at(uint64_t offset, std::span<uint8_t> to) const;

  int fd_;
  std::string path_;
  std::vector<Segment> segments_;
};

}  // namespace dj
