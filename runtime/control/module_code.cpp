// Cache of analysed modules, by the file's name.
#include "runtime/control/module_code.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "runtime/control/elf_file.h"

namespace dj {
namespace {

// The whole file, read-only; empty if that fails.
std::span<uint8_t> map_file(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  void* at = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
    at = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  }
  if (fd >= 0) {
    close(fd);
  }
  if (at == MAP_FAILED) {
    return {};
  }
  return {static_cast<uint8_t*>(at), static_cast<size_t>(info.st_size)};
}

}  // namespace

ModuleCodes::~ModuleCodes() {
  for (std::span<uint8_t> file : files_) {
    munmap(file.data(), file.size());
  }
}

const std::vector<RawText>& ModuleCodes::raw(const MappedModule& module) {
  auto [entry, is_new] = raw_.try_emplace(module.open_path);
  if (!is_new || module.is_vdso || module.stale) {
    return entry->second;
  }
  Result<ElfFile> elf = read_elf(module.open_path);
  std::span<uint8_t> file = elf.ok() ? map_file(module.open_path) : std::span<uint8_t>();
  if (!file.empty()) {
    files_.push_back(file);
    for (const Elf64_Phdr& s : elf.value().segments) {
      bool inside = s.p_offset <= file.size() && s.p_filesz <= file.size() - s.p_offset;
      if (s.p_type == PT_LOAD && (s.p_flags & PF_X) != 0 && inside) {
        entry->second.push_back({s.p_vaddr, file.subspan(s.p_offset, s.p_filesz)});
      }
    }
  }
  return entry->second;
}

std::span<const uint8_t> ModuleCode::at(uint64_t address, uint64_t bytes) const {
  for (const arch::TextRange& range : text) {
    if (address >= range.address && address + bytes <= range.address + range.bytes.size()) {
      return std::span(range.bytes).subspan(address - range.address, bytes);
    }
  }
  return {};
}

const std::vector<arch::Checker::Syscall>& ModuleCode::syscalls() {
  if (!syscalls_.has_value()) {
    syscalls_ = checker->syscalls();
  }
  return *syscalls_;
}

Result<ModuleCode*> ModuleCodes::get(const MappedModule& module) {
  auto known = codes_.find(module.open_path);
  if (known != codes_.end()) {
    return known->second.get();
  }
  auto broken = failed_.find(module.open_path);
  if (broken != failed_.end()) {
    return broken->second;
  }
  Result<arch::ModuleText> text =
      module.stale || module.is_vdso
          ? Result<arch::ModuleText>(Error{module.path + ": its file has been replaced"})
          : read_text_(module.open_path);
  if (!text.ok()) {
    failed_.emplace(module.open_path, text.error());
    return text.error();
  }
  auto code = std::make_unique<ModuleCode>();
  code->text = text.value().text;
  code->checker = std::make_unique<arch::Checker>(text.take());
  return (codes_[module.open_path] = std::move(code)).get();
}

}  // namespace dj
