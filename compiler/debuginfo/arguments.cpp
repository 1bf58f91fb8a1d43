// Classifies parameters in order and hands out argument registers and stack slots as a caller does.
#include "compiler/debuginfo/arguments.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/wide_registers.h"

namespace dj {

namespace {

constexpr int kVectorArguments = 8;

// What one of the two 8 bytes that fit into registers holds. Upper: the rest of a vector register.
enum class Part { None, Upper, Vector, Integer };

struct Parts {
  Part of[2] = {Part::None, Part::None};

  // Bytes [begin, end); an integer among them takes the whole part.
  void add(Part part, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin / 8; at < (end + 7) / 8 && at < std::size(of); ++at) {
      of[at] = std::max(of[at], part);
    }
  }
};

// How one argument travels: integer and vector registers it takes, or memory.
struct Passing {
  int integer = 0, vector = 0;
  bool memory = false;
  bool aggregate = false;
  bool by_reference = false;  // the register holds the object's address
  bool wide_vector = false;   // of 32 bytes or more: memory where the code is not built for AVX
  Part parts[2] = {Part::None, Part::None};
  uint64_t stack_bytes = 8;
  uint64_t stack_align = 8;
};

// A scalar's bytes: a pointer to a member function is an address and what to add to `this`.
uint64_t scalar_bytes(Dwarf_Die* type, const Scalar& scalar) {
  TypeDie target = dwarf_tag(type) == DW_TAG_ptr_to_member_type ? type_of(type) : TypeDie{};
  const bool method = target && dwarf_tag(&*target) == DW_TAG_subroutine_type;
  return method ? 16 : std::max<uint64_t>(type_size(type), scalar.size);
}

// A scalar at [base, ..). False: it travels in memory.
bool mark_scalar(Dwarf_Die* type, const Scalar& scalar, uint64_t base, Parts& parts) {
  const uint64_t bytes = scalar_bytes(type, scalar);
  const bool complex = number(type, DW_AT_encoding) == uint64_t{DW_ATE_complex_float};
  const uint64_t alignment = std::min<uint64_t>(complex ? bytes / 2 : bytes, 8);
  if (base + bytes > kMaxRegisterBytes || base % alignment != 0) {
    return false;
  }
  if (scalar.floating && !complex && bytes > 8) {  // __float128 in one register
    parts.add(Part::Vector, base, base + 8);
    parts.add(Part::Upper, base + 8, base + bytes);
    return !is_extended(type);
  }
  parts.add(scalar.floating ? Part::Vector : Part::Integer, base, base + bytes);
  return true;
}

// Marks what the 8 bytes at [base, ..) hold. False: a part that puts the whole object into memory
// (long double, unaligned).
bool mark_parts(TypeDie type, uint64_t base, Parts& parts, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || depth > 16) {
    return false;
  }
  if (is_struct(&*type)) {
    for (Dwarf_Die& child : children(&*type)) {
      const int tag = dwarf_tag(&child);
      if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || flag(&child, DW_AT_external)) {
        continue;
      }
      const Member member = direct_member(child);
      if (member.bit_size) {
        const uint64_t bit = base * 8 + member.bit_offset;
        parts.add(Part::Integer, bit / 8, (bit + *member.bit_size + 7) / 8);
      } else if (!mark_parts(type_of(&child), base + member.offset, parts, index, depth + 1)) {
        return false;
      }
    }
    return true;
  }
  if (is_vector_type(&*type)) {
    const uint64_t end = base + type_size(&*type);
    TypeDie element = strip_type(type_of(&*type), index);
    const std::optional<Scalar> scalar = element ? scalar_of(&*element) : std::nullopt;
    const bool small = end - base < 8;
    const bool lone = scalar && scalar->floating && scalar->size == end - base;
    if (lone && (!small || is_made_by_gcc(&*type))) {  // a vector of one float or double
      return false;
    }
    parts.add(small ? Part::Integer : Part::Vector, base, base + 8);
    parts.add(Part::Upper, base + 8, end);
    return end <= kMaxRegisterBytes;
  }
  if (is_array(&*type)) {
    TypeDie element = strip_type(type_of(&*type), index);
    const uint64_t step = element ? type_size(&*element) : 0;
    const uint64_t end = base + type_size(&*type);
    for (uint64_t at = base; step > 0 && at < end; at += step) {
      if (!mark_parts(element, at, parts, index, depth + 1)) {
        return false;
      }
    }
    return step > 0;
  }
  std::optional<Scalar> scalar = scalar_of(&*type);
  return scalar && mark_scalar(&*type, *scalar, base, parts);
}

// On the stack it begins at a multiple of this, but at least of 8.
uint64_t alignment_of(TypeDie type, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || depth > 16) {
    return 1;
  }
  uint64_t alignment = number(&*type, DW_AT_alignment).value_or(1);
  if (is_struct(&*type)) {
    for (Dwarf_Die& child : children(&*type)) {
      const int tag = dwarf_tag(&child);
      if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !flag(&child, DW_AT_external)) {
        alignment = std::max({alignment, number(&child, DW_AT_alignment).value_or(1),
                              alignment_of(type_of(&child), index, depth + 1)});
      }
    }
    return alignment;
  }
  if (is_array(&*type) && !is_vector_type(&*type)) {
    return std::max(alignment, alignment_of(type_of(&*type), index, depth + 1));
  }
  const bool complex = number(&*type, DW_AT_encoding) == uint64_t{DW_ATE_complex_float};
  return std::max(alignment, type_size(&*type) / (complex ? 2 : 1));
}

// A special member function that the program wrote: destructor, copy or move constructor.
bool is_own_special(Dwarf_Die* method, const std::string& class_name, DwarfIndex& index) {
  if (flag(method, DW_AT_artificial) ||
      number(method, DW_AT_defaulted) == uint64_t{DW_DEFAULTED_in_class}) {
    return false;
  }
  const std::string name = die_name(method);
  if (name.starts_with('~')) {
    return true;
  }
  std::vector<Dwarf_Die> parameters;
  for (Dwarf_Die& child : children(method)) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter && !flag(&child, DW_AT_artificial)) {
      parameters.push_back(child);
    }
  }
  TypeDie type = parameters.size() == 1 ? strip_type(type_of(&parameters[0]), index) : TypeDie{};
  TypeDie target = type && is_reference(&*type) ? strip_type(type_of(&*type), index) : TypeDie{};
  return target && name == class_name.substr(0, class_name.find('<')) &&
         die_name(&*target) == class_name;
}

// Objects that are not trivial to copy travel as their address. clang says so in DWARF; for gcc it
// follows from the class's members.
bool travels_as_address(TypeDie type, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || !is_struct(&*type) || depth > 16) {
    return false;
  }
  if (std::optional<uint64_t> stated = number(&*type, DW_AT_calling_convention)) {
    return *stated == DW_CC_pass_by_reference;
  }
  const std::string name = die_name(&*type);
  for (Dwarf_Die& child : children(&*type)) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_subprogram:
        if (number(&child, DW_AT_virtuality).value_or(0) != 0 ||
            is_own_special(&child, name, index)) {
          return true;
        }
        break;
      case DW_TAG_member:
      case DW_TAG_inheritance:
        if (is_virtual_base(&child)) {
          return true;
        }
        if (!flag(&child, DW_AT_external) &&
            travels_as_address(type_of(&child), index, depth + 1)) {
          return true;
        }
        break;
      default:
        break;
    }
  }
  return false;
}

Passing passing_of(TypeDie type, DwarfIndex& index) {
  Passing result;
  type = strip_type(type, index);
  if (!type) {
    result.memory = true;
    return result;
  }
  result.aggregate = is_struct(&*type) || is_array(&*type);
  if (travels_as_address(type, index)) {
    result.integer = 1;
    result.by_reference = true;
    return result;
  }
  const uint64_t size = type_size(&*type);
  Parts parts;
  const bool fits = mark_parts(type, 0, parts, index);
  result.wide_vector = is_wide_vector(type, index);
  if (result.wide_vector) {
    parts.of[0] = Part::Vector;
    parts.of[1] = Part::Upper;
  }
  result.memory = !fits && !result.wide_vector;
  result.stack_bytes = std::max<uint64_t>(8, (size + 7) & ~7ull);
  result.stack_align = std::max<uint64_t>(8, alignment_of(type, index));
  for (size_t i = 0; !result.memory && i < std::size(parts.of); ++i) {
    result.parts[i] = parts.of[i];
    result.integer += parts.of[i] == Part::Integer;
    result.vector += parts.of[i] == Part::Vector;
  }
  return result;
}

// Its place in the frame, or its register, holds only its address: Fortran's arguments.
bool is_passed_by_address(Dwarf_Die* parameter) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || dwarf_getlocation(&*location, &ops, &count) != 0 || count == 0) {
    return false;
  }
  const auto& regs = arch::kArgumentRegs;
  const bool at_register = std::find_if(std::begin(regs), std::end(regs), [&](arch::Reg reg) {
                             return ops[0].atom == static_cast<unsigned>(DW_OP_breg0) + reg;
                           }) != std::end(regs);
  return count == 1 ? at_register && ops[0].number == 0
                    : count == 2 && ops[0].atom == DW_OP_fbreg && ops[1].atom == DW_OP_deref;
}

Passing passing_by_address() {
  Passing address;
  address.aggregate = true;
  address.integer = 1;
  address.by_reference = true;
  return address;
}

bool is_rust(Dwarf_Die* die) {
  Dwarf_Die unit;
  return dwarf_diecu(die, &unit, nullptr, nullptr) &&
         number(&unit, DW_AT_language) == uint64_t{DW_LANG_Rust};
}

// The scalars of a struct, within each other; false: there are variants.
bool flatten(TypeDie type, std::vector<Scalar>& out, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  std::optional<Member> discriminant;
  if (!type || depth > 8) {
    return false;
  }
  if (!is_struct(&*type)) {
    std::optional<Scalar> scalar = scalar_of(&*type);
    out.push_back(scalar.value_or(Scalar{}));
    return scalar.has_value();
  }
  if (!variants_of(&*type, discriminant).empty()) {
    return false;
  }
  for (Member& member : all_members(&*type, index)) {
    if (!flatten(type_of(&member.die), out, index, depth + 1)) {
      return false;
    }
  }
  return true;
}

// Rust's own convention is not written down; this is what its versions have in common. None: pairs
// of small numbers and enums with values, among others, which travel in more registers than in C.
std::optional<Passing> passing_in_rust(TypeDie type, DwarfIndex& index) {
  TypeDie bare = strip_type(type, index);
  if (!bare || !is_struct(&*bare)) {
    return passing_of(type, index);
  }
  if (type_size(&*bare) > kMaxRegisterBytes) {
    return passing_by_address();
  }
  std::vector<Scalar> parts;
  const bool known = flatten(type, parts, index);
  const bool words = std::all_of(parts.begin(), parts.end(),
                                 [](const Scalar& s) { return s.size == 8 && !s.floating; });
  return known && (parts.size() == 1 || (parts.size() == 2 && words))
             ? std::optional(passing_of(type, index))
             : std::nullopt;
}

std::optional<Passing> passing_of_parameter(Dwarf_Die* parameter, DwarfIndex& index) {
  if (is_passed_by_address(parameter)) {
    return passing_by_address();
  }
  return is_rust(parameter) ? passing_in_rust(type_of(parameter), index)
                            : passing_of(type_of(parameter), index);
}

Spot stack_spot(uint64_t offset) {
  Spot spot;
  spot.expr.steps.push_back({LocStep::PushReg, arch::kRsp});
  add_constant(spot.expr, int64_t(offset + 8));  // above the return address
  spot.in_frame = true;
  return spot;
}

Spot register_word(int64_t reg) {
  Spot spot;
  spot.kind = Spot::Value;
  spot.reg = int(reg);
  spot.expr.steps.push_back({LocStep::PushReg, reg});
  return spot;
}

// The value whose parts stand in these registers, integer and vector ones in their own order.
Spot register_spot(const Passing& p, const arch::Reg* integers, int64_t vectors) {
  if (p.by_reference) {
    Spot spot;
    spot.expr.steps.push_back({LocStep::PushReg, *integers});
    return spot;
  }
  if (p.integer + p.vector == 1 && p.parts[0] >= Part::Vector && p.parts[1] <= Part::Upper) {
    return register_word(p.vector > 0 ? vectors : int64_t{*integers});
  }
  Spot whole;
  whole.kind = Spot::Pieces;
  for (size_t i = 0; i < std::size(p.parts); i++) {
    const bool known = p.parts[i] >= Part::Vector;
    const int64_t reg = !known ? 0 : p.parts[i] == Part::Vector ? vectors++ : int64_t{*integers++};
    whole.pieces.push_back({i * 8, 8, known, known ? register_word(reg) : Spot()});
  }
  return whole;
}

// A value of so many bytes in vector registers of 16 bytes each.
Spot vector_parts(uint64_t bytes) {
  constexpr uint64_t kPart = 16;
  Spot whole;
  whole.kind = Spot::Pieces;
  for (uint64_t at = 0; at < bytes; at += kPart) {
    whole.pieces.push_back({at, kPart, true, register_word(arch::kXmm0 + int64_t(at / kPart))});
  }
  return whole;
}

// What comes back on the x87's stack, of which a complex number takes two places; none: another
// type.
std::optional<Spot> result_of_x87(TypeDie type, DwarfIndex& index) {
  if (is_extended_struct(type, index)) {
    return register_word(arch::kSt0);
  }
  TypeDie bare = strip_type(type, index);
  if (!bare || !is_extended_complex(&*bare)) {
    return std::nullopt;
  }
  Spot both;
  both.kind = Spot::Pieces;
  both.pieces = {{0, kExtendedBytes, true, register_word(arch::kSt0)},
                 {kExtendedBytes, kExtendedBytes, true, register_word(arch::kSt0 + 1)}};
  return both;
}

// How the function returns its vector of 32 bytes or more.
Result<WideReturn> wide_result(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = strip_type(type_of(function), index);
  return wide_return(function, type_size(&*type), is_struct(&*type), index);
}

// Whether the caller gives the address of the result, which comes back in rax.
Result<bool> is_result_in_memory(Dwarf_Die* function, const Passing& passing, DwarfIndex& index) {
  TypeDie type = strip_type(type_of(function), index);
  if (passing.wide_vector && type) {
    DJ_TRY(const WideReturn way, wide_result(function, index));
    return way == WideReturn::Memory;
  }
  if (passing.memory && type && is_vector_type(&*type) && !is_made_by_gcc(function)) {
    return false;  // clang has places of its own for it
  }
  const bool large = passing.memory && !result_of_x87(type, index);
  return passing.aggregate && (large || passing.by_reference);
}

}  // namespace

bool is_called_otherwise(Dwarf_Die* function) {
  return number(function, DW_AT_calling_convention) == uint64_t{DW_CC_nocall};
}

bool returned_in_memory(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  if (!type) {
    return false;
  }
  const Result<bool> in_memory = is_result_in_memory(function, passing_of(type, index), index);
  return in_memory.ok() && in_memory.value();
}

Result<Spot> result_at_exit(Dwarf_Die* function, DwarfIndex& index) {
  // Rust's functions are nearly all changed so, and mostly keep their results.
  if (is_called_otherwise(function) && !is_rust(function)) {
    return Error{"the compiler has changed how this function is called and what it returns"};
  }
  TypeDie type = type_of(function);
  const std::optional<Passing> passing =
      is_rust(function) ? passing_in_rust(type, index) : passing_of(type, index);
  if (!passing) {
    return Error{"how Rust returns such a value is not known", Fail::Unsupported};
  }
  if (std::optional<Spot> spot = result_of_x87(type, index); spot && passing->memory) {
    return *spot;
  }
  DJ_TRY(const bool in_memory, is_result_in_memory(function, *passing, index));
  if (in_memory) {
    Spot spot;  // rax holds the address that the caller gave; Rust's functions need not keep that
    spot.expr.steps.push_back(is_rust(function) ? LocStep{LocStep::PushEntry, kEntryResult}
                                                : LocStep{LocStep::PushReg, arch::kRax});
    return spot;
  }
  if (passing->memory || passing->integer + passing->vector == 0) {
    return Error{"how such a value is returned is not known", Fail::Unsupported};
  }
  if (passing->wide_vector) {
    DJ_TRY(const WideReturn way, wide_result(function, index));
    if (way == WideReturn::Parts) {
      TypeDie bare = strip_type(type, index);
      return vector_parts(type_size(&*bare));
    }
  }
  static constexpr arch::Reg kResults[2] = {arch::kRax, arch::kRdx};
  return register_spot(*passing, kResults, arch::kXmm0);
}

Result<Spot> argument_at_entry(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  int integers = returned_in_memory(function, index) ? 1 : 0;
  int vectors = 0;
  uint64_t stack = 0;
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
      continue;
    }
    const bool wanted = dwarf_dieoffset(&child) == dwarf_dieoffset(parameter);
    const std::optional<Passing> passing = passing_of_parameter(&child, index);
    if (!passing) {
      return Error{"where Rust passes it is not known; a line of the function knows it"};
    }
    const Passing& p = *passing;
    const bool in_registers = !p.memory &&
                              (!p.wide_vector || keeps_wide_register(function, vectors, index)) &&
                              integers + p.integer <= 6 && vectors + p.vector <= kVectorArguments;
    if (in_registers) {
      if (wanted) {
        return register_spot(p, arch::kArgumentRegs + integers, arch::kXmm0 + vectors);
      }
      integers += p.integer;
      vectors += p.vector;
      continue;
    }
    stack = (stack + p.stack_align - 1) / p.stack_align * p.stack_align;
    if (wanted) {
      Spot spot = stack_spot(stack);
      if (p.by_reference) {
        spot.expr = load(spot, 8, false);
        spot.in_frame = false;
      }
      return spot;
    }
    stack += p.stack_bytes;
  }
  return Error{"it is not among the function's parameters"};
}

}  // namespace dj
