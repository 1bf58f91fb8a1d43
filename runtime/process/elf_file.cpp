// SPDX-License-Identifier: Apache-2.0
// Reads ELF headers and symbol tables with plain file reads.
#include "runtime/process/elf_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/base/other_machine.h"
#include "compiler/base/target_file.h"
#include "runtime/process/known_of_files.h"

namespace dj {
namespace {

Result<ElfFile> read_headers(const TargetFile& file, const std::string& path) {
  ElfFile elf;
  if (!file.read(elf.header.e_ident, SELFMAG, 0) ||
      memcmp(elf.header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Error{path + " is not an ELF file", Fail::Unsupported};
  }
  if (!file.read(&elf.header, sizeof elf.header, 0)) {
    return Error{path + ": truncated ELF header", Fail::Unsupported};
  }
  if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 || elf.header.e_machine != EM_X86_64) {
    return Error{other_machine(path, elf.header.e_ident), Fail::Unsupported};
  }
  if (elf.header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Error{path + ": damaged ELF header", Fail::Unsupported};
  }
  elf.segments.resize(elf.header.e_phnum);
  if (!file.read(elf.segments.data(), elf.segments.size() * sizeof(Elf64_Phdr),
                 elf.header.e_phoff)) {
    return Error{path + ": truncated program headers", Fail::Unsupported};
  }
  return elf;
}

struct OpenElf {
  TargetFilePtr file;
  ElfFile elf;
};
Result<OpenElf> open_elf(const std::string& path) {
  DJ_TRY(TargetFilePtr file, open_target_file(path));
  DJ_TRY(ElfFile elf, read_headers(*file, path));
  return OpenElf{std::move(file), std::move(elf)};
}

// Looks `name` up in one symbol table section; an address of 0 means absent.
ElfSymbol search_table(const TargetFile& file, const Elf64_Shdr& table, const Elf64_Shdr& strings,
                       const std::string& name) {
  const uint64_t most = file.version().bytes;  // no table is larger than its file
  if (table.sh_size > most || strings.sh_size > most) {
    return {};
  }
  std::vector<Elf64_Sym> symbols(table.sh_size / sizeof(Elf64_Sym));
  std::string text(strings.sh_size, '\0');
  if (!file.read(symbols.data(), symbols.size() * sizeof(Elf64_Sym), table.sh_offset) ||
      !file.read(text.data(), text.size(), strings.sh_offset)) {
    return {};
  }
  for (const Elf64_Sym& symbol : symbols) {
    if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < text.size() &&
        name == text.c_str() + symbol.st_name) {
      return {symbol.st_value, symbol.st_size};
    }
  }
  return {};
}

// Offset in the file of an ELF address; 0: in no segment.
uint64_t file_offset(const ElfFile& elf, uint64_t address) {
  for (const Elf64_Phdr& s : elf.segments) {
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz) {
      return address - s.p_vaddr + s.p_offset;
    }
  }
  return 0;
}

std::vector<Elf64_Dyn> dynamic_section(const TargetFile& file, const ElfFile& elf) {
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& s : elf.segments) {
    if (s.p_type == PT_DYNAMIC && s.p_filesz <= file.version().bytes) {
      entries.resize(s.p_filesz / sizeof(Elf64_Dyn));
      if (!file.read(entries.data(), entries.size() * sizeof(Elf64_Dyn), s.p_offset)) {
        entries.clear();
      }
    }
  }
  return entries;
}

}  // namespace

bool has_text_relocations(const std::string& path) {
  const Result<OpenElf> opened = open_elf(path);
  if (!opened.ok()) return false;
  const auto& [file, elf] = opened.value();
  const std::vector<Elf64_Dyn> entries = dynamic_section(*file, elf);
  return std::any_of(entries.begin(), entries.end(), [](const Elf64_Dyn& entry) {
    return entry.d_tag == DT_TEXTREL ||
           (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL) != 0);
  });
}

std::vector<std::string> needed_libraries(const std::string& path) {
  const Result<OpenElf> opened = open_elf(path);
  if (!opened.ok()) {
    return {};
  }
  const auto& [file, elf] = opened.value();
  const std::vector<Elf64_Dyn> entries = dynamic_section(*file, elf);
  uint64_t table = 0, bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    table = entry.d_tag == DT_STRTAB ? file_offset(elf, entry.d_un.d_ptr) : table;
    bytes = entry.d_tag == DT_STRSZ ? entry.d_un.d_val : bytes;
  }
  if (table == 0 || bytes > file->version().bytes) {
    return {};
  }
  std::string text(bytes, '\0');
  std::vector<std::string> names;
  if (file->read(text.data(), text.size(), table)) {
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < bytes) {
        names.emplace_back(text.c_str() + entry.d_un.d_val);
      }
    }
  }
  return names;
}

namespace {

Result<ElfFile> read_all_headers(const TargetFile& file, const std::string& path) {
  DJ_TRY(ElfFile elf, read_headers(file, path));
  for (const Elf64_Phdr& segment : elf.segments) {
    if (segment.p_type == PT_TLS) {
      elf.has_tls = true;
    }
    if (segment.p_type == PT_INTERP && segment.p_filesz > 1 && segment.p_filesz <= 4096) {
      std::string text(segment.p_filesz, '\0');
      if (file.read(text.data(), text.size(), segment.p_offset)) {
        elf.interpreter = text.c_str();
      }
    }
  }
  return elf;
}

Result<ElfFile> known_headers(const TargetFile& file, const std::string& path,
                              const FileVersion& version) {
  static thread_local KnownOfFiles<ElfFile> known;
  if (const ElfFile* elf = known.find(version)) return *elf;
  DJ_TRY(ElfFile elf, read_all_headers(file, path));
  constexpr size_t kMostSegments = 64;  // a target may make files of 65,535
  if (elf.segments.size() <= kMostSegments) known.add(version, elf);
  return elf;
}

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  DJ_TRY(const TargetFilePtr file, open_target_file(path));
  return known_headers(*file, path, file->version_now());
}

Result<ElfFile> read_elf(const TargetFile& file, const std::string& path) {
  return known_headers(file, path, file.version());
}

Result<ElfSymbol> find_symbol(const std::string& path, const std::string& name) {
  DJ_TRY(const TargetFilePtr file, open_target_file(path));
  return find_symbol(*file, path, name);
}

namespace {

Error no_symbol(const std::string& path, const std::string& name) {
  return Error{path + " has no symbol " + name, Fail::NotFound};
}

Result<ElfSymbol> search_symbol(const TargetFile& file, const std::string& path,
                                const std::string& name) {
  DJ_TRY(const ElfFile elf, read_headers(file, path));
  std::vector<Elf64_Shdr> sections(elf.header.e_shnum);
  if (elf.header.e_shentsize != sizeof(Elf64_Shdr) ||
      !file.read(sections.data(), sections.size() * sizeof(Elf64_Shdr), elf.header.e_shoff)) {
    return Error{path + " has no section headers", Fail::NotFound};
  }
  for (const Elf64_Shdr& section : sections) {
    if ((section.sh_type == SHT_DYNSYM || section.sh_type == SHT_SYMTAB) &&
        section.sh_link < sections.size()) {
      ElfSymbol symbol = search_table(file, section, sections[section.sh_link], name);
      if (symbol.address != 0) {
        return symbol;
      }
    }
  }
  return no_symbol(path, name);
}

}  // namespace

Result<ElfSymbol> find_symbol(const TargetFile& file, const std::string& path,
                              const std::string& name) {
  using Key = std::pair<FileVersion, std::string>;
  static thread_local KnownOfFiles<ElfSymbol, Key> known;
  Key key = {file.version(), name};
  const ElfSymbol* symbol = known.find(key);
  if (symbol != nullptr && symbol->address == 0) return no_symbol(path, name);
  if (symbol != nullptr) return *symbol;
  Result<ElfSymbol> found = search_symbol(file, path, name);
  if (found.ok() || found.error().kind == Fail::NotFound)
    known.add(std::move(key), found.ok() ? found.value() : ElfSymbol());
  return found;
}

}  // namespace dj
