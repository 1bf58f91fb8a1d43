// SPDX-License-Identifier: Apache-2.0
// Opens one file with libdwfl.
#include "compiler/debuginfo/dwfl_file.h"

#include <elfutils/libdwelf.h>
#include <unistd.h>

#include <cstring>

#include "compiler/debuginfo/debuginfod.h"
#include "compiler/debuginfo/libdw_open.h"
#include "compiler/debuginfo/packed_size.h"

namespace dj {
namespace {

std::string hex(const void* bytes, ssize_t count) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (ssize_t i = 0; i < count; i++) {
    const uint8_t byte = static_cast<const uint8_t*>(bytes)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::shared_ptr<ObjectFile> of_servers(const std::string& build_id, const std::string& name,
                                       Ask whom) {
  return whom == Ask::Servers ? ask_for_debug_file(build_id, name) : brought_debug_file(build_id);
}

}  // namespace

// As libdwfl asks: for the debug file, by the name in .gnu_debuglink if there is one, or for a dwz
// file by another name, which dwarf() looks for itself.
int DwflFile::find_debug_info(Dwfl_Module* module, void** owner, const char* name, Dwarf_Addr base,
                              const char* file, const char* link, GElf_Word crc, char** found) {
  const int fd = dwfl_standard_find_debuginfo(module, owner, name, base, file, link, crc, found);
  if (fd >= 0 || owner == nullptr || *owner == nullptr) return fd;
  const DwflFile& self = *static_cast<DwflFile*>(*owner);
  if (link != nullptr && self.elf_.debug_link().first != link) return fd;
  const std::shared_ptr<ObjectFile> sent =
      of_servers(self.elf_.build_id(), self.elf_.path(), self.whom_);
  if (!sent || !unpacks_sanely(*sent)) return fd;
  *found = strdup(sent->open_path().c_str());
  return sent->file().duplicate();
}

DwflFile::DwflFile(const ObjectFile& elf, Ask whom) : elf_(elf), whom_(whom) {
  // The empty path means the standard places: next to the file, .debug/ and /usr/lib/debug.
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = find_debug_info,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };
  guard_libdw();
  if (!unpacks_sanely(elf)) return;
  dwfl_ = dwfl_begin(&callbacks);
  if (!dwfl_) {
    return;
  }
  dwfl_report_begin(dwfl_);
  // Base 0 added to p_vaddr: addresses stay those of the file.
  const int fd = elf.file().duplicate();  // which libdwfl closes
  const char* path = elf.open_path().c_str();
  if (fd >= 0) module_ = dwfl_report_elf(dwfl_, path, path, fd, 0, true);
  dwfl_report_end(dwfl_, nullptr, nullptr);
  void** owner = nullptr;
  if (module_ != nullptr &&
      dwfl_module_info(module_, &owner, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr)) {
    *owner = this;
  }
}

DwflFile::~DwflFile() {
  if (dwfl_) {
    dwfl_end(dwfl_);
  }
  if (alternate_dwarf_) dwarf_end(alternate_dwarf_);
  if (alternate_fd_ >= 0) close(alternate_fd_);
}

Dwarf* DwflFile::dwarf(Dwarf_Addr* bias) {
  Dwarf* dwarf = dwfl_module_getdwarf(module_, bias);
  const char* name = nullptr;
  const void* build_id = nullptr;
  const ssize_t length =
      dwarf != nullptr ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) : 0;
  if (length <= 0 || alternate_ || dwarf_getalt(dwarf) != nullptr) return dwarf;
  // What dwz has put into a file of several objects, which came with none of them.
  alternate_ = of_servers(hex(build_id, length), name, whom_);
  if (!alternate_ || !unpacks_sanely(*alternate_)) return dwarf;
  alternate_fd_ = alternate_->file().duplicate();
  alternate_dwarf_ = alternate_fd_ >= 0 ? dwarf_begin(alternate_fd_, DWARF_C_READ) : nullptr;
  if (alternate_dwarf_ != nullptr) dwarf_setalt(dwarf, alternate_dwarf_);
  return dwarf;
}

}  // namespace dj
