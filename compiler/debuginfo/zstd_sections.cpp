// SPDX-License-Identifier: Apache-2.0
// Reads the headers that stand before packed bytes.
#include "compiler/debuginfo/zstd_sections.h"

#include <elfutils/libdwfl.h>

namespace dj {

std::string zstd_sections(const ObjectFile& elf) {
  constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD
  std::string names;
  for (const Section& s : elf.sections()) {
    if (!(s.header.sh_flags & SHF_COMPRESSED) || read_word<Elf64_Chdr>(s.bytes, 0).ch_type != kZstd)
      continue;
    names += (names.empty() ? "" : ", ") + std::string(s.name);
  }
  return names;
}

std::string elfutils_version() { return std::string("elfutils ") + dwfl_version(nullptr); }

}  // namespace dj
