// SPDX-License-Identifier: Apache-2.0
// MappedBytes: a file mapped for reading that survives the file's truncation. The kernel answers a
// read of a page behind the file's end with SIGBUS; djtap's handler of it puts zeros there, and the
// reader goes on with a file that ends in zeros.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace dj {

class MappedBytes {
 public:
  // Maps the first `size` bytes of `fd`, which may be closed afterwards. bytes() are empty when the
  // kernel refuses it, or when size is 0. Throws std::bad_alloc where no addresses are left.
  MappedBytes(int fd, size_t size);
  ~MappedBytes();
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  std::span<const uint8_t> bytes() const { return {begin_, size_}; }

 private:
  const uint8_t* begin_ = nullptr;
  size_t size_ = 0;
  struct Guard* guard_ = nullptr;
};

}  // namespace dj
