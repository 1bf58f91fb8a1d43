// SPDX-License-Identifier: Apache-2.0
// C and C++ types as DWARF describes them: how large, how to read, what is inside. Only for this
// room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <optional>
#include <string>
#include <vector>

#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/stages/plan.h"

namespace dj {

using TypeDie = std::optional<Dwarf_Die>;  // none: void

// The type of a variable, member, pointer target, array element or function result.
TypeDie type_of(Dwarf_Die* die);
// Behind typedefs, const, volatile, restrict, atomic; a declaration becomes its definition.
TypeDie strip_type(TypeDie type, DwarfIndex& index);
// As a person writes it: "const char*", "struct point", "int[4]"; void is "void".
std::string type_name(TypeDie type);
uint64_t type_size(Dwarf_Die* type);  // 0: unknown

bool is_pointer(Dwarf_Die* stripped);    // pointers
bool is_reference(Dwarf_Die* stripped);  // C++ references
bool is_struct(Dwarf_Die* stripped);     // struct, class, union
bool is_array(Dwarf_Die* stripped);
// The x87's number of 80 bits, which takes 16 bytes: long double, Fortran's real(10).
bool is_extended(Dwarf_Die* stripped);
bool is_extended_complex(Dwarf_Die* stripped);  // two of them
constexpr uint64_t kExtendedBytes = 16;
bool is_fixed_point(Dwarf_Die* stripped);  // Ada's, and C's _Accum
bool is_unit(Dwarf_Die* stripped);         // Rust's (), of no bytes
bool is_string(Dwarf_Die* stripped);  // Fortran's character(len=..)

// The type that a person writes as "struct point", "size_t" or "char*": that of the unit at pc,
// else of any. C++ names may have their namespaces. None: unknown.
TypeDie find_type(const std::string& name, DwarfIndex& index, uint64_t pc);
// The same where debug info has a type but no pointers to it: "struct point**" is two pointers
// before "struct point".
struct CastType {
  TypeDie type;  // none: void
  int pointers = 0;
};
std::optional<CastType> find_cast_type(const std::string& name, DwarfIndex& index, uint64_t pc);

// How a value of a scalar type is read and shown.
struct Scalar {
  uint8_t size = 8;
  bool is_signed = false;
  bool floating = false;
  TargetText::Item::As as = TargetText::Item::As::Unsigned;
};
// None: not a scalar (struct, array, void).
std::optional<Scalar> scalar_of(Dwarf_Die* stripped);

// An array type's element after one subscript: rest of the dimensions, and the size of one step.
struct Subscript {
  uint64_t stride = 0;             // 0: only the running program knows it
  unsigned dimension = 0;          // of the array DIE, that the next subscript means
  bool more = false;               // the element is an array too (of the same DIE)
  int64_t lower = 0;               // the first subscript
  std::optional<Dwarf_Die> range;  // describes the dimension; none: nothing does
};
// How many elements one subscript chooses among; 0: the type does not say.
uint64_t element_count(Dwarf_Die* array, unsigned dimension);
Subscript subscript(Dwarf_Die* array, unsigned dimension, DwarfIndex& index);
// Dimensions that lie within one step of this one: the later ones, of Fortran's arrays the earlier.
std::vector<unsigned> inner_dimensions(Dwarf_Die* array, unsigned dimension);

// A virtual base on the way to a member: only the object knows where it is.
struct VirtualBase {
  uint64_t offset = 0;  // of the object that has the base, from where the way has led so far
  Dwarf_Die die;        // DW_TAG_inheritance: says how to get from that object to the base
};

// A member found by name, through anonymous and base parts.
struct Member {
  Dwarf_Die die;
  uint64_t offset = 0;               // bytes from the outer struct's beginning
  std::optional<uint64_t> bit_size;  // a bit-field
  uint64_t bit_offset = 0;           // of a bit-field, from the outer struct's beginning
  std::vector<VirtualBase> bases;    // not empty: the offsets count from the last one's beginning
};
// A DW_TAG_member (or a base that is not virtual) as a part of the struct whose child it is.
Member direct_member(const Dwarf_Die& child);
bool is_virtual_base(Dwarf_Die* child);
std::optional<Member> find_member(Dwarf_Die* stripped_struct, const std::string& name,
                                  DwarfIndex& index);
// One of the parts of a Rust enum, which share its bytes.
struct Variant {
  Member member;
  std::optional<int64_t> value;  // of the discriminant; none: any that no other variant has
};
// Empty: the struct is no such enum. discriminant: none when there is only one variant.
std::vector<Variant> variants_of(Dwarf_Die* stripped_struct, std::optional<Member>& discriminant);
// A base class, or a base's, whose name fits the pattern (* and ?), as a part of the outer struct.
std::optional<Member> find_base(Dwarf_Die* stripped_struct, const std::string& pattern,
                                DwarfIndex& index);
// All parts with a name, those of bases and of anonymous structs too, in declaration order.
std::vector<Member> all_members(Dwarf_Die* stripped_struct, DwarfIndex& index);
// "8: int x" with its offset in bytes, in declaration order; names alone in `names`.
std::vector<std::string> list_members(Dwarf_Die* stripped_struct, std::vector<std::string>& names);

// "t.c:12" of any DIE with a declaration place; "" when it has none.
std::string declared_at(Dwarf_Die* die);

}  // namespace dj
