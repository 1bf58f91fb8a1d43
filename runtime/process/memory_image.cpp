// The segments' bytes where the file has them, and behind them section headers made of what the
// dynamic section and the program headers tell.
#include "runtime/process/memory_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int64_t kRelr = 36, kRelrBytes = 35;     // DT_RELR, DT_RELRSZ
constexpr uint32_t kRelrSection = 19;              // SHT_RELR
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // what is larger is not believed

template <typename Record>
Record record_at(const std::vector<uint8_t>& bytes, uint64_t offset) {
  Record record = {};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof record) {
    memcpy(&record, &bytes[offset], sizeof record);
  }
  return record;
}

// Image: the file under construction. Addresses are the file's.
class Image {
 public:
  Image(const RunningMemory& memory, uint64_t begin) : memory_(memory), begin_(begin) {}
  bool read_segments();
  void read_dynamic();
  void undo_packed();
  void add_sections();
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  uint64_t offset_of(uint64_t address) const;  // in the file; the file's size: nowhere
  uint64_t symbol_count() const;
  template <typename Visit>
  void each_packed(Visit visit) const;  // addresses of words
  uint32_t add(const char* name, uint32_t type, uint64_t flags, uint64_t address, uint64_t size,
               uint32_t link = 0, uint64_t entry = 0);
  void add_symbols();
  void add_frames();
  uint64_t frames_size(uint64_t begin) const;  // of .eh_frame at that offset
  void add_build_id(const Elf64_Phdr& notes);
  void add_segment(const Elf64_Phdr& segment);
  void write_headers();
  uint64_t dynamic(int64_t tag) const {
    const auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? 0 : found->second;
  }

  const RunningMemory& memory_;
  uint64_t begin_, bias_ = 0, end_ = 0;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::map<int64_t, uint64_t> dynamic_;
  std::vector<Elf64_Shdr> sections_ = {{}};
  std::string names_ = std::string(1, '\0');
  std::vector<uint8_t> bytes_;
};

bool Image::read_segments() {
  if (!memory_.read(begin_, &header_, sizeof header_) || header_.e_machine != EM_X86_64 ||
      header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_phentsize != sizeof(Elf64_Phdr)) {
    return false;
  }
  segments_.resize(header_.e_phnum);
  if (header_.e_phoff + segments_.size() * sizeof(Elf64_Phdr) > kPage ||
      !memory_.read(begin_ + header_.e_phoff, segments_.data(),
                    segments_.size() * sizeof(Elf64_Phdr))) {
    return false;
  }
  uint64_t bytes = 0;
  bool has_first = false;
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type != PT_LOAD) continue;
    if (s.p_filesz > kMaxBytes || s.p_offset > kMaxBytes) return false;
    bytes = std::max(bytes, s.p_offset + s.p_filesz);
    end_ = std::max(end_, s.p_vaddr + s.p_memsz);
    if (s.p_offset < kPage && !has_first) {
      bias_ = begin_ - (s.p_vaddr - s.p_offset);
      has_first = true;
    }
  }
  const auto ends_in_memory = [&](const Elf64_Phdr& s) {
    uint8_t last;
    return s.p_type != PT_LOAD || s.p_filesz == 0 ||
           memory_.read(bias_ + s.p_vaddr + s.p_filesz - 1, &last, 1);
  };
  if (!has_first || !std::all_of(segments_.begin(), segments_.end(), ends_in_memory)) return false;
  bytes_.resize(bytes);
  return std::all_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& s) {
    return s.p_type != PT_LOAD || s.p_filesz == 0 ||
           memory_.read(bias_ + s.p_vaddr, &bytes_[s.p_offset], s.p_filesz);
  });
}

// The loader makes addresses of what the file has relative to its begin; here that is undone. A
// program without such a section has no symbols in its memory.
void Image::read_dynamic() {
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= s.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry = record_at<Elf64_Dyn>(bytes_, s.p_offset + at);
      if (entry.d_tag == DT_NULL) break;
      const bool moved = bias_ != 0 && entry.d_un.d_ptr >= bias_ && entry.d_un.d_ptr < bias_ + end_;
      if (moved) {
        entry.d_un.d_ptr -= bias_;
        memcpy(&bytes_[s.p_offset + at], &entry, sizeof entry);
      }
      dynamic_[entry.d_tag] = entry.d_un.d_val;
    }
  }
}

// Packed relocations: where they are, the file has an address relative to its begin.
template <typename Visit>
void Image::each_packed(Visit visit) const {
  const uint64_t table = offset_of(dynamic(kRelr));
  const uint64_t bytes = std::min<uint64_t>(dynamic(kRelrBytes), bytes_.size() - table);
  uint64_t place = 0;
  for (uint64_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    const uint64_t entry = record_at<uint64_t>(bytes_, table + at);
    if ((entry & 1) == 0) {
      visit(entry);
      place = entry + sizeof(uint64_t);
      continue;
    }
    for (uint64_t bit = 0; bit < 63; bit++) {
      if ((entry >> (bit + 1) & 1) != 0) visit(place + bit * sizeof(uint64_t));
    }
    place += 63 * sizeof(uint64_t);
  }
}

// Nothing else keeps what was there.
void Image::undo_packed() {
  each_packed([&](uint64_t address) {
    const uint64_t offset = offset_of(address);
    if (bytes_.size() - offset < sizeof(uint64_t)) return;
    uint64_t value = record_at<uint64_t>(bytes_, offset);
    if (value - bias_ >= end_) return;  // the program has written something else there
    value -= bias_;
    memcpy(&bytes_[offset], &value, sizeof value);
  });
}

uint64_t Image::offset_of(uint64_t address) const {
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type == PT_LOAD && address - s.p_vaddr < s.p_filesz) {
      return address - s.p_vaddr + s.p_offset;
    }
  }
  return bytes_.size();
}

// From the hash tables, as nothing else says it.
uint64_t Image::symbol_count() const {
  if (dynamic_.contains(DT_HASH)) {
    return record_at<uint32_t>(bytes_, offset_of(dynamic(DT_HASH)) + 4);
  }
  const uint64_t table = offset_of(dynamic(DT_GNU_HASH));
  const auto word = [&](uint64_t index) {
    return record_at<uint32_t>(bytes_, table + index * sizeof(uint32_t));
  };
  const uint64_t buckets = word(0), first = word(1), bloom = word(2);
  const uint64_t buckets_at = 4 + 2 * bloom, chains_at = buckets_at + buckets;
  uint64_t last = 0;
  for (uint64_t i = 0; i < buckets && buckets < bytes_.size(); i++) {
    last = std::max<uint64_t>(last, word(buckets_at + i));
  }
  if (last < first) return first;
  while (last < bytes_.size() && (word(chains_at + last - first) & 1) == 0) last++;
  return last + 1;
}

uint32_t Image::add(const char* name, uint32_t type, uint64_t flags, uint64_t address,
                    uint64_t size, uint32_t link, uint64_t entry) {
  Elf64_Shdr section = {};
  section.sh_name = static_cast<uint32_t>(names_.size());
  section.sh_type = type;
  section.sh_flags = flags;
  section.sh_addr = address;
  section.sh_offset = offset_of(address);
  section.sh_size = std::min<uint64_t>(size, bytes_.size() - section.sh_offset);
  section.sh_link = link;
  section.sh_addralign = 1;
  section.sh_entsize = entry;
  names_ += name;
  names_ += '\0';
  sections_.push_back(section);
  return static_cast<uint32_t>(sections_.size() - 1);
}

void Image::add_symbols() {
  if (dynamic(DT_SYMTAB) == 0 || dynamic(DT_STRTAB) == 0) return;
  const uint32_t strings =
      add(".dynstr", SHT_STRTAB, SHF_ALLOC, dynamic(DT_STRTAB), dynamic(DT_STRSZ));
  const uint32_t symbols = add(".dynsym", SHT_DYNSYM, SHF_ALLOC, dynamic(DT_SYMTAB),
                               symbol_count() * sizeof(Elf64_Sym), strings, sizeof(Elf64_Sym));
  add(".rela.dyn", SHT_RELA, SHF_ALLOC, dynamic(DT_RELA), dynamic(DT_RELASZ), symbols,
      sizeof(Elf64_Rela));
  add(".relr.dyn", kRelrSection, SHF_ALLOC, dynamic(kRelr), dynamic(kRelrBytes), 0,
      sizeof(uint64_t));
  add(".rela.plt", SHT_RELA, SHF_ALLOC, dynamic(DT_JMPREL), dynamic(DT_PLTRELSZ), symbols,
      sizeof(Elf64_Rela));
}

// Up to the entry of length 0, with it. Long entries (of 4 GB) are not believed.
uint64_t Image::frames_size(uint64_t begin) const {
  uint64_t at = begin;
  while (at + sizeof(uint32_t) <= bytes_.size()) {
    const uint64_t length = record_at<uint32_t>(bytes_, at);
    at += sizeof(uint32_t) + length;
    if (length == 0) break;
  }
  return at - begin;
}

// .eh_frame begins where its table of addresses says, and ends by itself.
void Image::add_frames() {
  constexpr uint8_t kPcRelative = 0x1b;  // DW_EH_PE_pcrel | DW_EH_PE_sdata4
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type != PT_GNU_EH_FRAME) continue;
    add(".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, s.p_vaddr, s.p_filesz);
    if (record_at<uint8_t>(bytes_, s.p_offset + 1) != kPcRelative) continue;
    const uint64_t frames =
        s.p_vaddr + 4 + static_cast<uint64_t>(int64_t{record_at<int32_t>(bytes_, s.p_offset + 4)});
    for (const Elf64_Phdr& load : segments_) {
      const uint64_t into = frames - load.p_vaddr;
      if (load.p_type == PT_LOAD && into < load.p_filesz)
        add(".eh_frame", SHT_PROGBITS, SHF_ALLOC, frames, frames_size(load.p_offset + into));
    }
  }
}

void Image::add_build_id(const Elf64_Phdr& notes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) < notes.p_filesz;) {
    const Elf64_Nhdr note = record_at<Elf64_Nhdr>(bytes_, notes.p_offset + at);
    const uint64_t size = sizeof note + ((uint64_t{note.n_namesz} + 3) & ~uint64_t{3}) +
                          ((uint64_t{note.n_descsz} + 3) & ~uint64_t{3});
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4)
      add(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, notes.p_vaddr + at, size);
    at += size;
  }
}

// What the file's sections would say of these bytes.
void Image::add_segment(const Elf64_Phdr& s) {
  if ((s.p_flags & PF_X) != 0) {
    add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, s.p_vaddr, s.p_filesz);
  } else if ((s.p_flags & PF_W) != 0) {
    add(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, s.p_vaddr, s.p_filesz);
  } else {
    add(".rodata", SHT_PROGBITS, SHF_ALLOC, s.p_vaddr, s.p_filesz);
  }
}

void Image::add_sections() {
  add_symbols();
  add_frames();
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type == PT_NOTE) add_build_id(s);
    if (s.p_type == PT_LOAD && s.p_filesz > 0) add_segment(s);
  }
  write_headers();
}

void Image::write_headers() {
  const uint32_t index = add(".shstrtab", SHT_STRTAB, 0, 0, 0);
  sections_[index].sh_offset = bytes_.size();
  sections_[index].sh_size = names_.size();
  bytes_.insert(bytes_.end(), names_.begin(), names_.end());
  bytes_.resize((bytes_.size() + 7) & ~size_t{7});
  header_.e_shoff = bytes_.size();
  header_.e_shentsize = sizeof(Elf64_Shdr);
  header_.e_shnum = static_cast<uint16_t>(sections_.size());
  header_.e_shstrndx = static_cast<uint16_t>(index);
  const uint8_t* headers = reinterpret_cast<const uint8_t*>(sections_.data());
  bytes_.insert(bytes_.end(), headers, headers + sections_.size() * sizeof(Elf64_Shdr));
  memcpy(bytes_.data(), &header_, sizeof header_);
}

}  // namespace

const Mapping* first_page(const RunningMemory& memory, const std::vector<Mapping>& maps,
                          const Mapping& m) {
  const Mapping* first = nullptr;
  for (const Mapping& other : maps) {
    if (other.begin > m.begin) break;
    const bool same = other.inode == m.inode && other.device == m.device && other.path == m.path;
    if (same && other.offset == 0) first = &other;
  }
  char magic[SELFMAG] = {};
  const bool is_elf = first != nullptr && memory.read(first->begin, magic, sizeof magic) &&
                      memcmp(magic, ELFMAG, SELFMAG) == 0;
  return is_elf ? first : nullptr;
}

std::optional<std::vector<uint8_t>> memory_image(const RunningMemory& memory,
                                                 const Mapping& first) {
  Image image(memory, first.begin);
  if (!image.read_segments()) return std::nullopt;
  image.read_dynamic();
  image.undo_packed();
  image.add_sections();
  return image.take();
}

}  // namespace dj
