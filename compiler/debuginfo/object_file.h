// SPDX-License-Identifier: Apache-2.0
// ObjectFile gives the sections, the segments and the bytes by address of one ELF64 x86-64 file
// (target_file.h). It copies nothing, decodes a part when it is asked for it, and checks every
// offset against the file.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/base/target_file.h"

namespace dj {

using Bytes = std::span<const uint8_t>;

// One section header, with its name and its bytes in the file (none for NOBITS).
struct Section {
  std::string_view name;
  Elf64_Shdr header;
  Bytes bytes;
  bool executable() const { return header.sh_flags & SHF_EXECINSTR; }
};

class ObjectFile {
 public:
  // name: what people call the file, if that is not how djtap reaches it (another mount namespace,
  // a file that was replaced while a program runs).
  static Result<ObjectFile> open(const std::string& path, const std::string& name = "");
  // By a name that stands in another file of the target.
  static Result<ObjectFile> open_found(const std::string& path);

  const std::string& path() const { return name_.empty() ? path_ : name_; }  // for people
  const std::string& open_path() const { return path_; }  // for readers of the file
  const Elf64_Ehdr& header() const { return *header_; }
  // Where the file has no section headers, they are made of its segments (segment_sections.h).
  const std::vector<Section>& sections() const { return sections_; }
  const Section* section(std::string_view name) const;  // null: none
  std::span<const Elf64_Phdr> segments() const { return segments_; }
  // The file's bytes at a virtual address, up to the end of the segment's file part; empty: none
  // there.
  Bytes at(uint64_t address) const;
  bool is_code(uint64_t address) const;  // inside an executable segment
  // The executable section that holds the address; null: none.
  const Section* code_section(uint64_t address) const;
  // The bytes from an address to the end of its executable section; empty: it is in none.
  Bytes code_at(uint64_t address) const;
  // From the first to the last executable byte; what lies in between need not be code.
  std::pair<uint64_t, uint64_t> code_range() const;
  // A segment or the section headers lie behind the file's end.
  bool is_truncated() const;
  // A section lies behind the file's end, or there are no section headers.
  bool lacks_sections() const;
  bool position_independent() const { return header_->e_type == ET_DYN; }
  // A program, not a library: its thread-local variables have offsets known from the file.
  bool is_program() const;
  const std::string& build_id() const { return build_id_; }  // hex, may be empty
  // File name and checksum in .gnu_debuglink; name empty: none.
  std::pair<std::string, uint32_t> debug_link() const;
  Bytes all() const { return all_; }  // the whole file
  const TargetFile& file() const { return *file_; }
  // Keeps every Bytes of this file valid.
  std::shared_ptr<const void> mapping() const { return file_; }

 private:
  ObjectFile() = default;
  static Result<ObjectFile> of_file(TargetFilePtr file, const std::string& path,
                                    const std::string& name);
  bool read_headers();
  void read_sections();
  void read_build_id();

  std::string path_, name_;
  TargetFilePtr file_;
  Bytes all_;
  const Elf64_Ehdr* header_ = nullptr;
  std::span<const Elf64_Phdr> segments_;
  std::vector<Section> sections_;
  std::string build_id_;
};

// The word at `offset` of `bytes`; 0 when it does not fit.
template <typename T>
T read_word(Bytes bytes, size_t offset) {
  T value{};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof(T)) {
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
  }
  return value;
}

// The records of type T that fill a section's bytes.
template <typename T>
std::span<const T> records(Bytes bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

// The text at `offset` of a table of strings, up to its NUL or the table's end.
std::string_view c_string(Bytes table, uint64_t offset);

// The path of the separate debug file of `elf` that is here (by build id, by .gnu_debuglink);
// empty: none.
std::string find_debug_file(const ObjectFile& elf);
// Whether a debuginfod server may be asked for a debug file: that takes time.
enum class Ask : uint8_t { Nobody, Servers };
// The separate debug file that is here, or has come from a server; null: there is none.
std::shared_ptr<ObjectFile> open_debug_file(const ObjectFile& elf, Ask whom);

}  // namespace dj
