// SPDX-License-Identifier: Apache-2.0
// Hands out registers and places of the stack as Go's compiler does
// (src/cmd/compile/abi-internal.md).
#include "compiler/debuginfo/go_results.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

constexpr arch::Reg kIntegers[] = {arch::kRax, arch::kRbx, arch::kRcx, arch::kRdi, arch::kRsi,
                                   arch::kR8,  arch::kR9,  arch::kR10, arch::kR11};
constexpr size_t kVectors = 15;
constexpr uint64_t kGoWord = 8;

std::optional<Dwarf_Die> unit_of(Dwarf_Die* die) {
  Dwarf_Die unit;
  return dwarf_diecu(die, &unit, nullptr, nullptr) ? std::optional(unit) : std::nullopt;
}

// "Go cmd/compile go1.19.8; regabi"
bool passes_in_registers(Dwarf_Die* function) {
  std::optional<Dwarf_Die> unit = unit_of(function);
  std::optional<Dwarf_Attribute> producer = unit ? attribute(&*unit, DW_AT_producer) : std::nullopt;
  const char* text = producer ? dwarf_formstring(&*producer) : nullptr;
  return text != nullptr && std::string_view(text).find("regabi") != std::string_view::npos;
}

// A function of which there are inlined copies has all that is the same in them elsewhere.
// Optimized code may mention a struct once more for parts of it.
std::vector<Dwarf_Die> parameters(Dwarf_Die* function) {
  std::optional<Dwarf_Die> origin = referred(function, DW_AT_abstract_origin);
  std::vector<Dwarf_Die> all = children(origin ? &*origin : function);
  std::set<std::string> names;
  std::erase_if(all, [&](Dwarf_Die& die) {
    const std::string name = die_name(&die);
    return dwarf_tag(&die) != DW_TAG_formal_parameter ||
           (name != "_" && !names.insert(name).second);
  });
  return all;
}

bool is_complex(Dwarf_Die* bare) {
  return number(bare, DW_AT_encoding) == uint64_t{DW_ATE_complex_float};
}

// Maps, channels and functions are one word, too.
uint64_t size_of(Dwarf_Die* bare) {
  const int tag = dwarf_tag(bare);
  return tag == DW_TAG_pointer_type || tag == DW_TAG_subroutine_type ? kGoWord : type_size(bare);
}

uint64_t align_of(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  if (!bare) {
    return kGoWord;
  }
  if (is_array(&*bare)) {
    return align_of(type_of(&*bare), index);
  }
  if (is_struct(&*bare)) {
    uint64_t most = 1;
    for (Member& member : all_members(&*bare, index)) {
      most = std::max(most, align_of(type_of(&member.die), index));
    }
    return most;
  }
  const uint64_t size = size_of(&*bare) / (is_complex(&*bare) ? 2 : 1);
  return std::clamp<uint64_t>(size, 1, kGoWord);
}

// Registers in the order in which the parts of values get them.
struct Registers {
  size_t integers = 0, vectors = 0;

  // The parts of a value of the type, which lies `at` bytes behind the beginning of the whole one.
  // False: it gets no registers.
  bool assign(TypeDie type, uint64_t at, DwarfIndex& index, std::vector<LocationPiece>& parts) {
    TypeDie bare = strip_type(type, index);
    if (!bare) {
      return false;
    }
    if (is_struct(&*bare)) {
      std::vector<Dwarf_Die> members = children(&*bare);
      return std::all_of(members.begin(), members.end(), [&](Dwarf_Die& child) {
        return dwarf_tag(&child) != DW_TAG_member ||
               assign(type_of(&child), at + direct_member(child).offset, index, parts);
      });
    }
    const uint64_t size = size_of(&*bare);
    if (is_array(&*bare)) {
      return size == 0 ||
             (element_count(&*bare, 0) == 1 && assign(type_of(&*bare), at, index, parts));
    }
    if (is_complex(&*bare)) {
      return add_vector(at, size / 2, parts) && add_vector(at + size / 2, size / 2, parts);
    }
    const std::optional<Scalar> scalar = scalar_of(&*bare);
    return scalar && scalar->floating ? add_vector(at, size, parts) : add_integer(at, size, parts);
  }

 private:
  bool add_integer(uint64_t at, uint64_t size, std::vector<LocationPiece>& parts) {
    if (integers == std::size(kIntegers) || size > kGoWord) {
      return false;
    }
    parts.push_back({at, size, true, register_word(kIntegers[integers++])});
    return true;
  }
  bool add_vector(uint64_t at, uint64_t size, std::vector<LocationPiece>& parts) {
    if (vectors == kVectors) {
      return false;
    }
    parts.push_back({at, size, true, register_word(arch::kXmm0 + int64_t(vectors++))});
    return true;
  }
};

// The parts with what lies between them, which no register has.
ValueLocation location_of(const std::vector<LocationPiece>& parts, uint64_t size) {
  if (parts.size() == 1 && parts.front().offset == 0 && parts.front().size == size) {
    return parts.front().value_at;
  }
  ValueLocation whole;
  whole.kind = ValueLocation::Pieces;
  uint64_t end = 0;
  const auto fill = [&](uint64_t to) {
    if (to > end) {
      whole.pieces.push_back({end, to - end, false, ValueLocation()});
    }
  };
  for (const LocationPiece& part : parts) {
    fill(part.offset);
    whole.pieces.push_back(part);
    end = part.end();
  }
  fill(size);
  return whole;
}

// Bytes above the canonical frame address, where unoptimized code and Go before 1.17 have a result
// of the stack: parameters without a name, which debug information leaves out, take room there.
std::optional<uint64_t> told_above_frame(const Dwarf_Die& result) {
  Dwarf_Die die = result;
  std::optional<Dwarf_Attribute> location = attribute(&die, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || dwarf_getlocation(&*location, &ops, &count) != 0 || count != 1) {
    return std::nullopt;
  }
  const bool above = ops[0].atom == DW_OP_fbreg && int64_t(ops[0].number) >= 0;
  return above                                 ? std::optional(ops[0].number)
         : ops[0].atom == DW_OP_call_frame_cfa ? std::optional(uint64_t{0})
                                               : std::nullopt;
}

uint64_t rounded(uint64_t offset, uint64_t align) { return (offset + align - 1) / align * align; }

}  // namespace

bool is_go_result(Dwarf_Die* parameter) {
  std::optional<Dwarf_Die> unit = unit_of(parameter);
  return unit && dwarf_tag(parameter) == DW_TAG_formal_parameter &&
         flag(parameter, DW_AT_variable_parameter) &&
         number(&*unit, DW_AT_language) == uint64_t{DW_LANG_Go};
}

std::vector<Dwarf_Die> go_results(Dwarf_Die* function) {
  std::vector<Dwarf_Die> results = parameters(function);
  std::erase_if(results, [](Dwarf_Die& die) { return !is_go_result(&die); });
  return results;
}

Result<ValueLocation> go_result_at_exit(Dwarf_Die* function, const Dwarf_Die& result,
                                        DwarfIndex& index) {
  Dwarf_Die die = result;
  const std::string name = die_name(&die);  // of one copy, or of what all copies share
  const bool in_registers = passes_in_registers(function);
  uint64_t stack = 0;
  Registers next;
  bool behind_arguments = false;
  for (Dwarf_Die& child : parameters(function)) {
    if (!behind_arguments && is_go_result(&child)) {
      behind_arguments = true;
      next = Registers();
      stack = rounded(stack, kGoWord);
    }
    const bool wanted = die_name(&child) == name;
    TypeDie type = strip_type(type_of(&child), index);
    if (!type) {
      return Error{"a type of its parameters and results is not known", Fail::Unsupported};
    }
    std::vector<LocationPiece> parts;
    Registers taken = next;
    if (in_registers && taken.assign(type, 0, index, parts)) {
      next = taken;
      if (wanted) {
        return location_of(parts, size_of(&*type));
      }
      continue;
    }
    stack = rounded(stack, align_of(type, index));
    if (wanted) {
      return stack_location(told_above_frame(result).value_or(stack));
    }
    stack += size_of(&*type);
  }
  return Error{"it is not among the function's results"};
}

}  // namespace dj
