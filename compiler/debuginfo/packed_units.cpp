// SPDX-License-Identifier: Apache-2.0
// Reads the hash tables .debug_cu_index and .debug_tu_index (DWARF 5, 7.3.5; version 2 is GNU's).
#include "compiler/debuginfo/packed_units.h"

#include <dwarf.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "compiler/debuginfo/packed_size.h"
#include "compiler/debuginfo/split_image.h"

namespace dj {

namespace {

enum : uint32_t { kInfo = 1, kTypes = 2, kStrOffsets = 6 };  // of both versions

// The section that a number of the index means; null: one that is not needed.
const char* section_name(uint32_t number, uint32_t version) {
  switch (number) {
    case kInfo:
      return ".debug_info.dwo";
    case kTypes:
      return ".debug_types.dwo";
    case 3:
      return ".debug_abbrev.dwo";
    case 4:
      return ".debug_line.dwo";
    case 5:
      return version == 5 ? ".debug_loclists.dwo" : ".debug_loc.dwo";
    case kStrOffsets:
      return ".debug_str_offsets.dwo";
    case 8:
      return version == 5 ? ".debug_rnglists.dwo" : nullptr;
    default:
      return nullptr;
  }
}

std::mutex adopted_mutex;
std::map<Dwarf*, PackedUnits*> adopted;

struct Search {
  const PackedUnits* packed = nullptr;
  uint64_t id = 0;
};
thread_local Search search;

// The strings that the unit's offsets mean, which are changed accordingly; at most four times those
// of all units.
std::vector<uint8_t> own_strings(std::vector<uint8_t>& offsets, size_t header, Bytes strings) {
  std::vector<uint8_t> own;
  for (size_t at = header;
       at + sizeof(uint32_t) <= offsets.size() && own.size() / 4 <= strings.size();
       at += sizeof(uint32_t)) {
    uint32_t offset = 0;
    std::memcpy(&offset, &offsets[at], sizeof offset);
    const auto begin = strings.begin() + std::min<size_t>(offset, strings.size());
    const auto end = std::find(begin, strings.end(), 0);
    offset = uint32_t(own.size());
    std::memcpy(&offsets[at], &offset, sizeof offset);
    own.insert(own.end(), begin, end);
    own.push_back(0);
  }
  return own;
}

bool is_compressed(const ObjectFile& elf) {
  return std::ranges::any_of(elf.sections(), [](const Section& s) {
    return (s.header.sh_flags & SHF_COMPRESSED) != 0 || s.name.starts_with(".zdebug");
  });
}

Result<ObjectFile> uncompressed(const ObjectFile& elf) {
  const int fd = unpacks_sanely(elf) ? unpacked_image(elf) : -1;
  if (fd < 0) return Error{"its sections cannot be unpacked"};
  return ObjectFile::open(hold_target_file(fd, "/proc/self/fd/" + std::to_string(fd)));
}

}  // namespace

std::unique_ptr<PackedUnits> PackedUnits::open(const std::string& path) {
  Result<ObjectFile> elf = ObjectFile::open_found(path);
  if (elf.ok() && is_compressed(elf.value())) elf = uncompressed(elf.value());
  if (!elf.ok()) return nullptr;
  std::unique_ptr<PackedUnits> packed(new PackedUnits(elf.take()));
  packed->units_ = packed->read_index(".debug_cu_index");
  packed->types_ = packed->read_index(".debug_tu_index");
  for (const auto& [signature, type] : packed->types_)
    packed->by_strings_.emplace(packed->bytes_of(type, kStrOffsets).data(), signature);
  return packed->units_.empty() ? nullptr : std::move(packed);
}

PackedUnits::~PackedUnits() {
  const std::lock_guard lock(adopted_mutex);
  std::erase_if(adopted, [&](const auto& each) { return each.second == this; });
  for (auto& [id, dwarf] : opened_) dwarf_end(dwarf);
}

// Behind the header: ids, rows, the numbers of the columns; for each row offsets, then sizes.
PackedUnits::Units PackedUnits::read_index(const char* name) {
  constexpr size_t kHeader = 16, kWord = sizeof(uint32_t), kId = sizeof(uint64_t);
  const Section* section = elf_.section(name);
  const Bytes bytes = section ? section->bytes : Bytes();
  const auto version = read_word<uint16_t>(bytes, 0);
  const uint64_t columns = read_word<uint32_t>(bytes, 4), rows = read_word<uint32_t>(bytes, 8);
  const uint64_t slots = read_word<uint32_t>(bytes, 12);
  const uint64_t numbers = kHeader + slots * (kId + kWord);
  const uint64_t offsets = numbers + columns * kWord, sizes = offsets + rows * columns * kWord;
  Units units;
  if ((version != 2 && version != 5) || columns > 16 || sizes > bytes.size()) return units;
  version_ = version;
  for (uint64_t slot = 0; slot < slots; slot++) {
    const auto id = read_word<uint64_t>(bytes, kHeader + slot * kId);
    const uint64_t row = read_word<uint32_t>(bytes, kHeader + slots * kId + slot * kWord);
    for (uint64_t column = 0; row > 0 && row <= rows && column < columns; column++) {
      const uint64_t at = ((row - 1) * columns + column) * kWord;
      units[id][read_word<uint32_t>(bytes, numbers + column * kWord)] = {
          read_word<uint32_t>(bytes, offsets + at), read_word<uint32_t>(bytes, sizes + at)};
    }
  }
  return units;
}

Bytes PackedUnits::bytes_of(const Unit& unit, uint32_t number) const {
  const auto slice = unit.find(number);
  const char* name = section_name(number, version_);
  const Section* section = name ? elf_.section(name) : nullptr;
  if (slice == unit.end() || !section || slice->second.offset > section->bytes.size()) return {};
  const Bytes rest = section->bytes.subspan(slice->second.offset);
  return rest.first(std::min<size_t>(rest.size(), slice->second.size));
}

// Units of one .dwo file have one table of strings.
int PackedUnits::image(uint64_t id) const {
  const auto found = units_.find(id);
  if (found == units_.end()) return -1;
  const Unit& unit = found->second;
  SplitSections sections;
  auto add = [&](const Unit& from, uint32_t number) {
    const Bytes bytes = bytes_of(from, number);
    if (bytes.empty()) return;
    std::vector<uint8_t>& all = sections[section_name(number, version_)];
    all.insert(all.end(), bytes.begin(), bytes.end());
  };
  for (const auto& [number, slice] : unit) add(unit, number);
  const Bytes strings = bytes_of(unit, kStrOffsets);
  for (auto [at, end] = by_strings_.equal_range(strings.data()); at != end; ++at) {
    add(types_.at(at->second), kInfo);
    add(types_.at(at->second), kTypes);
  }
  const Section* text = elf_.section(".debug_str.dwo");
  constexpr size_t kHeader = 8;  // of the table in DWARF 5, whose offsets have 32 bits
  const bool is_long = version_ == 5 && read_word<uint32_t>(strings, 0) == UINT32_MAX;
  if (!text || strings.empty() || is_long) return -1;
  std::vector<uint8_t>& offsets = sections[section_name(kStrOffsets, version_)];
  sections[".debug_str.dwo"] = own_strings(offsets, version_ == 5 ? kHeader : 0, text->bytes);
  return sealed_object(sections);
}

void PackedUnits::adopt(Dwarf* dwarf) {
  const std::lock_guard lock(adopted_mutex);
  adopted[dwarf] = this;
}

Dwarf* PackedUnits::dwarf_of(uint64_t id) {
  auto [known, fresh] = opened_.try_emplace(id);
  const int fd = fresh ? image(id) : -1;
  if (fd >= 0) {
    known->second = dwarf_begin(fd, DWARF_C_READ);
    if (known->second) elf_cntl(dwarf_getelf(known->second), ELF_C_FDREAD);
    if (known->second) adopt(known->second);
    ::close(fd);
  }
  return known->second;
}

std::optional<Dwarf_Die> PackedUnits::type(uint64_t signature) {
  const auto found = types_.find(signature);
  if (found == types_.end()) return std::nullopt;
  const uint8_t* strings = bytes_of(found->second, kStrOffsets).data();
  const auto holder = std::find_if(units_.begin(), units_.end(), [&](const auto& each) {
    return bytes_of(each.second, kStrOffsets).data() == strings;
  });
  Dwarf* dwarf = holder != units_.end() ? dwarf_of(holder->first) : nullptr;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die, type;
  uint64_t id = 0;
  uint8_t kind = 0;
  while (dwarf && dwarf_get_units(dwarf, unit, &unit, nullptr, &kind, &die, &type) == 0) {
    const bool is_type = kind == DW_UT_type || kind == DW_UT_split_type;
    if (is_type &&
        dwarf_cu_info(unit, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr) == 0 &&
        id == signature) {
      return type;
    }
  }
  return std::nullopt;
}

std::optional<Dwarf_Die> packed_type(Dwarf* dwarf, uint64_t signature) {
  PackedUnits* packed = nullptr;
  {
    const std::lock_guard lock(adopted_mutex);
    const auto found = adopted.find(dwarf);
    packed = found != adopted.end() ? found->second : nullptr;
  }
  return packed ? packed->type(signature) : std::nullopt;
}

PackedSearch::PackedSearch(const PackedUnits* packed, uint64_t id) { search = {packed, id}; }
PackedSearch::~PackedSearch() { search = {}; }
int PackedSearch::image() { return search.packed ? search.packed->image(search.id) : -1; }

}  // namespace dj
