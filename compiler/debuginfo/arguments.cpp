// Classifies parameters in order and hands out argument registers and stack slots as a caller does.
#include "compiler/debuginfo/arguments.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

constexpr int kVectorArguments = 8;
constexpr uint64_t kMaxRegisterBytes = 16;

// How one argument travels: integer and vector registers it takes, or memory.
struct Passing {
  int integer = 0, vector = 0;
  bool memory = false;
  bool aggregate = false;
  bool by_reference = false;           // the register holds the object's address
  bool in_vector[2] = {false, false};  // per 8 bytes of an object: from a vector register
  uint64_t stack_bytes = 8;
  uint64_t stack_align = 8;
};

// Marks which of the two eightbytes at [base, ..) hold an integer part.
// False: a part that puts the whole object into memory (long double in a struct, unaligned).
bool mark_integers(TypeDie type, uint64_t base, bool integer[2], DwarfIndex& index, int depth = 0) {
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
      const uint64_t offset = number(&child, DW_AT_data_member_location).value_or(0);
      if (!mark_integers(type_of(&child), base + offset, integer, index, depth + 1)) {
        return false;
      }
    }
    return true;
  }
  if (is_array(&*type)) {
    TypeDie element = strip_type(type_of(&*type), index);
    const uint64_t step = element ? type_size(&*element) : 0;
    const uint64_t end = base + type_size(&*type);
    for (uint64_t at = base; step > 0 && at < end; at += step) {
      if (!mark_integers(element, at, integer, index, depth + 1)) {
        return false;
      }
    }
    return step > 0;
  }
  std::optional<Scalar> scalar = scalar_of(&*type);
  if (!scalar || base >= kMaxRegisterBytes || (scalar->floating && scalar->size > 8)) {
    return false;
  }
  if (!scalar->floating) {
    integer[base / 8] = true;
    integer[(base + scalar->size - 1) / 8 & 1] = true;
  }
  return true;
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
  const uint64_t size = type_size(&*type);
  if (is_struct(&*type) || is_array(&*type)) {
    result.aggregate = true;
    if (travels_as_address(type, index)) {
      result.integer = 1;
      result.by_reference = true;
      return result;
    }
    bool integer[2] = {false, false};
    result.stack_bytes = (size + 7) & ~7ull;
    result.memory = size > kMaxRegisterBytes || !mark_integers(type, 0, integer, index);
    for (uint64_t at = 0; !result.memory && at < size; at += 8) {
      ++(integer[at / 8] ? result.integer : result.vector);
      result.in_vector[at / 8] = !integer[at / 8];
    }
    return result;
  }
  std::optional<Scalar> scalar = scalar_of(&*type);
  if (!scalar) {
    result.memory = true;
  } else if (scalar->floating) {
    // long double lives in memory, on a 16-byte boundary; double and float in vector registers.
    result.memory = scalar->size > 8;
    result.vector = !result.memory;
    result.stack_bytes = result.stack_align = result.memory ? 16 : 8;
  } else {
    result.integer = scalar->size > 8 ? 2 : 1;
    result.stack_bytes = scalar->size > 8 ? 16 : 8;
    result.stack_align = result.stack_bytes;
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
  if (p.integer + p.vector == 1) {
    return register_word(p.vector > 0 ? vectors : int64_t{*integers});
  }
  Spot whole;
  whole.kind = Spot::Pieces;
  for (int i = 0; i < p.integer + p.vector; i++) {
    const int64_t reg = p.in_vector[i] ? vectors++ : int64_t{*integers++};
    whole.pieces.push_back({uint64_t(i) * 8, 8, true, register_word(reg)});
  }
  return whole;
}

}  // namespace

bool returned_in_memory(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  if (!type) {
    return false;
  }
  const Passing p = passing_of(type, index);
  return p.aggregate && (p.memory || p.by_reference);
}

Result<Spot> result_at_exit(Dwarf_Die* function, DwarfIndex& index) {
  TypeDie type = type_of(function);
  const std::optional<Passing> passing =
      is_rust(function) ? passing_in_rust(type, index) : passing_of(type, index);
  if (!passing) {
    return Error{"how Rust returns such a value is not known", Fail::Unsupported};
  }
  const Passing& p = *passing;
  if (p.aggregate && (p.memory || p.by_reference)) {
    Spot spot;  // rax holds the address that the caller gave
    spot.expr.steps.push_back({LocStep::PushReg, arch::kRax});
    return spot;
  }
  if (p.memory || p.integer + p.vector == 0) {
    return Error{"it is returned in a floating-point register that cannot be read",
                 Fail::Unsupported};
  }
  static constexpr arch::Reg kResults[2] = {arch::kRax, arch::kRdx};
  return register_spot(p, kResults, arch::kXmm0);
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
    const bool in_registers =
        !p.memory && integers + p.integer <= 6 && vectors + p.vector <= kVectorArguments;
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
