// SPDX-License-Identifier: Apache-2.0
// The file's parts in their order: header, program headers, sections, symbols, section headers.
#include "runtime/kernel/elf_builder.h"

#include <cstring>

#include "compiler/base/page.h"

namespace dj {

namespace {

template <typename T>
std::span<const uint8_t> bytes_of(const T* first, size_t count) {
  return {reinterpret_cast<const uint8_t*>(first), count * sizeof(T)};
}

constexpr uint64_t kWord = 8;
constexpr size_t kNoteSegment = 1;
constexpr uint16_t kFirstSection = 1;

}  // namespace

ElfBuilder::ElfBuilder(size_t sections) : names_(1, '\0'), symbol_names_(1, '\0') {
  file_.resize(sizeof(Elf64_Ehdr) + (sections + kNoteSegment) * sizeof(Elf64_Phdr));
  sections_.emplace_back();
  locals_.emplace_back();
}

void ElfBuilder::align(uint64_t to, uint64_t rest) {
  file_.resize(file_.size() + (rest - file_.size()) % to);
}

uint64_t ElfBuilder::append(std::span<const uint8_t> bytes) {
  const uint64_t offset = file_.size();
  file_.insert(file_.end(), bytes.begin(), bytes.end());
  return offset;
}

void ElfBuilder::add_section(const std::string& name, const Elf64_Shdr& header) {
  sections_.push_back(header);
  sections_.back().sh_name = uint32_t(names_.size());
  names_ += name;
  names_ += '\0';
}

std::span<uint8_t> ElfBuilder::add_apart(const std::string& name, uint64_t address,
                                         uint64_t bytes) {
  align(kPage, address % kPage);
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_flags = SHF_ALLOC;
  section.sh_addr = address;
  section.sh_offset = file_.size();
  section.sh_size = bytes;
  section.sh_addralign = 1;
  add_section(name, section);
  file_.resize(file_.size() + bytes);
  return std::span(file_).last(bytes);
}

std::span<uint8_t> ElfBuilder::add(const std::string& name, uint64_t address, uint64_t bytes,
                                   bool is_code) {
  const std::span<uint8_t> room = add_apart(name, address, bytes);
  if (is_code) sections_.back().sh_flags |= SHF_EXECINSTR;
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = is_code ? PF_R | PF_X : PF_R;
  segment.p_offset = sections_.back().sh_offset;
  segment.p_vaddr = segment.p_paddr = address;
  segment.p_filesz = segment.p_memsz = bytes;
  segment.p_align = kPage;
  segments_.push_back(segment);
  return room;
}

void ElfBuilder::add_notes(std::span<const char> notes) {
  align(kWord, 0);
  Elf64_Shdr section = {};
  section.sh_type = SHT_NOTE;
  section.sh_offset = append(bytes_of(notes.data(), notes.size()));
  section.sh_size = notes.size();
  section.sh_addralign = 4;
  add_section(".notes", section);
  Elf64_Phdr segment = {};
  segment.p_type = PT_NOTE;
  segment.p_flags = PF_R;
  segment.p_offset = section.sh_offset;
  segment.p_filesz = section.sh_size;
  segment.p_align = 4;
  segments_.push_back(segment);
}

Elf64_Sym ElfBuilder::function_symbol(uint64_t address, std::string_view name, bool is_global) {
  Elf64_Sym symbol = {};
  symbol.st_name = uint32_t(symbol_names_.size());
  symbol.st_info = ELF64_ST_INFO(is_global ? STB_GLOBAL : STB_LOCAL, STT_FUNC);
  symbol.st_value = address;
  symbol_names_ += name;
  symbol_names_ += '\0';
  return symbol;
}

void ElfBuilder::add_function(uint64_t address, uint64_t bytes, std::string_view name,
                              bool is_global) {
  Elf64_Sym symbol = function_symbol(address, name, is_global);
  symbol.st_shndx = kFirstSection;
  symbol.st_size = bytes;
  (is_global ? globals_ : locals_).push_back(symbol);
}

void ElfBuilder::add_function_outside(uint64_t address, std::string_view name) {
  globals_.push_back(function_symbol(address, name, true));
  globals_.back().st_shndx = SHN_ABS;
}

void ElfBuilder::add_symbols() {
  align(kWord, 0);
  Elf64_Shdr table = {};
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = append(bytes_of(locals_.data(), locals_.size()));
  append(bytes_of(globals_.data(), globals_.size()));
  table.sh_size = file_.size() - table.sh_offset;
  table.sh_link = uint32_t(sections_.size()) + 1;
  table.sh_info = uint32_t(locals_.size());
  table.sh_addralign = kWord;
  table.sh_entsize = sizeof(Elf64_Sym);
  add_section(".symtab", table);
  Elf64_Shdr names = {};
  names.sh_type = SHT_STRTAB;
  names.sh_offset = append(bytes_of(symbol_names_.data(), symbol_names_.size()));
  names.sh_size = symbol_names_.size();
  names.sh_addralign = 1;
  add_section(".strtab", names);
}

std::vector<uint8_t> ElfBuilder::finish() {
  add_symbols();
  Elf64_Shdr names = {};
  names.sh_type = SHT_STRTAB;
  names.sh_addralign = 1;
  add_section(".shstrtab", names);
  sections_.back().sh_offset = append(bytes_of(names_.data(), names_.size()));
  sections_.back().sh_size = names_.size();
  align(kWord, 0);

  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = uint16_t(segments_.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = uint16_t(sections_.size());
  header.e_shstrndx = uint16_t(sections_.size() - 1);
  header.e_shoff = append(bytes_of(sections_.data(), sections_.size()));
  memcpy(file_.data(), &header, sizeof header);
  CHECK(sizeof header + segments_.size() * sizeof(Elf64_Phdr) <=
        sections_[kFirstSection].sh_offset);
  memcpy(&file_[sizeof header], segments_.data(), segments_.size() * sizeof(Elf64_Phdr));
  return std::move(file_);
}

}  // namespace dj
