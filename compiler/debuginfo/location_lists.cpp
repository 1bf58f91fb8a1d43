// SPDX-License-Identifier: Apache-2.0
// gcc ends the place of a variable that may not have been written yet with DW_OP_GNU_uninit, and
// libdw refuses expressions with it. The place is no other one for that: in libdw's own copy of the
// bytes it becomes a DW_OP_nop.
#include "compiler/debuginfo/location_lists.h"

#include <dwarf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "compiler/debuginfo/op_table.h"

namespace dj {

namespace {

using SectionBytes = std::span<uint8_t>;

// libdw maps files for itself alone: what is written there reaches no file.
bool write_byte(uint8_t* at, uint8_t byte) {
  const auto page = size_t(::sysconf(_SC_PAGESIZE));
  auto* begin = reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(at) / page * page);
  if (::mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  *at = byte;
  return true;
}

// True: there was one.
bool replace_in_expression(SectionBytes expression, size_t offset_bytes) {
  bool replaced = false;
  while (const std::optional<size_t> length = op_length(expression, offset_bytes)) {
    if (expression[0] == kUninit) {
      replaced |= write_byte(expression.data(), DW_OP_nop);
    }
    expression = expression.subspan(*length);
  }
  return replaced;
}

// The section's bytes that libdw reads; `is_split`: it is a .dwo file's.
SectionBytes bytes_of_section(Dwarf* dwarf, const char* name, bool& is_split) {
  Elf* elf = dwarf_getelf(dwarf);
  size_t names = 0;
  if (!elf || elf_getshdrstrndx(elf, &names) != 0) {
    return {};
  }
  const size_t length = std::strlen(name);
  for (Elf_Scn* s = elf_nextscn(elf, nullptr); s; s = elf_nextscn(elf, s)) {
    GElf_Shdr header;
    const char* found = gelf_getshdr(s, &header) ? elf_strptr(elf, names, header.sh_name) : nullptr;
    if (!found || std::strncmp(found, name, length) != 0 ||
        (found[length] != '\0' && std::strcmp(found + length, ".dwo") != 0)) {
      continue;
    }
    is_split = found[length] != '\0';
    Elf_Data* data = elf_rawdata(s, nullptr);
    return data && data->d_buf ? SectionBytes(static_cast<uint8_t*>(data->d_buf), data->d_size)
                               : SectionBytes();
  }
  return {};
}

// How a list of kinds of entries is written.
struct ListFormat {
  // What stands before an entry's expression, by kind. l: LEB128, a: an address, 4: 4 bytes; -: it
  // has no expression. Null: the list's end.
  std::span<const char* const> kinds;
  char length;  // of the expression: l, or 2 bytes
};
constexpr const char* kKinds[] = {nullptr, "l-", "ll", "ll", "ll", "", "a-", "aa", "al", "ll-"};
constexpr const char* kOldSplitKinds[] = {nullptr, "l-", "ll", "l4"};  // .debug_loc.dwo
constexpr ListFormat kDwarf5 = {kKinds, 'l'}, kOldSplit = {kOldSplitKinds, '2'};

// Takes a number from the list's beginning; none: the list is cut off.
std::optional<uint64_t> take(SectionBytes& list, char form) {
  std::optional<Leb> number = read_leb(list);
  if (form != 'l') {
    number = Leb{form == 'a' ? sizeof(Dwarf_Addr) : size_t(form - '0'), 0};
  }
  if (!number || number->length > list.size()) {
    return std::nullopt;
  }
  if (form != 'l') {
    std::memcpy(&number->value, list.data(), number->length);
  }
  list = list.subspan(number->length);
  return number->value;
}

bool replace_in_list(SectionBytes list, const ListFormat& format, size_t offset_bytes) {
  bool replaced = false;
  while (!list.empty() && list[0] < format.kinds.size() && format.kinds[list[0]]) {
    const char* operand = format.kinds[list[0]];
    list = list.subspan(1);
    bool whole = true;
    for (; whole && *operand && *operand != '-'; operand++) {
      whole = take(list, *operand).has_value();
    }
    const std::optional<uint64_t> length = *operand == '-' ? 0 : take(list, format.length);
    if (!whole || !length || *length > list.size()) {
      break;
    }
    replaced |= replace_in_expression(list.first(*length), offset_bytes);
    list = list.subspan(*length);
  }
  return replaced;
}

// .debug_loc: two addresses, both 0 at the end, the first one all ones where the other is a base.
bool replace_in_pairs(SectionBytes list, size_t offset_bytes) {
  bool replaced = false;
  for (;;) {
    Dwarf_Addr range[2];
    uint16_t length = 0;
    if (list.size() < sizeof range + sizeof length) {
      return replaced;
    }
    std::memcpy(range, list.data(), sizeof range);
    list = list.subspan(sizeof range);
    if (range[0] == 0 && range[1] == 0) {
      return replaced;
    }
    if (range[0] == ~Dwarf_Addr{0}) {
      continue;
    }
    std::memcpy(&length, list.data(), sizeof length);
    list = list.subspan(sizeof length);
    if (length > list.size()) {
      return replaced;
    }
    replaced |= replace_in_expression(list.first(length), offset_bytes);
    list = list.subspan(length);
  }
}

// Where in the section the list begins; none: it cannot be told.
std::optional<size_t> list_offset(Dwarf_Attribute* location, Dwarf_Die* unit, SectionBytes section,
                                  size_t offset_bytes) {
  Dwarf_Word offset = 0;
  if (dwarf_formudata(location, &offset) != 0) {
    return std::nullopt;
  }
  if (dwarf_whatform(location) != DW_FORM_loclistx) {
    return offset < section.size() ? std::optional<size_t>(offset) : std::nullopt;
  }
  // The offset is a number in a table of offsets, the only one of a .dwo file behind its header.
  Dwarf_Attribute attr;
  Dwarf_Word base = offset_bytes == 4 ? 12 : 20, entry = 0;
  if (dwarf_attr(unit, DW_AT_loclists_base, &attr) && dwarf_formudata(&attr, &base) != 0) {
    return std::nullopt;
  }
  const size_t at = base + offset * offset_bytes;
  if (at + offset_bytes > section.size()) {
    return std::nullopt;
  }
  std::memcpy(&entry, &section[at], offset_bytes);
  return base + entry < section.size() ? std::optional<size_t>(base + entry) : std::nullopt;
}

// Whether to ask libdw again.
bool replace_uninit(Dwarf_Attribute* location) {
  Dwarf_Die unit;
  Dwarf_Half version = 0;
  uint8_t offset_bytes = 0;
  Dwarf_Block block;
  if (!dwarf_cu_die(location->cu, &unit, &version, nullptr, nullptr, &offset_bytes, nullptr,
                    nullptr)) {
    return false;
  }
  if (dwarf_formblock(location, &block) == 0) {
    return replace_in_expression({block.data, block.length}, offset_bytes);
  }
  const bool is_new = version >= 5;
  bool is_split = false;
  const SectionBytes section = bytes_of_section(
      dwarf_cu_getdwarf(location->cu), is_new ? ".debug_loclists" : ".debug_loc", is_split);
  const std::optional<size_t> offset = list_offset(location, &unit, section, offset_bytes);
  if (!offset) {
    return false;
  }
  const SectionBytes list = section.subspan(*offset);
  return is_new || is_split ? replace_in_list(list, is_new ? kDwarf5 : kOldSplit, offset_bytes)
                            : replace_in_pairs(list, offset_bytes);
}

}  // namespace

int location_at(Dwarf_Attribute* location, Dwarf_Addr pc, Dwarf_Op** ops, size_t* count) {
  const int found = dwarf_getlocation_addr(location, pc, ops, count, 1);
  return found < 0 && replace_uninit(location) ? dwarf_getlocation_addr(location, pc, ops, count, 1)
                                               : found;
}

bool is_list(Dwarf_Attribute* location) {
  switch (dwarf_whatform(location)) {
    case DW_FORM_sec_offset:
    case DW_FORM_loclistx:
    case DW_FORM_data4:
    case DW_FORM_data8:
      return true;
    default:
      return false;
  }
}

ptrdiff_t LocationWalk::read() {
  return dwarf_getlocations(location_, offset_, &base_, &begin, &end, &ops, &count);
}

bool LocationWalk::next() {
  ptrdiff_t next = read();
  if (next < 0 && replace_uninit(location_)) next = read();
  offset_ = next;
  return next > 0;
}

}  // namespace dj
