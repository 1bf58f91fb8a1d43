// SPDX-License-Identifier: Apache-2.0
// Writes the ELF file and its .debug_frame (DWARF 5, section 6.4): addresses there are absolute, so
// that neither is loaded at a place of its own.
#include "runtime/memory/debug_object.h"

#include <elf.h>

#include <cstring>
#include <string>

namespace dj {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T>
void put(Bytes& to, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}
void put_uleb(Bytes& to, uint64_t value) {
  for (; value >= 128; value >>= 7) to.push_back(uint8_t(value | 128));
  to.push_back(uint8_t(value));
}

constexpr uint8_t kRax = 0, kRsp = 7, kR11 = 11, kReturn = 16;
constexpr uint8_t kAdvance = 0x40, kOffset = 0x80, kAdvance1 = 0x02, kSameValue = 0x08,
                  kDefCfa = 0x0c, kDefCfaOffset = 0x0e, kValExpression = 0x16, kAddress = 0x03;
constexpr uint32_t kCommon = ~0u;  // instead of the offset of what an entry has in common

// One entry of .debug_frame: begun with its length open, ended when that is known.
size_t begin_entry(Bytes& to) {
  put(to, uint32_t{0});
  return to.size();
}
void end_entry(Bytes& to, size_t begin) {
  while (to.size() % 8 != 0) to.push_back(0);  // DW_CFA_nop
  const auto length = static_cast<uint32_t>(to.size() - begin);
  memcpy(&to[begin - sizeof length], &length, sizeof length);
}

// What the descriptions of all detours have in common: the program's stack pointer is the CFA.
void put_common(Bytes& to) {
  const size_t begin = begin_entry(to);
  put(to, kCommon);
  // Version 1, no augmentation; code in units of 1, data of -8; the return address's column.
  for (uint8_t byte : {1, 0, 1, 0x78, int{kReturn}, int{kDefCfa}, int{kRsp}, 0}) to.push_back(byte);
  end_entry(to, begin);
}

// DetourRows: the rows of one detour's description, of which only what changes is written.
class DetourRows {
 public:
  DetourRows(Bytes& to, uint64_t begin) : to_(to), at_(begin) {}
  void add(uint64_t pc, const abi::DetourPlace& place) {
    if (place.original == last_.original && place.depth == last_.depth &&
        place.r11_at == last_.r11_at && place.rax_at == last_.rax_at) {
      return;
    }
    advance(pc);
    if (place.depth != last_.depth) to_.push_back(kDefCfaOffset), put_uleb(to_, place.depth);
    if (place.original != last_.original) put_caller(place.original);
    put_saved(kR11, last_.r11_at, place.r11_at);
    put_saved(kRax, last_.rax_at, place.rax_at);
    last_ = place;
  }

 private:
  void advance(uint64_t pc) {
    for (; pc - at_ > 255; at_ += 255) to_.insert(to_.end(), {kAdvance1, 255});
    if (pc - at_ >= 64) {
      to_.insert(to_.end(), {kAdvance1, uint8_t(pc - at_)});
    } else if (pc != at_) {
      to_.push_back(uint8_t(kAdvance | (pc - at_)));
    }
    at_ = pc;
  }
  // Debuggers look a caller up at the byte before its address, where its call must be.
  void put_caller(uint64_t original) {
    to_.insert(to_.end(), {kValExpression, kReturn, 1 + sizeof original, kAddress});
    put(to_, original + 1);
  }
  void put_saved(uint8_t column, uint32_t before, uint32_t now) {
    if (now == before) return;
    if (now == 0) {
      to_.insert(to_.end(), {kSameValue, column});
    } else {
      to_.push_back(kOffset | column), put_uleb(to_, now / 8);
    }
  }
  Bytes& to_;
  uint64_t at_;
  abi::DetourPlace last_;
};

const uint8_t* behind_leb(const uint8_t* at) {
  while (*at++ >= 128) continue;
  return at;
}

// The byte of a compiler's common entry that says how addresses are written; null: the entry is
// another one than clang writes for code without exceptions.
const uint8_t* form_of_addresses(const uint8_t* entry) {
  constexpr char kBegin[] = "\1zR";  // version, augmentation
  const uint8_t* at = entry + 8;     // length, 0
  if (memcmp(at, kBegin, sizeof kBegin) != 0) return nullptr;
  at = behind_leb(behind_leb(behind_leb(at + sizeof kBegin)));  // units; return address
  return *at == 1 ? at + 1 : nullptr;                           // one byte of augmentation
}

}  // namespace

DebugObject::DebugObject() { put_common(frames_); }

// The agent's and the handlers': the same in this form, with addresses of eight bytes.
void DebugObject::add_compiled(uint64_t to_target, const abi::FrameHeader& frames) {
  if (frames.version == 0) return;
  const auto* at = reinterpret_cast<const uint8_t*>(&frames.frames) + frames.frames;
  size_t common = 0;  // where it begins in frames_; 0: it cannot be used
  uint32_t length = 0;
  for (; memcpy(&length, at, sizeof length), length != 0; at += length + sizeof length) {
    int32_t words[4];
    memcpy(words, at, sizeof words);  // length, way back to the common entry, address, bytes
    const uint8_t* const end = at + sizeof length + length;
    if (words[1] == 0) {
      const uint8_t* const form = form_of_addresses(at);
      common = 0;
      if (form == nullptr) continue;
      common = frames_.size();
      const size_t begin = begin_entry(frames_);
      put(frames_, kCommon);
      frames_.insert(frames_.end(), at + 8, end);
      constexpr uint8_t kAbsolute = 0;
      frames_[begin + static_cast<size_t>(form - at) - sizeof length] = kAbsolute;
      end_entry(frames_, begin);
    } else if (common != 0) {
      const size_t begin = begin_entry(frames_);
      put(frames_, static_cast<uint32_t>(common));
      put(frames_, reinterpret_cast<uint64_t>(at + 8) + to_target +
                       static_cast<uint64_t>(int64_t{words[2]}));
      put(frames_, uint64_t{static_cast<uint32_t>(words[3])});
      frames_.insert(frames_.end(), at + sizeof words, end);
      end_entry(frames_, begin);
    }
  }
}

void DebugObject::add_detours(CodeArea& area, const abi::OwnArea& own) {
  const uint64_t bytes = own.area.end - own.area.begin;
  const uint64_t view = reinterpret_cast<uint64_t>(area.view(own.area.begin, bytes).data());
  const uint64_t to_target = own.area.begin - view;
  const uint64_t words = (bytes / abi::kDetourUnit + abi::kUnitsInWord - 1) / abi::kUnitsInWord;
  const auto* ends = reinterpret_cast<const uint64_t*>(area.view(own.ends, words * 8).data());
  uint64_t note = reinterpret_cast<uint64_t>(area.view(own.notes, 0).data());
  for (uint64_t word = 0; word < words; word++) {
    for (uint64_t left = ends[word]; left != 0; left &= left - 1) {
      const uint64_t unit = word * abi::kUnitsInWord + uint64_t(__builtin_ctzll(left));
      const uint64_t behind = view + (unit + 1) * abi::kDetourUnit;
      const abi::DetourCode detour(note, behind);
      note = abi::DetourCode(detour).behind();
      const size_t begin = begin_entry(frames_);
      put(frames_, uint32_t{0});
      put(frames_, detour.begin() + to_target);
      put(frames_, behind - detour.begin());
      DetourRows rows(frames_, detour.begin());
      detour.each_row(behind, [&](uint64_t pc) {
        abi::DetourPlace place;
        if (!abi::DetourCode(detour).find(pc, &place)) return;
        place.original += to_target;
        rows.add(pc, place);
      });
      end_entry(frames_, begin);
    }
  }
}

void DebugObject::add_stub(uint64_t stub, uint64_t original) {
  constexpr uint64_t kJumpBytes = 5;
  const size_t begin = begin_entry(frames_);
  put(frames_, uint32_t{0});
  put(frames_, stub);
  put(frames_, kJumpBytes);
  DetourRows(frames_, stub).add(stub, {.original = original});
  end_entry(frames_, begin);
}

void DebugObject::add(CodeArea& area, const abi::OwnArea& own) {
  if (own.area.begin == area.base()) {  // not of one detour that was noted later
    areas_.push_back(own.area);
    const auto section = static_cast<uint16_t>(areas_.size());
    symbols_.push_back({"djtap_handlers", own.area.begin, own.detours.begin, section});
    symbols_.push_back({"djtap_detours", own.detours.begin, own.detours.end, section});
    const uint64_t view = reinterpret_cast<uint64_t>(area.view(area.base(), 0).data());
    for (const abi::FrameHeader& frames : own.frames) add_compiled(area.base() - view, frames);
  }
  add_detours(area, own);
}

std::vector<uint8_t> DebugObject::file() {
  Bytes file(sizeof(Elf64_Ehdr)), names = {0};
  std::vector<Elf64_Shdr> sections(1);
  const auto name = [&names](const char* text) {
    const size_t at = names.size();
    names.insert(names.end(), text, text + strlen(text) + 1);
    return static_cast<uint32_t>(at);
  };
  const auto add = [&](const char* title, uint32_t type, const Bytes& bytes, uint32_t link,
                       uint64_t each) {
    while (file.size() % 8 != 0) file.push_back(0);
    sections.push_back({name(title), type, 0, 0, file.size(), bytes.size(), link, 1, 8, each});
    file.insert(file.end(), bytes.begin(), bytes.end());
  };
  for (const abi::CodeRange& area : areas_) {
    sections.push_back({name(".text"), SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, area.begin,
                        file.size(), area.end - area.begin, 0, 0, 16, 0});
  }
  add(".debug_frame", SHT_PROGBITS, frames_, 0, 0);
  Bytes symbols(sizeof(Elf64_Sym)), texts = {0};
  for (const Symbol& symbol : symbols_) {
    put(symbols, Elf64_Sym{static_cast<uint32_t>(texts.size()), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                           0, symbol.section, symbol.begin, symbol.end - symbol.begin});
    texts.insert(texts.end(), symbol.name, symbol.name + strlen(symbol.name) + 1);
  }
  add(".symtab", SHT_SYMTAB, symbols, static_cast<uint32_t>(sections.size() + 1),
      sizeof(Elf64_Sym));
  add(".strtab", SHT_STRTAB, texts, 0, 0);
  const uint32_t title = name(".shstrtab");
  sections.push_back({title, SHT_STRTAB, 0, 0, file.size(), names.size(), 0, 0, 1, 0});
  file.insert(file.end(), names.begin(), names.end());
  while (file.size() % 8 != 0) file.push_back(0);
  Elf64_Ehdr header = {};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC, header.e_machine = EM_X86_64, header.e_version = EV_CURRENT;
  header.e_shoff = file.size(), header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
  memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr& section : sections) put(file, section);
  return file;
}

}  // namespace dj
