// SPDX-License-Identifier: Apache-2.0
// Zlib and zstd sections begin with the size that libdw takes the memory for, and unpacks no more
// than. An xz stream has no such size: it is unpacked once, into memory that ends there.
#include "compiler/debuginfo/packed_size.h"

#include <lzma.h>

#include <algorithm>
#include <memory>

namespace dj {
namespace {

constexpr uint64_t kMostRatio = 64;
constexpr uint64_t kAlways = 16 << 20;  // bytes
constexpr uint64_t kTooMany = ~uint64_t{0};

uint64_t zdebug_size(Bytes bytes) {
  constexpr size_t kMagic = 4;
  uint64_t size = 0;
  for (size_t i = 0; i < sizeof size; i++) size = size << 8 | read_word<uint8_t>(bytes, kMagic + i);
  return size;
}

// kTooMany: more than `most`, or no xz stream.
uint64_t xz_size(Bytes bytes, uint64_t most) {
  uint64_t memory = 128 << 20;
  const std::unique_ptr<uint8_t[]> out(new uint8_t[most]);
  size_t read = 0, written = 0;
  const lzma_ret result = lzma_stream_buffer_decode(&memory, 0, nullptr, bytes.data(), &read,
                                                    bytes.size(), out.get(), &written, most);
  return result == LZMA_OK ? written : kTooMany;
}

uint64_t unpacked_size(const Section& section, uint64_t most) {
  if ((section.header.sh_flags & SHF_COMPRESSED) != 0) {
    return read_word<uint64_t>(section.bytes, offsetof(Elf64_Chdr, ch_size));
  }
  if (section.name.starts_with(".zdebug")) return zdebug_size(section.bytes);
  return section.name == ".gnu_debugdata" ? xz_size(section.bytes, most) : 0;
}

}  // namespace

bool unpacks_sanely(const ObjectFile& elf) {
  uint64_t packed = 0, unpacked = 0;
  for (const Section& section : elf.sections()) {
    packed += section.bytes.size();
    const uint64_t most = kAlways + kMostRatio * packed;
    const uint64_t size = unpacked_size(section, most);
    if (size > most) return false;
    unpacked += size;
  }
  return unpacked <= kAlways + kMostRatio * packed;
}

}  // namespace dj
