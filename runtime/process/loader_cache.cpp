// SPDX-License-Identifier: Apache-2.0
// The form of glibc 2.2 and later (struct cache_file_new of its dl-cache.h), which may stand behind
// the older one.
#include "runtime/process/loader_cache.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "compiler/base/result.h"
#include "runtime/process/elf_file.h"

namespace dj {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";

struct Header {
  char magic[20];
  uint32_t count, text_bytes;
  uint32_t unused[5];
};
struct Entry {
  int32_t flags;
  uint32_t name, path;  // offsets from the header
  uint32_t os_version;
  uint64_t hardware;
};
static_assert(sizeof(Header) == 48 && sizeof(Entry) == 24);

// Whether a process of this machine can map its code: no text, no object file, no i386 library.
bool can_be_mapped(const std::string& path) {
  const Result<ElfFile> elf = read_elf(path);
  return elf.ok() && (elf.value().header.e_type == ET_DYN || elf.value().header.e_type == ET_EXEC);
}

}  // namespace

std::vector<std::string> cached_libraries(const std::string& bytes) {
  std::vector<std::string> paths;
  const size_t begin = bytes.find(kMagic);
  if (begin == bytes.npos) return paths;
  const std::string_view file = std::string_view(bytes).substr(begin);
  Header header;
  if (file.size() < sizeof header) return paths;
  std::memcpy(&header, file.data(), sizeof header);
  for (uint64_t i = 0; i < header.count; i++) {
    const uint64_t at = sizeof header + i * sizeof(Entry);
    Entry entry;
    if (at + sizeof entry > file.size()) break;
    std::memcpy(&entry, &file[at], sizeof entry);
    if (entry.path >= file.size()) continue;
    const std::string_view path = file.substr(entry.path);
    paths.emplace_back(path.substr(0, path.find('\0')));
  }
  return paths;
}

std::vector<std::string> cached_libraries() {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  return cached_libraries(std::string(std::istreambuf_iterator<char>(file), {}));
}

std::string find_library(const std::string& name) {
  if (name.find('/') != name.npos) return can_be_mapped(name) ? name : "";
  for (const std::string& path : cached_libraries()) {
    if (path.ends_with("/" + name) && can_be_mapped(path)) return path;
  }
  return "";
}

}  // namespace dj
