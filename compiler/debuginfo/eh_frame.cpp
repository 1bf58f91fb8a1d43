// SPDX-License-Identifier: Apache-2.0
// Decodes .eh_frame (LSB 10.6) and .gcc_except_table (the Itanium C++ ABI's LSDA) in one pass.
#include "compiler/debuginfo/eh_frame.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>

namespace dj {

namespace {

// Cursor: reads the file's bytes at an address; past the end it reads zeros and `failed` says so.
struct Cursor {
  Bytes bytes;
  uint64_t address = 0;  // of bytes[0]
  size_t at = 0;
  bool failed = false;

  uint64_t here() const { return address + at; }

  template <typename T>
  T word() {
    if (bytes.size() - at < sizeof(T)) {
      failed = true;
      return 0;
    }
    const T value = read_word<T>(bytes, at);
    at += sizeof(T);
    return value;
  }

  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; !failed; shift += 7) {
      const uint8_t byte = word<uint8_t>();
      if (shift < 64) {
        value |= uint64_t{byte & 0x7fu} << shift;
      }
      if (!(byte & 0x80)) {
        break;
      }
    }
    return value;
  }

  int64_t sleb() {
    int64_t value = 0;
    unsigned shift = 0;
    while (!failed) {
      const uint8_t byte = word<uint8_t>();
      if (shift < 64) {
        value |= int64_t(uint64_t{byte & 0x7fu} << shift);
      }
      shift += 7;
      if (!(byte & 0x80)) {
        return (byte & 0x40) && shift < 64 ? value - int64_t(1ull << shift) : value;
      }
    }
    return value;
  }

  void skip(uint64_t count) {
    if (count > bytes.size() - at) {
      failed = true;
    } else {
      at += count;
    }
  }

  // A pointer in a DW_EH_PE encoding; indirect ones are not followed.
  uint64_t pointer(uint8_t encoding) {
    if (encoding == DW_EH_PE_omit) {
      return 0;
    }
    const uint64_t base = (encoding & 0x70) == DW_EH_PE_pcrel ? here() : 0;
    uint64_t value = 0;
    switch (encoding & 0x0f) {
      case DW_EH_PE_absptr:
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        value = word<uint64_t>();
        break;
      case DW_EH_PE_udata4:
        value = word<uint32_t>();
        break;
      case DW_EH_PE_sdata4:
        value = uint64_t(int64_t{word<int32_t>()});
        break;
      case DW_EH_PE_udata2:
        value = word<uint16_t>();
        break;
      case DW_EH_PE_sdata2:
        value = uint64_t(int64_t{word<int16_t>()});
        break;
      case DW_EH_PE_uleb128:
        value = uleb();
        break;
      case DW_EH_PE_sleb128:
        value = uint64_t(sleb());
        break;
      default:
        failed = true;
    }
    return value == 0 ? 0 : value + base;
  }
};

// What an FDE takes from its CIE.
struct CieInfo {
  uint8_t pointer_encoding = DW_EH_PE_absptr;
  uint8_t lsda_encoding = DW_EH_PE_omit;
  bool augmented = false;
  bool signal_frame = false;
};

// `c` stands behind the CIE's id.
std::optional<CieInfo> read_cie(Cursor c) {
  CieInfo info;
  const uint8_t version = c.word<uint8_t>();
  std::string augmentation;
  while (char letter = char(c.word<uint8_t>())) {
    augmentation += letter;
  }
  c.uleb();  // code alignment
  c.sleb();  // data alignment
  if (version == 1) {
    c.word<uint8_t>();
  } else {
    c.uleb();
  }
  if (augmentation.empty() || augmentation[0] != 'z') {
    return augmentation.empty() && !c.failed ? std::optional(info) : std::nullopt;
  }
  info.augmented = true;
  c.uleb();  // augmentation's size
  for (char letter : augmentation.substr(1)) {
    if (letter == 'L') {
      info.lsda_encoding = c.word<uint8_t>();
    } else if (letter == 'R') {
      info.pointer_encoding = c.word<uint8_t>();
    } else if (letter == 'P') {
      const uint8_t encoding = c.word<uint8_t>();
      c.pointer(encoding);
    } else if (letter == 'S') {
      info.signal_frame = true;
    } else if (letter != 'B') {
      return std::nullopt;
    }
  }
  return c.failed ? std::nullopt : std::optional(info);
}

// No CFA of its own before the first step forward: the rules are still the CIE's.
bool keeps_cfa(Cursor c, size_t end) {
  if (c.failed || c.at >= end) {
    return !c.failed;
  }
  switch (c.word<uint8_t>()) {
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_expression:
      return false;
    default:
      return true;
  }
}

// Begins with DW_CFA_def_cfa: rsp + 8. For functions the CIE has said so.
bool repeats_cfa(Cursor c, size_t end) {
  constexpr uint64_t kRsp = 7, kReturnAddress = 8;
  return c.at < end && c.word<uint8_t>() == DW_CFA_def_cfa && c.uleb() == kRsp &&
         c.uleb() == kReturnAddress && !c.failed;
}

// `c` stands behind the FDE's CIE pointer; the FDE ends at offset `end`.
std::optional<FrameEntry> read_fde(Cursor c, size_t end, const CieInfo& cie) {
  FrameEntry entry;
  entry.begin = c.pointer(cie.pointer_encoding);
  entry.end = entry.begin + c.pointer(cie.pointer_encoding & 0x0f);
  if (cie.augmented) {
    const uint64_t size = c.uleb();
    const size_t body = c.at;
    entry.lsda = c.pointer(cie.lsda_encoding);
    c.at = std::min<uint64_t>(body + size, c.bytes.size());
  }
  entry.begins_called = !cie.signal_frame && keeps_cfa(c, end);
  entry.repeats_cfa = repeats_cfa(c, end);
  const bool good = !c.failed && entry.begin != 0 && entry.end > entry.begin;
  return good ? std::optional(entry) : std::nullopt;
}

// CIEs by their offset in the section.
using Cies = std::map<size_t, std::optional<CieInfo>>;

// Reads the entry that `c` stands at and goes behind it. False: the section has no more. `frame`:
// empty if it is a CIE, or cannot be read.
bool read_entry(Cursor& c, Cies& cies, std::optional<FrameEntry>& frame) {
  constexpr size_t kLeast = 8;  // bytes of an entry
  constexpr uint32_t kLong = 0xffffffff;
  frame.reset();
  if (c.failed || c.bytes.size() - c.at < kLeast) return false;
  uint64_t length = c.word<uint32_t>();
  if (length == kLong) length = c.word<uint64_t>();
  const size_t body = c.at;
  if (length == 0 || length > c.bytes.size() - body) return false;
  const uint32_t id = c.word<uint32_t>();
  if (id != 0) {
    const size_t cie_at = body - id;
    auto found = cies.find(cie_at);
    if (found == cies.end() && cie_at < body) {
      Cursor cie{c.bytes, c.address, cie_at};
      if (cie.word<uint32_t>() == kLong) cie.word<uint64_t>();
      cie.word<uint32_t>();
      found = cies.emplace(cie_at, read_cie(cie)).first;
    }
    if (found != cies.end() && found->second) frame = read_fde(c, body + length, *found->second);
  }
  c.at = body + length;
  return true;
}

// .eh_frame_hdr's table in the form that all linkers write: pairs of signed 32-bit distances from
// the section's begin, sorted.
struct Index {
  uint64_t base = 0;
  std::span<const std::array<int32_t, 2>> rows;  // where code begins, and where its entry is
};

std::optional<Index> read_index(const ObjectFile& elf) {
  constexpr uint8_t kVersion = 1, kRows = DW_EH_PE_datarel | DW_EH_PE_sdata4;
  const Section* section = elf.section(".eh_frame_hdr");
  if (!section) return std::nullopt;
  Cursor c{section->bytes, section->header.sh_addr};
  const uint8_t version = c.word<uint8_t>(), frame_encoding = c.word<uint8_t>();
  const uint8_t count_encoding = c.word<uint8_t>(), row_encoding = c.word<uint8_t>();
  c.pointer(frame_encoding);
  const uint64_t count = c.pointer(count_encoding);
  using Row = std::array<int32_t, 2>;
  if (c.failed || version != kVersion || row_encoding != kRows ||
      count > (c.bytes.size() - c.at) / sizeof(Row))
    return std::nullopt;
  return Index{section->header.sh_addr, {reinterpret_cast<const Row*>(&c.bytes[c.at]), count}};
}

}  // namespace

std::vector<FrameEntry> read_frames(const ObjectFile& elf) {
  std::vector<FrameEntry> entries;
  const Section* section = elf.section(".eh_frame");
  if (!section) return entries;
  Cies cies;
  Cursor c{section->bytes, section->header.sh_addr};
  for (std::optional<FrameEntry> entry; read_entry(c, cies, entry);) {
    if (entry) entries.push_back(*entry);
  }
  return entries;
}

std::optional<FrameEntry> frame_from(const ObjectFile& elf, uint64_t begin) {
  const Section* section = elf.section(".eh_frame");
  const std::optional<Index> index = read_index(elf);
  if (!section) return std::nullopt;
  if (!index) {
    const std::vector<FrameEntry> all = read_frames(elf);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.begin == begin; });
    return found != all.end() ? std::optional(*found) : std::nullopt;
  }
  const auto row =
      std::lower_bound(index->rows.begin(), index->rows.end(), int64_t(begin - index->base),
                       [](const auto& candidate, int64_t wanted) { return candidate[0] < wanted; });
  if (row == index->rows.end()) return std::nullopt;
  const uint64_t offset = index->base + uint64_t(int64_t{(*row)[1]}) - section->header.sh_addr;
  if (offset >= section->bytes.size()) return std::nullopt;
  Cies cies;
  std::optional<FrameEntry> entry;
  Cursor c{section->bytes, section->header.sh_addr, size_t(offset)};
  read_entry(c, cies, entry);
  return entry && entry->begin == begin ? entry : std::nullopt;
}

namespace {

bool is_before(const FrameEntry& a, const FrameEntry& b) { return a.begin < b.begin; }

}  // namespace

FrameSearch::FrameSearch(const ObjectFile& elf, size_t questions)
    : elf_(elf), is_few_(questions <= 64) {
  if (is_few_) return;
  all_ = read_frames(elf);
  std::stable_sort(all_.begin(), all_.end(), is_before);
}

std::optional<FrameEntry> FrameSearch::from(uint64_t begin) const {
  if (is_few_) return frame_from(elf_, begin);
  const auto found =
      std::lower_bound(all_.begin(), all_.end(), FrameEntry{.begin = begin}, is_before);
  return found != all_.end() && found->begin == begin ? std::optional(*found) : std::nullopt;
}

void add_landing_pads(const ObjectFile& elf, const FrameEntry& entry, size_t& calls,
                      std::vector<uint64_t>& pads) {
  if (entry.lsda == 0) {
    return;
  }
  Cursor c{elf.at(entry.lsda), entry.lsda};
  uint64_t base = entry.begin;
  const uint8_t base_encoding = c.word<uint8_t>();
  if (base_encoding != DW_EH_PE_omit) {
    base = c.pointer(base_encoding);
  }
  if (c.word<uint8_t>() != DW_EH_PE_omit) {
    c.uleb();  // where the type table ends
  }
  const uint8_t encoding = c.word<uint8_t>() & 0x0f;
  const uint64_t size = c.uleb();
  const size_t end = c.at + size;
  uint64_t next = 0;  // the calls are in order
  for (; !c.failed && calls > 0 && c.at < end && end <= c.bytes.size(); calls--) {
    const uint64_t begin = c.pointer(encoding);
    const uint64_t length = c.pointer(encoding);
    const uint64_t pad = c.pointer(encoding);
    c.uleb();  // action
    if (begin < next || length > entry.end - entry.begin - begin) {
      return;  // of tables that share their end the next one has begun
    }
    next = begin + length;
    if (pad != 0 && !c.failed) {
      pads.push_back(base + pad);
    }
  }
}

}  // namespace dj
