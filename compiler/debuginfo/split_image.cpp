// SPDX-License-Identifier: Apache-2.0
// libelf unpacks the sections; the new file has an ELF header, the bytes, and section headers.
#include "compiler/debuginfo/split_image.h"

#include <elfutils/libdw.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace dj {

namespace {

using Buffer = std::vector<uint8_t>;

template <typename T>
void append(Buffer& to, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

bool is_debug(std::string_view name) {
  return name.starts_with(".debug_") || name.starts_with(".zdebug_");
}

bool is_split(std::string_view name) { return name.ends_with(".dwo") && is_debug(name); }

// The bytes of a section, unpacked, appended to those of its name.
void add_section(Elf_Scn* section, std::string name, SplitSections& to) {
  GElf_Shdr header;
  if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) return;
  if (name.starts_with(".z")) {
    if (elf_compress_gnu(section, 0, 0) < 0) return;
    name.erase(1, 1);
  } else if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0) {
    return;
  }
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (!data || !data->d_buf) return;
  const auto* bytes = static_cast<const uint8_t*>(data->d_buf);
  Buffer& all = to[name];
  all.insert(all.end(), bytes, bytes + data->d_size);
}

SplitSections sections_of(int fd, bool (*is_wanted)(std::string_view name)) {
  SplitSections sections;
  elf_version(EV_CURRENT);
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  size_t names = 0;
  if (elf && elf_getshdrstrndx(elf, &names) == 0) {
    for (Elf_Scn* s = elf_nextscn(elf, nullptr); s; s = elf_nextscn(elf, s)) {
      GElf_Shdr header;
      const char* name =
          gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
      if (name && is_wanted(name)) add_section(s, name, sections);
    }
  }
  elf_end(elf);
  return sections;
}

Buffer object_with(const SplitSections& sections) {
  Buffer file(sizeof(Elf64_Ehdr)), names(1), headers(sizeof(Elf64_Shdr));
  auto add = [&](const std::string& name, const Buffer& bytes, uint32_t type) {
    Elf64_Shdr header = {};
    header.sh_name = uint32_t(names.size());
    header.sh_type = type;
    header.sh_addralign = 1;
    names.insert(names.end(), name.c_str(), name.c_str() + name.size() + 1);
    header.sh_offset = file.size();
    const Buffer& content = type == SHT_STRTAB ? names : bytes;
    header.sh_size = content.size();
    file.insert(file.end(), content.begin(), content.end());
    append(headers, header);
  };
  for (const auto& [name, bytes] : sections) add(name, bytes, SHT_PROGBITS);
  add(".shstrtab", {}, SHT_STRTAB);
  Elf64_Ehdr header = {};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = Elf64_Half(headers.size() / sizeof(Elf64_Shdr));
  header.e_shstrndx = Elf64_Half(header.e_shnum - 1);
  header.e_shoff = file.size();
  std::memcpy(file.data(), &header, sizeof header);
  file.insert(file.end(), headers.begin(), headers.end());
  return file;
}

int image_of(const ObjectFile& elf, bool (*is_wanted)(std::string_view name)) {
  uint64_t bytes = 0;  // sections that lie in each other would be more than the file
  for (const Section& s : elf.sections()) bytes += is_wanted(s.name) ? s.bytes.size() : 0;
  const int fd = bytes <= elf.all().size() ? elf.file().duplicate() : -1;
  if (fd < 0) return -1;
  const SplitSections sections = sections_of(fd, is_wanted);
  ::close(fd);
  return sections.empty() ? -1 : sealed_object(sections);
}

}  // namespace

bool needs_split_image(const ObjectFile& elf) {
  std::set<std::string_view> names;
  bool plain = false, is_hidden = false;
  for (const Section& s : elf.sections()) {
    plain |= s.name == ".debug_info" || s.name == ".zdebug_info";
    if (is_split(s.name)) {
      is_hidden |= !names.insert(s.name).second || (s.header.sh_flags & SHF_GROUP) != 0;
    }
  }
  return is_hidden || (plain && !names.empty());
}

int split_image(const ObjectFile& elf) { return image_of(elf, is_split); }

int unpacked_image(const ObjectFile& elf) { return image_of(elf, is_debug); }

int sealed_object(const SplitSections& sections) { return sealed_file(object_with(sections)); }

}  // namespace dj
