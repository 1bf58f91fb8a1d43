// SPDX-License-Identifier: Apache-2.0
// Names and types are those of linkers, so that readers find what they know.
#include "compiler/debuginfo/segment_sections.h"

#include <algorithm>
#include <map>

#include "compiler/debuginfo/plt.h"

namespace dj {
namespace {

constexpr int64_t kRelr = 36, kRelrBytes = 35;  // DT_RELR, DT_RELRSZ
constexpr uint32_t kRelrSection = 19;           // SHT_RELR

// SectionMaker: the list under construction.
class SectionMaker {
 public:
  explicit SectionMaker(const ObjectFile& elf) : elf_(elf) { read_dynamic(); }
  std::vector<Section> make();

 private:
  void read_dynamic();
  uint64_t dynamic(int64_t tag) const {
    const auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? 0 : found->second;
  }
  uint64_t symbol_count() const;
  struct Place {
    uint64_t address, size;
  };
  uint32_t add(std::string_view name, uint32_t type, uint64_t flags, Place place, uint32_t link = 0,
               uint64_t entry = 0);
  void add_relocations(std::string_view name, uint64_t address, uint64_t size);
  void add_symbols();
  void add_frames();
  void add_stubs(const Elf64_Phdr& code);
  void add_segment(const Elf64_Phdr& segment);

  const ObjectFile& elf_;
  std::map<int64_t, uint64_t> dynamic_;
  std::vector<Section> sections_ = {{}};
  uint32_t symbols_ = 0;         // where they are in the list
  std::vector<uint64_t> slots_;  // words that the loader fills for stubs; sorted
};

void SectionMaker::read_dynamic() {
  for (const Elf64_Phdr& s : elf_.segments()) {
    if (s.p_type != PT_DYNAMIC) continue;
    const Bytes bytes = elf_.at(s.p_vaddr);
    for (const Elf64_Dyn& d : records<Elf64_Dyn>(bytes.first(std::min(bytes.size(), s.p_filesz)))) {
      if (d.d_tag == DT_NULL) break;
      dynamic_[d.d_tag] = d.d_un.d_val;
    }
  }
}

// From the hash tables; without one, up to the strings, which linkers write behind the symbols.
uint64_t SectionMaker::symbol_count() const {
  if (dynamic_.contains(DT_HASH)) return read_word<uint32_t>(elf_.at(dynamic(DT_HASH)), 4);
  if (!dynamic_.contains(DT_GNU_HASH)) {
    const uint64_t bytes = dynamic(DT_STRTAB) - dynamic(DT_SYMTAB);
    return dynamic(DT_STRTAB) > dynamic(DT_SYMTAB) ? bytes / sizeof(Elf64_Sym) : 0;
  }
  const Bytes table = elf_.at(dynamic(DT_GNU_HASH));
  const auto word = [&](uint64_t index) { return read_word<uint32_t>(table, index * 4); };
  const uint64_t buckets = word(0), first = word(1), bloom = word(2);
  const uint64_t buckets_at = 4 + 2 * bloom, chains_at = buckets_at + buckets;
  uint64_t last = 0;
  for (uint64_t i = 0; i < buckets && buckets < table.size(); i++) {
    last = std::max<uint64_t>(last, word(buckets_at + i));
  }
  if (last < first) return first;
  while (last < table.size() && (word(chains_at + last - first) & 1) == 0) last++;
  return last + 1;
}

uint32_t SectionMaker::add(std::string_view name, uint32_t type, uint64_t flags, Place place,
                           uint32_t link, uint64_t entry) {
  const auto [address, size] = place;
  const Bytes bytes = elf_.at(address);
  if (size == 0 || bytes.empty()) return 0;
  Section section{name, {}, bytes.first(std::min<uint64_t>(size, bytes.size()))};
  section.header.sh_type = type;
  section.header.sh_flags = flags;
  section.header.sh_addr = address;
  section.header.sh_offset = uint64_t(bytes.data() - elf_.all().data());
  section.header.sh_size = section.bytes.size();
  section.header.sh_link = link;
  section.header.sh_addralign = 1;
  section.header.sh_entsize = entry;
  sections_.push_back(section);
  return static_cast<uint32_t>(sections_.size() - 1);
}

void SectionMaker::add_relocations(std::string_view name, uint64_t address, uint64_t size) {
  const uint32_t index =
      add(name, SHT_RELA, SHF_ALLOC, {address, size}, symbols_, sizeof(Elf64_Rela));
  for (const Elf64_Rela& r : records<Elf64_Rela>(sections_[index].bytes)) {
    if (is_stub_relocation(r)) slots_.push_back(r.r_offset);
  }
}

void SectionMaker::add_symbols() {
  if (dynamic(DT_SYMTAB) == 0 || dynamic(DT_STRTAB) == 0) return;
  const uint64_t count = symbol_count();
  const uint32_t strings =
      add(".dynstr", SHT_STRTAB, SHF_ALLOC, {dynamic(DT_STRTAB), dynamic(DT_STRSZ)});
  symbols_ = add(".dynsym", SHT_DYNSYM, SHF_ALLOC, {dynamic(DT_SYMTAB), count * sizeof(Elf64_Sym)},
                 strings, sizeof(Elf64_Sym));
  add(".gnu.version", SHT_GNU_versym, SHF_ALLOC, {dynamic(DT_VERSYM), count * sizeof(Elf64_Half)},
      symbols_, sizeof(Elf64_Half));
  add(".gnu.version_d", SHT_GNU_verdef, SHF_ALLOC,
      {dynamic(DT_VERDEF), dynamic(DT_VERDEF) != 0 ? UINT64_MAX : 0}, strings);
  add_relocations(".rela.dyn", dynamic(DT_RELA), dynamic(DT_RELASZ));
  add(".relr.dyn", kRelrSection, SHF_ALLOC, {dynamic(kRelr), dynamic(kRelrBytes)}, 0,
      sizeof(uint64_t));
  add_relocations(".rela.plt", dynamic(DT_JMPREL), dynamic(DT_PLTRELSZ));
  std::sort(slots_.begin(), slots_.end());
}

// Bytes of .eh_frame: up to the entry of length 0, with it. Long entries (of 4 GB) are not
// believed.
uint64_t frames_size(Bytes frames) {
  uint64_t at = 0;
  while (at + sizeof(uint32_t) <= frames.size()) {
    const uint64_t length = read_word<uint32_t>(frames, at);
    at += sizeof(uint32_t) + length;
    if (length == 0) break;
  }
  return at;
}

// .eh_frame begins where its table of addresses says, and ends by itself.
void SectionMaker::add_frames() {
  constexpr uint8_t kPcRelative = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  for (const Elf64_Phdr& s : elf_.segments()) {
    if (s.p_type != PT_GNU_EH_FRAME) continue;
    const Bytes table = elf_.at(s.p_vaddr);
    add(".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, {s.p_vaddr, s.p_filesz});
    if (read_word<uint8_t>(table, 1) != kPcRelative) continue;
    const uint64_t frames = s.p_vaddr + 4 + uint64_t(int64_t{read_word<int32_t>(table, 4)});
    add(".eh_frame", SHT_PROGBITS, SHF_ALLOC, {frames, frames_size(elf_.at(frames))});
  }
}

// Runs of stubs; each has 16 bytes and begins at a multiple of 16.
void SectionMaker::add_stubs(const Elf64_Phdr& code) {
  constexpr uint64_t kStub = 16;
  const Bytes bytes = elf_.at(code.p_vaddr);
  uint64_t begin = 0, at = -code.p_vaddr % kStub;
  for (; at + kStub <= bytes.size(); at += kStub) {
    const uint64_t address = code.p_vaddr + at;
    const uint64_t slot = slot_of_stub(bytes.subspan(at, kStub), address);
    const bool is_stub = slot != 0 && std::binary_search(slots_.begin(), slots_.end(), slot);
    if (is_stub && begin == 0) begin = address;
    if (!is_stub && begin != 0) {
      add(".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {begin, address - begin}, 0, kStub);
      begin = 0;
    }
  }
}

// What the file's sections would say of these bytes.
void SectionMaker::add_segment(const Elf64_Phdr& s) {
  if ((s.p_flags & PF_X) != 0) {
    add_stubs(s);
    add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {s.p_vaddr, s.p_filesz});
  } else if ((s.p_flags & PF_W) != 0) {
    add(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, {s.p_vaddr, s.p_filesz});
  } else {
    add(".rodata", SHT_PROGBITS, SHF_ALLOC, {s.p_vaddr, s.p_filesz});
  }
}

std::vector<Section> SectionMaker::make() {
  add_symbols();
  add_frames();
  for (const Elf64_Phdr& s : elf_.segments()) {
    if (s.p_type == PT_NOTE) add(".note", SHT_NOTE, SHF_ALLOC, {s.p_vaddr, s.p_filesz});
    if (s.p_type == PT_LOAD && s.p_filesz > 0) add_segment(s);
  }
  return std::move(sections_);
}

}  // namespace

std::vector<Section> sections_of_segments(const ObjectFile& elf) {
  return elf.segments().empty() ? std::vector<Section>{} : SectionMaker(elf).make();
}

}  // namespace dj
