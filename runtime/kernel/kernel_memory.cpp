// SPDX-License-Identifier: Apache-2.0
// Virtual addresses to offsets of the core file, by its program headers.
#include "runtime/kernel/kernel_memory.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/kernel/kernel_file.h"

namespace dj {

namespace {

template <typename T>
std::span<uint8_t> bytes_of(T* first, size_t count) {
  return {reinterpret_cast<uint8_t*>(first), count * sizeof(T)};
}

}  // namespace

Result<KernelMemory> KernelMemory::open(const std::string& path) {
  DJ_TRY(const int fd, open_kernel_file(path));
  KernelMemory memory(fd, path);
  DJ_TRY_DO(memory.read_headers());
  return memory;
}

KernelMemory::~KernelMemory() {
  if (fd_ >= 0) ::close(fd_);
}

Status KernelMemory::read_at(uint64_t offset, std::span<uint8_t> to) const {
  while (!to.empty()) {
    const ssize_t count = ::pread(fd_, to.data(), to.size(), off_t(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path_, errno);
    if (count == 0) return Error{fmt::format("{} ends at offset {:#x}", path_, offset)};
    to = to.subspan(size_t(count));
    offset += uint64_t(count);
  }
  return ok_status();
}

Status KernelMemory::read_headers() {
  Elf64_Ehdr header;
  DJ_TRY_DO(read_at(0, bytes_of(&header, 1)));
  const bool is_core = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_type == ET_CORE &&
                       header.e_machine == EM_X86_64 && header.e_phentsize == sizeof(Elf64_Phdr);
  if (!is_core) return Error{path_ + " is no core file of an x86-64 kernel", Fail::Unsupported};
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  DJ_TRY_DO(read_at(header.e_phoff, bytes_of(headers.data(), headers.size())));
  for (const Elf64_Phdr& p : headers) {
    if (p.p_type == PT_LOAD) segments_.push_back({p.p_vaddr, p.p_filesz, p.p_offset});
  }
  return ok_status();
}

Status KernelMemory::read(uint64_t address, std::span<uint8_t> to) const {
  for (const Segment& s : segments_) {
    const uint64_t into = address - s.address;
    if (into < s.bytes && to.size() <= s.bytes - into) return read_at(s.offset + into, to);
  }
  return Error{fmt::format("{} has no memory at {:#x}", path_, address)};
}

}  // namespace dj
