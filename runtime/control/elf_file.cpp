// Reads ELF headers and symbol tables with plain file reads.
#include "runtime/control/elf_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/control/os_error.h"

namespace dj {
namespace {

// File: an open file that closes itself.
class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  bool ok() const { return fd_ >= 0; }
  bool read(void* to, size_t bytes, uint64_t offset) const {
    return pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }

 private:
  int fd_;
};

constexpr uint64_t kMaxTableBytes = 256 << 20;  // a symbol table larger than this is not believed

Result<ElfFile> read_headers(const File& file, const std::string& path) {
  ElfFile elf;
  if (!file.read(&elf.header, sizeof elf.header, 0) ||
      memcmp(elf.header.e_ident, ELFMAG, SELFMAG) != 0) {
    return Error{path + " is not an ELF file", Fail::Unsupported};
  }
  if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 || elf.header.e_machine != EM_X86_64) {
    return Error{path + " is not made for x86-64; 32-bit programs are not supported",
                 Fail::Unsupported};
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

// Looks `name` up in one symbol table section; an address of 0 means absent.
ElfSymbol search_table(const File& file, const Elf64_Shdr& table, const Elf64_Shdr& strings,
                       const std::string& name) {
  if (table.sh_size > kMaxTableBytes || strings.sh_size > kMaxTableBytes) {
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

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  File file(path);
  if (!file.ok()) {
    return os_error("cannot open " + path);
  }
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

Result<ElfSymbol> find_symbol(const std::string& path, const std::string& name) {
  File file(path);
  if (!file.ok()) {
    return os_error("cannot open " + path);
  }
  DJ_TRY(ElfFile elf, read_headers(file, path));
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
  return Error{path + " has no symbol " + name, Fail::NotFound};
}

}  // namespace dj
