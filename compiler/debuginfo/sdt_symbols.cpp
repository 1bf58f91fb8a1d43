// SPDX-License-Identifier: Apache-2.0
// Finds the symbols that a mark's operand names, and writes their addresses in their places.
#include "compiler/debuginfo/sdt_symbols.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace dj {

namespace {

bool of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// Notes the addresses of the symbols of that name; several: `found` becomes 0.
void look(const ObjectFile& elf, const char* table, std::string_view name,
          std::optional<uint64_t>& found) {
  const Section* symbols = elf.section(table);
  if (!symbols || symbols->header.sh_link >= elf.sections().size()) return;
  const Bytes names = elf.sections()[symbols->header.sh_link].bytes;
  for (const Elf64_Sym& symbol : records<Elf64_Sym>(symbols->bytes)) {
    const char* text = reinterpret_cast<const char*>(names.data()) + symbol.st_name;
    const size_t room = symbol.st_name < names.size() ? names.size() - symbol.st_name : 0;
    const bool placed = symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_TLS;
    if (!placed || room <= name.size() || std::string_view(text, name.size()) != name ||
        text[name.size()] != 0)
      continue;
    found = found.value_or(symbol.st_value) == symbol.st_value ? symbol.st_value : 0;
  }
}

std::optional<uint64_t> address_of(std::string_view name, Module& module) {
  std::optional<uint64_t> found;
  look(module.elf(), ".symtab", name, found);
  if (!found && module.symbols().debug_file)
    look(*module.symbols().debug_file, ".symtab", name, found);
  if (!found) look(module.elf(), ".dynsym", name, found);
  return found && *found != 0 ? found : std::nullopt;
}

// A sum of numbers and one symbol: "gv", "gv+8", "-8+gv"; nullopt: it is none.
std::optional<uint64_t> sum_of(std::string_view text, Module& module) {
  uint64_t sum = 0;
  size_t symbols = 0;
  while (!text.empty()) {
    const bool negative = text.front() == '-';
    if (negative || text.front() == '+') text.remove_prefix(1);
    size_t end = 0;
    while (end < text.size() && of_name(text[end])) ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (word.empty() || (!text.empty() && text.front() != '+' && text.front() != '-')) return {};
    uint64_t value = 0;
    const bool hex = word.starts_with("0x");
    const char* first = word.data() + (hex ? 2 : 0);
    const auto [rest, status] =
        std::from_chars(first, word.data() + word.size(), value, hex ? 16 : 10);
    if (status != std::errc() || rest != word.data() + word.size()) {
      const std::optional<uint64_t> address = address_of(word, module);
      if (!address || negative) return {};
      value = *address;
      ++symbols;
    }
    sum += negative ? 0 - value : value;
  }
  return symbols == 1 ? std::optional(sum) : std::nullopt;
}

}  // namespace

std::string with_addresses(const std::string& operand, Module& module) {
  constexpr std::string_view kHere = "(%rip)", kOfTable = "@GOTPCREL(%rip)";
  const size_t at = operand.find('@');
  const std::string_view before = std::string_view(operand).substr(0, at + 1);  // "" without '@'
  const std::string_view place = std::string_view(operand).substr(before.size());
  const bool immediate = place.starts_with('$'), table = place.ends_with(kOfTable);
  const size_t open = table ? place.size() - kOfTable.size() : place.find('(');
  const std::string_view sum = place.substr(immediate, open - immediate);
  const std::optional<uint64_t> address = sum_of(sum, module);
  if (!address) return operand;
  const std::string_view behind = open < place.size() ? place.substr(open) : std::string_view();
  if (table) return fmt::format("{}&[{:#x}]", before, *address);
  if (behind == kHere) return fmt::format("{}[{:#x}]", before, *address);
  return fmt::format("{}{}{:#x}{}", before, immediate ? "$" : "", *address, behind);
}

}  // namespace dj
