// SPDX-License-Identifier: Apache-2.0
// The table begins with a header, whose first word says the form; then come, by offsets from the
// table's begin, the names, and rows of where a function begins and where its description is. A
// description repeats where it begins; behind that stands its name's offset.
#include "compiler/debuginfo/go_functions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace dj {
namespace {

constexpr uint32_t kGo12 = 0xfffffffb, kGo116 = 0xfffffffa, kGo118 = 0xfffffff0,
                   kGo120 = 0xfffffff1;
constexpr size_t kTableWord = 8, kHeader = 8;  // bytes: of a word, and before the first one

// GoTable: a table's parts.
struct GoTable {
  Bytes bytes;
  uint64_t address = 0;  // of its first byte
  uint64_t count = 0;    // functions
  uint64_t names = 0, rows = 0;
  bool is_short = false;  // rows and descriptions have 32-bit distances from `text`
  uint64_t text = 0;
  size_t field() const { return is_short ? sizeof(uint32_t) : kTableWord; }
};

// Words of a position-independent program that the loader sets, by address.
using LoaderWords = std::unordered_map<uint64_t, uint64_t>;

LoaderWords loader_words(const ObjectFile& elf, const GoTable& table) {
  LoaderWords words;
  for (const Section& s : elf.sections()) {
    if (s.header.sh_type != SHT_RELA || !(s.header.sh_flags & SHF_ALLOC)) continue;
    for (const Elf64_Rela& r : records<Elf64_Rela>(s.bytes)) {
      if (ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE &&
          r.r_offset - table.address < table.bytes.size())
        words[r.r_offset] = uint64_t(r.r_addend);
    }
  }
  return words;
}

uint64_t word_at(const GoTable& table, const LoaderWords& words, uint64_t offset) {
  const auto set = words.find(table.address + offset);
  return set != words.end() ? set->second : read_word<uint64_t>(table.bytes, offset);
}

// For x86-64: instructions of any length, words of 8 bytes.
bool has_header(Bytes bytes) {
  const uint32_t form = read_word<uint32_t>(bytes, 0);
  const bool is_known = form == kGo12 || form == kGo116 || form == kGo118 || form == kGo120;
  return is_known && read_word<uint32_t>(bytes, sizeof form) == 0x08010000;
}

// Its section has its name, but where another linker than Go's has put it among other data.
std::optional<GoTable> find_table(const ObjectFile& elf) {
  for (const Section& s : elf.sections()) {
    if (s.name.ends_with("gopclntab") && has_header(s.bytes))
      return GoTable{.bytes = s.bytes, .address = s.header.sh_addr};
  }
  const bool may_be_go = elf.header().e_shnum == 0 || elf.section(".go.buildinfo") != nullptr ||
                         elf.section(".note.go.buildid") != nullptr;
  for (const Section& s : elf.sections()) {
    if (!may_be_go || !(s.header.sh_flags & SHF_ALLOC) || s.executable()) continue;
    for (size_t at = -s.header.sh_addr % kTableWord; at + kHeader <= s.bytes.size();
         at += kTableWord) {
      if (has_header(s.bytes.subspan(at)))
        return GoTable{.bytes = s.bytes.subspan(at), .address = s.header.sh_addr + at};
    }
  }
  return std::nullopt;
}

// The header's words: how many functions; from Go 1.16 on how many files, in 1.18 where the code
// begins, and then where names, units, files, values and rows are.
void read_header(const ObjectFile& elf, const LoaderWords& words, GoTable& table) {
  const uint32_t form = read_word<uint32_t>(table.bytes, 0);
  const auto word = [&](size_t index) {
    return word_at(table, words, kHeader + index * kTableWord);
  };
  table.count = word(0);
  if (form == kGo12) {
    table.rows = kHeader + kTableWord;
    return;
  }
  table.is_short = form != kGo116;
  const size_t offsets = table.is_short ? 3 : 2;
  table.names = word(offsets);
  table.rows = word(offsets + 4);
  if (!table.is_short) return;
  const Section* code = elf.section(".text");
  table.text = word(2) == 0 && code ? code->header.sh_addr : word(2);
}

uint64_t begin_of(const GoTable& table, const LoaderWords& words, uint64_t row) {
  const uint64_t at = table.rows + row * 2 * table.field();
  return table.is_short ? table.text + read_word<uint32_t>(table.bytes, at)
                        : word_at(table, words, at);
}

std::string_view name_of(const GoTable& table, uint64_t row) {
  const uint64_t at = table.rows + row * 2 * table.field() + table.field();
  // Of Go 1.2, from the table's begin; later from the rows'.
  const uint64_t base = table.names == 0 ? 0 : table.rows;
  const uint64_t description =
      table.is_short ? read_word<uint32_t>(table.bytes, at) : read_word<uint64_t>(table.bytes, at);
  const auto name = read_word<uint32_t>(table.bytes, base + description + table.field());
  return c_string(table.bytes, table.names + name);
}

// Without the int3 that stand between functions.
uint64_t size_of(Bytes code, uint64_t most) {
  constexpr uint8_t kInt3 = 0xcc;
  uint64_t size = std::min<uint64_t>(most, code.size());
  while (size > 1 && code[size - 1] == kInt3) size--;
  return size;
}

}  // namespace

void add_go_functions(const ObjectFile& elf, SymbolTable& table) {
  std::optional<GoTable> go = find_table(elf);
  if (!go) return;
  const LoaderWords words = loader_words(elf, *go);
  read_header(elf, words, *go);
  if (go->rows >= go->bytes.size() || go->names >= go->bytes.size() ||
      go->count >= (go->bytes.size() - go->rows) / (2 * go->field()))
    return;
  for (uint64_t row = 0; row < go->count; row++) {
    const uint64_t begin = begin_of(*go, words, row), next = begin_of(*go, words, row + 1);
    const std::string_view name = name_of(*go, row);
    if (name.empty() || next <= begin || !elf.is_code(begin)) continue;
    table.functions.push_back(
        {begin, size_of(elf.at(begin), next - begin), name, STB_LOCAL, false});
  }
}

}  // namespace dj
