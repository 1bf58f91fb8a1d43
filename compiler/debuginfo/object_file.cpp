// SPDX-License-Identifier: Apache-2.0
// Finds the headers of an ELF file; and where its separate debug file lies.
#include "compiler/debuginfo/object_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "compiler/base/found_files.h"
#include "compiler/base/other_machine.h"
#include "compiler/debuginfo/debuginfod.h"
#include "compiler/debuginfo/segment_sections.h"

namespace dj {

namespace {

// The part [offset, offset + size) of `all`; empty when it is not inside.
Bytes slice(Bytes all, uint64_t offset, uint64_t size) {
  if (offset > all.size() || all.size() - offset < size) {
    return {};
  }
  return all.subspan(offset, size);
}

// What is not to be read as an x86-64 ELF file: what it is, or what is wrong with it.
std::string not_for_us(const std::string& path, Bytes all) {
  if (all.size() >= 2 && all[0] == '#' && all[1] == '!')
    return path + " is a script, not an ELF file; its first line names its program";
  if (all.size() < SELFMAG || std::memcmp(all.data(), ELFMAG, SELFMAG) != 0)
    return path + " is not an ELF file";
  if (all.size() < sizeof(Elf64_Ehdr)) return path + ": truncated ELF header";
  return other_machine(path, all.data());
}

std::string hex(Bytes bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// The checksum of .gnu_debuglink: CRC-32 as in zlib.
uint32_t crc32(Bytes bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; bit++) {
        c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
      }
      t[i] = c;
    }
    return t;
  }();
  uint32_t crc = ~0u;
  for (uint8_t byte : bytes) {
    crc = table[(crc ^ byte) & 0xff] ^ (crc >> 8);
  }
  return ~crc;
}

// Section headers that do not are none: stripped, or overwritten.
bool tells_of_code(const std::vector<Section>& sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const Section& s) { return s.executable() && s.header.sh_size > 0; });
}

}  // namespace

std::string_view c_string(Bytes table, uint64_t offset) {
  if (offset >= table.size()) {
    return {};
  }
  const char* text = reinterpret_cast<const char*>(table.data()) + offset;
  return {text, ::strnlen(text, table.size() - offset)};
}

Result<ObjectFile> ObjectFile::open(const std::string& path, const std::string& name) {
  DJ_TRY(TargetFilePtr file, open_target_file(path));
  return of_file(std::move(file), path, name);
}

Result<ObjectFile> ObjectFile::open_found(const std::string& path) {
  DJ_TRY(TargetFilePtr file, open_found_file(path));
  return of_file(std::move(file), path, "");
}

Result<ObjectFile> ObjectFile::of_file(TargetFilePtr file, const std::string& path,
                                       const std::string& name) {
  ObjectFile elf;
  elf.path_ = path;
  elf.name_ = name;
  elf.all_ = file->bytes();
  elf.file_ = std::move(file);
  if (elf.all_.empty()) {
    const bool is_empty = elf.file_->version().bytes == 0;
    return Error{path + (is_empty ? " is empty" : " cannot be mapped, or copied")};
  }
  if (!elf.read_headers()) {
    return Error{not_for_us(path, elf.all_)};
  }
  elf.read_build_id();
  return elf;
}

bool ObjectFile::read_headers() {
  if (all_.size() < sizeof(Elf64_Ehdr)) {
    return false;
  }
  header_ = reinterpret_cast<const Elf64_Ehdr*>(all_.data());
  if (std::memcmp(header_->e_ident, ELFMAG, SELFMAG) != 0 ||
      header_->e_ident[EI_CLASS] != ELFCLASS64 || header_->e_machine != EM_X86_64) {
    return false;
  }
  segments_ = records<Elf64_Phdr>(
      slice(all_, header_->e_phoff, uint64_t{header_->e_phnum} * sizeof(Elf64_Phdr)));
  read_sections();
  if (!tells_of_code(sections_)) {
    std::vector<Section> made = sections_of_segments(*this);
    if (tells_of_code(made)) sections_ = std::move(made);
  }
  return true;
}

// The first header, of no section, has the numbers that are too large for the file's header.
void ObjectFile::read_sections() {
  const auto firsts = records<Elf64_Shdr>(slice(all_, header_->e_shoff, sizeof(Elf64_Shdr)));
  const Elf64_Shdr first = header_->e_shoff != 0 && !firsts.empty() ? firsts[0] : Elf64_Shdr{};
  const uint64_t count = header_->e_shnum != 0 ? header_->e_shnum : first.sh_size;
  if (count > all_.size()) return;
  const auto headers =
      records<Elf64_Shdr>(slice(all_, header_->e_shoff, count * sizeof(Elf64_Shdr)));
  const uint32_t names_at = header_->e_shstrndx == SHN_XINDEX ? first.sh_link : header_->e_shstrndx;
  Bytes names;
  if (names_at < headers.size()) {
    const Elf64_Shdr& table = headers[names_at];
    names = slice(all_, table.sh_offset, table.sh_size);
  }
  for (const Elf64_Shdr& h : headers) {
    Bytes bytes = h.sh_type == SHT_NOBITS ? Bytes{} : slice(all_, h.sh_offset, h.sh_size);
    sections_.push_back({c_string(names, h.sh_name), h, bytes});
  }
}

// Among the notes of any section: linker scripts put them where they like.
void ObjectFile::read_build_id() {
  const auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  for (const Section& s : sections_) {
    if (s.header.sh_type != SHT_NOTE) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) < s.bytes.size();) {
      const auto note = read_word<Elf64_Nhdr>(s.bytes, at);
      const uint64_t name_at = at + sizeof note, id_at = name_at + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && c_string(s.bytes, name_at) == ELF_NOTE_GNU) {
        build_id_ = hex(slice(s.bytes, id_at, note.n_descsz));
        return;
      }
      at = id_at + padded(note.n_descsz);
    }
  }
}

const Section* ObjectFile::section(std::string_view name) const {
  for (const Section& s : sections_) {
    if (s.name == name) {
      return &s;
    }
  }
  return nullptr;
}

Bytes ObjectFile::at(uint64_t address) const {
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz) {
      const uint64_t into = address - p.p_vaddr;
      return slice(all_, p.p_offset + into, p.p_filesz - into);
    }
  }
  return {};
}

bool ObjectFile::is_code(uint64_t address) const {
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) && address >= p.p_vaddr &&
        address - p.p_vaddr < p.p_filesz) {
      return true;
    }
  }
  return false;
}

const Section* ObjectFile::code_section(uint64_t address) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) {
    return s.executable() && address - s.header.sh_addr < s.header.sh_size;
  });
  return found != sections_.end() ? &*found : nullptr;
}

Bytes ObjectFile::code_at(uint64_t address) const {
  const Section* section = code_section(address);
  if (!section) return {};
  const uint64_t into = address - section->header.sh_addr;
  return section->bytes.subspan(std::min<uint64_t>(into, section->bytes.size()));
}

std::pair<uint64_t, uint64_t> ObjectFile::code_range() const {
  uint64_t begin = ~uint64_t{0}, end = 0;
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X)) {
      begin = std::min<uint64_t>(begin, p.p_vaddr);
      end = std::max<uint64_t>(end, p.p_vaddr + p.p_filesz);
    }
  }
  return {std::min(begin, end), end};
}

bool ObjectFile::is_truncated() const {
  const uint64_t headers = uint64_t{header_->e_shnum} * sizeof(Elf64_Shdr);
  if (headers > 0 && slice(all_, header_->e_shoff, headers).empty()) return true;
  return std::any_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& p) {
    return p.p_type == PT_LOAD && p.p_filesz > 0 && slice(all_, p.p_offset, p.p_filesz).empty();
  });
}

bool ObjectFile::lacks_sections() const {
  return sections_.empty() || std::any_of(sections_.begin(), sections_.end(), [](const Section& s) {
           return s.header.sh_type != SHT_NOBITS && s.bytes.size() != s.header.sh_size;
         });
}

bool ObjectFile::is_program() const {
  if (header_->e_type == ET_EXEC) {
    return true;
  }
  for (const Elf64_Phdr& p : segments_) {
    if (p.p_type != PT_DYNAMIC) {
      continue;
    }
    for (const Elf64_Dyn& d : records<Elf64_Dyn>(slice(all_, p.p_offset, p.p_filesz))) {
      if (d.d_tag == DT_FLAGS_1) {
        return d.d_un.d_val & DF_1_PIE;
      }
    }
  }
  return false;
}

std::pair<std::string, uint32_t> ObjectFile::debug_link() const {
  const Section* link = section(".gnu_debuglink");
  if (!link) {
    return {};
  }
  const std::string name(c_string(link->bytes, 0));
  return {name, read_word<uint32_t>(link->bytes, (name.size() + 4) & ~size_t{3})};
}

namespace {

// By .gnu_debuglink: beside the file, or in the folder of all debug files.
std::string linked_debug_file(const ObjectFile& elf) {
  const auto [name, crc] = elf.debug_link();
  if (name.empty() || name.find('/') != std::string::npos) {
    return {};
  }
  const std::string beside = elf.open_path().substr(0, elf.open_path().rfind('/') + 1);
  const std::string inside = name_in_targets_root(elf.path());
  const std::string dir = inside.substr(0, inside.rfind('/') + 1);
  for (const std::string& path : {beside + name, beside + ".debug/" + name, dir + name,
                                  dir + ".debug/" + name, "/usr/lib/debug" + dir + name}) {
    Result<ObjectFile> file = ObjectFile::open_found(path);
    if (!file.ok() || path == elf.open_path()) {
      continue;
    }
    const bool same = elf.build_id().empty() ? crc32(file.value().all()) == crc
                                             : file.value().build_id() == elf.build_id();
    if (same) {
      return path;
    }
  }
  return {};
}

}  // namespace

std::string find_debug_file(const ObjectFile& elf) {
  const std::string& id = elf.build_id();
  if (id.size() > 2) {
    std::string path =
        "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
    const Result<ObjectFile> file = ObjectFile::open_found(path);
    if (file.ok() && file.value().build_id() == id) return path;
  }
  return linked_debug_file(elf);
}

std::shared_ptr<ObjectFile> open_debug_file(const ObjectFile& elf, Ask whom) {
  const std::string path = find_debug_file(elf);
  Result<ObjectFile> file = path.empty() ? Error{"none"} : ObjectFile::open_found(path);
  if (file.ok()) return std::make_shared<ObjectFile>(file.take());
  return whom == Ask::Servers ? ask_for_debug_file(elf.build_id(), elf.path())
                              : brought_debug_file(elf.build_id());
}

}  // namespace dj
