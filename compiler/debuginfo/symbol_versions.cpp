// SPDX-License-Identifier: Apache-2.0
// Reads the names of all versions by their numbers, then the number of each symbol.
#include "compiler/debuginfo/symbol_versions.h"

#include <algorithm>

namespace dj {

namespace {

constexpr Elf64_Half kNumber = 0x7fff, kNotDefault = 0x8000;

// The section of that type, which names another one; null: none.
const Section* section_of(const ObjectFile& elf, uint32_t type) {
  const auto& all = elf.sections();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Section& s) { return s.header.sh_type == type; });
  return found != all.end() && found->header.sh_link < all.size() ? &*found : nullptr;
}

// By number; empty: no version has it, or it is the file's own name.
std::vector<std::string_view> version_names(const ObjectFile& elf, const Section& defined) {
  std::vector<std::string_view> names;
  const Bytes strings = elf.sections()[defined.header.sh_link].bytes;
  for (uint64_t at = 0; at + sizeof(Elf64_Verdef) <= defined.bytes.size();) {
    const auto version = read_word<Elf64_Verdef>(defined.bytes, at);
    const auto name = read_word<Elf64_Verdaux>(defined.bytes, at + version.vd_aux);
    const size_t number = version.vd_ndx & kNumber;
    if (!(version.vd_flags & VER_FLG_BASE)) {
      names.resize(std::max(names.size(), number + 1));
      names[number] = c_string(strings, name.vda_name);
    }
    if (version.vd_next == 0) break;
    at += version.vd_next;
  }
  return names;
}

}  // namespace

bool VersionedSymbol::is_meant_by(std::string_view text) const {
  const bool only_default = text.starts_with('@');
  return version == text.substr(only_default) && (is_default || !only_default);
}

std::vector<VersionedSymbol> versioned_symbols(const ObjectFile& elf) {
  std::vector<VersionedSymbol> found;
  const Section* numbers = section_of(elf, SHT_GNU_versym);
  const Section* defined = section_of(elf, SHT_GNU_verdef);
  const Section* table = numbers ? &elf.sections()[numbers->header.sh_link] : nullptr;
  if (!defined || !table || table->header.sh_link >= elf.sections().size()) return found;
  const std::vector<std::string_view> names = version_names(elf, *defined);
  const Bytes strings = elf.sections()[table->header.sh_link].bytes;
  const auto symbols = records<Elf64_Sym>(table->bytes);
  const auto of = records<Elf64_Half>(numbers->bytes);
  for (size_t i = 0; i < symbols.size() && i < of.size(); i++) {
    const size_t number = of[i] & kNumber;
    if (symbols[i].st_shndx == SHN_UNDEF || number >= names.size() || names[number].empty())
      continue;
    found.push_back({symbols[i].st_value, c_string(strings, symbols[i].st_name), names[number],
                     !(of[i] & kNotDefault)});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.address < b.address; });
  return found;
}

}  // namespace dj
