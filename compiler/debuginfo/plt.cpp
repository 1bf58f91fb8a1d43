// SPDX-License-Identifier: Apache-2.0
// Finds stubs by their one instruction that matters, jmp *slot(%rip) or mov slot(%rip),%r11 before
// a thunk (lld's -z retpolineplt), and names by relocations.
#include "compiler/debuginfo/plt.h"

#include <algorithm>

namespace dj {

namespace {

std::string_view symbol_name(const ObjectFile& elf, const Section& table, uint32_t index) {
  const auto symbols = records<Elf64_Sym>(table.bytes);
  if (index >= symbols.size() || table.header.sh_link >= elf.sections().size()) {
    return {};
  }
  const Bytes names = elf.sections()[table.header.sh_link].bytes;
  const size_t offset = symbols[index].st_name;
  if (offset >= names.size()) {
    return {};
  }
  const char* text = reinterpret_cast<const char*>(names.data()) + offset;
  const std::string_view name(text, ::strnlen(text, names.size() - offset));
  return name.substr(0, name.find('@'));
}

void read_slots(const ObjectFile& elf, Plt& plt) {
  for (const Section& table : elf.sections()) {
    if (table.header.sh_type != SHT_RELA || table.header.sh_link >= elf.sections().size()) {
      continue;
    }
    const Section& symbols = elf.sections()[table.header.sh_link];
    for (const Elf64_Rela& r : records<Elf64_Rela>(table.bytes)) {
      if (!is_stub_relocation(r)) continue;
      const std::string_view name = symbol_name(elf, symbols, ELF64_R_SYM(r.r_info));
      if (!name.empty()) {
        plt.slots.emplace(r.r_offset, name);
      }
    }
  }
}

}  // namespace

uint64_t slot_of_stub(Bytes code, uint64_t address) {
  constexpr uint8_t kEndbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
  size_t at = 0;
  if (code.size() >= 4 && std::equal(kEndbr64, kEndbr64 + 4, code.begin())) {
    at = 4;
  }
  if (at < code.size() && code[at] == 0xf2) {  // bnd
    at++;
  }
  constexpr uint8_t kJump[2] = {0xff, 0x25}, kLoad[3] = {0x4c, 0x8b, 0x1d};
  for (const std::span<const uint8_t> head : {std::span<const uint8_t>(kJump), {kLoad}}) {
    const size_t end = at + head.size() + sizeof(int32_t);
    if (end <= code.size() && std::equal(head.begin(), head.end(), code.begin() + at)) {
      return address + end + uint64_t(int64_t{read_word<int32_t>(code, at + head.size())});
    }
  }
  return 0;
}

bool is_stub_relocation(const Elf64_Rela& relocation) {
  const auto type = ELF64_R_TYPE(relocation.r_info);
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

const PltEntry* Plt::at(uint64_t address) const {
  auto found = std::lower_bound(entries.begin(), entries.end(), address,
                                [](const PltEntry& e, uint64_t a) { return e.begin < a; });
  return found != entries.end() && found->begin == address ? &*found : nullptr;
}

Plt read_plt(const ObjectFile& elf) {
  Plt plt;
  read_slots(elf, plt);
  for (const Section& s : elf.sections()) {
    if (!s.executable() || !s.name.starts_with(".plt")) {
      continue;
    }
    const size_t stub = s.header.sh_entsize >= 8 ? s.header.sh_entsize : 16;
    for (size_t at = 0; at + stub <= s.bytes.size(); at += stub) {
      const uint64_t address = s.header.sh_addr + at;
      auto slot = plt.slots.find(slot_of_stub(s.bytes.subspan(at, stub), address));
      if (slot != plt.slots.end()) {
        plt.entries.push_back({address, address + stub, slot->second});
      }
    }
  }
  std::sort(plt.entries.begin(), plt.entries.end(),
            [](const PltEntry& a, const PltEntry& b) { return a.begin < b.begin; });
  return plt;
}

}  // namespace dj
