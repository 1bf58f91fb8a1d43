// SPDX-License-Identifier: Apache-2.0
// Reads .dynsym and the relocations that fill GOTs.
#include "runtime/patch/imports.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "compiler/base/target_file.h"
#include "runtime/process/known_of_files.h"
#include "runtime/process/running_memory.h"

namespace dj {
namespace {

constexpr uint64_t kNoAddress = ~0ul;

// The sections of one file, read when asked for.
class Sections {
 public:
  explicit Sections(const std::string& path) {
    Result<TargetFilePtr> file = open_target_file(path);
    if (!file.ok()) return;
    file_ = file.take();
    Elf64_Ehdr header = {};
    if (!read(&header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)) {
      return;
    }
    headers_.resize(header.e_shnum);
    if (!read(headers_.data(), headers_.size() * sizeof(Elf64_Shdr), header.e_shoff)) {
      headers_.clear();
    }
  }
  const std::vector<Elf64_Shdr>& headers() const { return headers_; }

  template <typename T>
  std::vector<T> records(const Elf64_Shdr& section) {
    std::vector<T> all(section.sh_size <= file_->version().bytes ? section.sh_size / sizeof(T) : 0);
    if (!read(all.data(), all.size() * sizeof(T), section.sh_offset)) all.clear();
    return all;
  }
  template <typename T>
  std::vector<T> linked(const Elf64_Shdr& section) {
    return section.sh_link < headers_.size() ? records<T>(headers_[section.sh_link])
                                             : std::vector<T>();
  }
  // Versions of the symbols of table number `index`.
  std::vector<uint16_t> versions(size_t index) {
    for (const Elf64_Shdr& section : headers_) {
      if (section.sh_type == SHT_GNU_versym && section.sh_link == index) {
        return records<uint16_t>(section);
      }
    }
    return {};
  }

 private:
  bool read(void* to, size_t bytes, uint64_t offset) {
    return bytes == 0 || file_->read(to, bytes, offset);
  }

  TargetFilePtr file_;
  std::vector<Elf64_Shdr> headers_;
};

std::string name_of(const Elf64_Sym& symbol, const std::vector<char>& names) {
  if (symbol.st_name >= names.size()) return "";
  const char* text = names.data() + symbol.st_name;
  return std::string(text, strnlen(text, names.size() - symbol.st_name));
}

void read_exported(Sections& sections, size_t index, DynamicLinks& links) {
  constexpr uint16_t kHiddenVersion = 0x8000;  // only found by those who ask for it
  const Elf64_Shdr& table = sections.headers()[index];
  const auto symbols = sections.records<Elf64_Sym>(table);
  const auto names = sections.linked<char>(table);
  const std::vector<uint16_t> versions = sections.versions(index);
  for (size_t i = 0; i < symbols.size(); i++) {
    const Elf64_Sym& symbol = symbols[i];
    const bool hidden = i < versions.size() && (versions[i] & kHiddenVersion) != 0;
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || hidden) {
      continue;
    }
    const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
    const std::string name = name_of(symbol, names);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) links.resolvers[name] = symbol.st_value;
    uint64_t& address = links.exported[name];
    const bool same = address == 0 || address == symbol.st_value;
    address = function && same ? symbol.st_value : kNoAddress;
  }
}

void read_slots(Sections& sections, const Elf64_Shdr& table, DynamicLinks& links) {
  if (table.sh_link >= sections.headers().size()) return;
  const Elf64_Shdr& symbol_table = sections.headers()[table.sh_link];
  const auto symbols = sections.records<Elf64_Sym>(symbol_table);
  const auto names = sections.linked<char>(symbol_table);
  for (const Elf64_Rela& r : sections.records<Elf64_Rela>(table)) {
    const auto type = ELF64_R_TYPE(r.r_info);
    const uint64_t symbol = ELF64_R_SYM(r.r_info);
    const bool of_got = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
    if (type == R_X86_64_IRELATIVE) links.chosen[r.r_offset] = static_cast<uint64_t>(r.r_addend);
    if (of_got && symbol < symbols.size()) {
      links.slots.emplace(r.r_offset, name_of(symbols[symbol], names));
    }
  }
}

}  // namespace

DynamicLinks read_dynamic_links(const std::string& path) {
  Sections sections(path);
  DynamicLinks links;
  for (size_t i = 0; i < sections.headers().size(); i++) {
    const Elf64_Shdr& section = sections.headers()[i];
    if (section.sh_type == SHT_DYNSYM) read_exported(sections, i, links);
    if (section.sh_type == SHT_RELA) read_slots(sections, section, links);
  }
  return links;
}

std::vector<uint64_t> read_got_slots(const std::string& path) {
  static thread_local KnownOfFiles<std::vector<uint64_t>> known;
  const std::optional<FileVersion> version = version_of(path);
  const std::vector<uint64_t>* const before = version ? known.find(*version) : nullptr;
  if (before != nullptr) return *before;
  Sections sections(path);
  std::vector<uint64_t> words;
  for (const Elf64_Shdr& section : sections.headers()) {
    // That of the linkage table names it; the others are large.
    if (section.sh_type != SHT_RELA || (section.sh_flags & SHF_INFO_LINK) == 0) continue;
    for (const Elf64_Rela& r : sections.records<Elf64_Rela>(section)) {
      if (ELF64_R_TYPE(r.r_info) == R_X86_64_JUMP_SLOT) words.push_back(r.r_offset);
    }
  }
  std::sort(words.begin(), words.end());
  constexpr size_t kMostKept = 4096;  // a target may make files of any number
  if (version && words.size() <= kMostKept) known.add(*version, words);
  return words;
}

const DynamicLinks& Imports::links(size_t module) {
  if (!links_[module]) links_[module] = read_dynamic_links(modules_[module].open_path);
  return *links_[module];
}

std::optional<FunctionAt> Imports::bound(size_t module, uint64_t slot) {
  const DynamicLinks& own = links(module);
  uint64_t word = 0;
  const bool is_filled_by_loader = own.slots.contains(slot) || own.chosen.contains(slot);
  if (!read_word_ || !is_filled_by_loader || !read_word_(slot + modules_[module].bias, word)) {
    return {};
  }
  for (size_t i = 0; i < modules_.size(); i++) {
    const std::vector<AddressRange>& text = modules_[i].text;
    const bool inside = std::any_of(
        text.begin(), text.end(), [&](const AddressRange& range) { return range.contains(word); });
    if (inside && !modules_[i].is_vdso) return FunctionAt{i, word - modules_[i].bias};
  }
  return {};
}

std::optional<FunctionAt> Imports::chosen(size_t module, const std::string& name) {
  const DynamicLinks& own = links(module);
  const auto resolver = own.resolvers.find(name);
  if (resolver == own.resolvers.end()) return {};
  for (const auto& [slot, by] : own.chosen) {
    if (by == resolver->second) return bound(module, slot);
  }
  return {};
}

std::optional<FunctionAt> Imports::by_name(size_t module, uint64_t slot) {
  const auto import = links(module).slots.find(slot);
  if (import == links(module).slots.end()) return {};
  std::optional<size_t> only;
  for (size_t i = 0; i < modules_.size(); i++) {
    if (modules_[i].is_vdso || !links(i).exported.contains(import->second)) continue;
    if (only && !modules_[i].is_executable_file) return {};
    only = i;
    if (modules_[i].is_executable_file) break;
  }
  if (!only) return {};
  const uint64_t address = links(*only).exported.at(import->second);
  if (address == kNoAddress) return chosen(*only, import->second);
  return FunctionAt{*only, address};
}

}  // namespace dj
