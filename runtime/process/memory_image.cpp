// SPDX-License-Identifier: Apache-2.0
// The segments' bytes where the file has them. The file has no section headers: the compiler makes
// sections of the segments (segment_sections.h).
#include "runtime/process/memory_image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "compiler/base/page.h"

namespace dj {
namespace {

constexpr int64_t kRelr = 36, kRelrBytes = 35;     // DT_RELR, DT_RELRSZ
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // what is larger is not believed

template <typename Record>
Record record_at(const std::vector<uint8_t>& bytes, uint64_t offset) {
  Record record = {};
  if (offset <= bytes.size() && bytes.size() - offset >= sizeof record) {
    memcpy(&record, &bytes[offset], sizeof record);
  }
  return record;
}

// RebuiltFile: the file under construction. Addresses are the file's.
class RebuiltFile {
 public:
  RebuiltFile(const RunningMemory& memory, uint64_t begin) : memory_(memory), begin_(begin) {}
  bool read_segments();
  void read_dynamic();
  void undo_packed();
  void drop_sections();
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  uint64_t offset_of(uint64_t address) const;  // in the file; the file's size: nowhere
  template <typename Visit>
  void each_packed(Visit visit) const;  // addresses of words
  uint64_t dynamic(int64_t tag) const {
    const auto found = dynamic_.find(tag);
    return found == dynamic_.end() ? 0 : found->second;
  }

  const RunningMemory& memory_;
  uint64_t begin_, bias_ = 0, end_ = 0;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::map<int64_t, uint64_t> dynamic_;
  std::vector<uint8_t> bytes_;
};

bool RebuiltFile::read_segments() {
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
void RebuiltFile::read_dynamic() {
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
void RebuiltFile::each_packed(Visit visit) const {
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
void RebuiltFile::undo_packed() {
  each_packed([&](uint64_t address) {
    const uint64_t offset = offset_of(address);
    if (bytes_.size() - offset < sizeof(uint64_t)) return;
    uint64_t value = record_at<uint64_t>(bytes_, offset);
    if (value - bias_ >= end_) return;  // the program has written something else there
    value -= bias_;
    memcpy(&bytes_[offset], &value, sizeof value);
  });
}

uint64_t RebuiltFile::offset_of(uint64_t address) const {
  for (const Elf64_Phdr& s : segments_) {
    if (s.p_type == PT_LOAD && address - s.p_vaddr < s.p_filesz) {
      return address - s.p_vaddr + s.p_offset;
    }
  }
  return bytes_.size();
}

// Where the file had them, other bytes are mapped.
void RebuiltFile::drop_sections() {
  header_.e_shoff = 0;
  header_.e_shnum = 0;
  header_.e_shstrndx = SHN_UNDEF;
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
  RebuiltFile image(memory, first.begin);
  if (!image.read_segments()) return std::nullopt;
  image.read_dynamic();
  image.undo_packed();
  image.drop_sections();
  return image.take();
}

}  // namespace dj
