// SPDX-License-Identifier: Apache-2.0
// Navigator: the place that a target expression has reached, and the type of what lies there. Only
// for this room.
#pragma once
#include <optional>
#include <string>

#include "compiler/debuginfo/debug_info.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

// step: the index in the path of what failed; -1: the name itself.
TargetFailure target_failure(TargetFailure::Kind kind, int step, std::string message);

// Where expressions are evaluated; a variable's own description is read in it.
struct Scene {
  Dwarf_Die* function;  // null: a place without one
  const ProbePlace& place;
  DwarfIndex& index;
};

class Navigator {
 public:
  using Failed = std::optional<TargetFailure>;

  // `text`: what was written so far, for messages.
  Navigator(ValueLocation value_at, TypeDie type, std::string text, const Scene& scene)
      : scene_(&scene), value_at_(std::move(value_at)), type_(type), text_(std::move(text)) {}

  // One step of the script; number: its index in the path. argument: the one of TargetRef::args
  // that an element's index is.
  Failed field(const TargetStep& step, int number);
  Failed element(const TargetStep& step, int number, int argument);
  // The place was given by address: [n] steps over things of its type.
  void set_given() { given_ = true; }
  // What lies at the place is not of the type but so many pointers before it; debug info need not
  // have such a type. Only field(), element(), value() and address() know of them.
  void set_pointers(int pointers) { pointers_ = pointers; }
  int pointers() const { return pointers_; }

  TargetAnswer address();  // of the place; one in a register has none, which is the failure
  // The word a script sees; of a floating-point type the bits of a double.
  TargetAnswer value();

  // For texts. After settle() the type is bare: no qualifier, no reference.
  Failed settle();
  Failed follow();                     // to what the pointer points to
  Failed enter(const Member& member);  // of the struct that the type is
  Failed at(int64_t index);            // of an array; the first one is 0
  // How many elements the array's next subscript chooses among, by bounds that are computed in the
  // program; none: its type does not say.
  std::optional<LocExpr> run_time_count();
  // To the base class, or one's base class, whose name fits the pattern (* and ?).
  Failed base(const std::string& pattern);
  // What lies here is taken for the type that is the nth type argument (from 1) of its template.
  Failed template_argument(int64_t n);
  // The scalar's word as it lies there, extended to 64 bits (float: its bits); how to show it.
  TargetAnswer word(Scalar& scalar);
  // Bytes [offset, offset + size) of the value, as they lie there; size: 1, 2, 4 or 8.
  TargetAnswer part(uint64_t offset, uint8_t size);
  // The x87's ten bytes at offset, as the bits of a double.
  TargetAnswer extended_as_double(uint64_t offset);
  // How many bytes a Fortran string has; none: its type says it by a number, or not.
  std::optional<LocExpr> string_length();
  // What lies at the place is taken for a value of that type.
  void become(TypeDie type);
  // void, if none.
  TypeDie& type() { return type_; }
  const TypeDie& type() const { return type_; }
  const ValueLocation& value_at() const { return value_at_; }
  const Scene& scene() const { return *scene_; }
  DwarfIndex& index() const { return scene_->index; }
  unsigned dimension() const { return dimension_; }

 private:
  Failed step_over(int64_t& stride, int64_t& lower);
  bool has_run_time_places();
  Failed described_element(const TargetStep& step, int argument);
  Failed described_at(LocExpr position);
  Failed follow_pair();
  bool is_packed();
  Failed packed_element(int64_t position);
  std::optional<LocExpr> pair_bound(unsigned dimension, bool upper);
  std::optional<LocExpr> discriminant(Dwarf_Die* member);
  LocExpr lower_bound(const Subscript& s, unsigned dimension, const LocExpr& object);
  TargetAnswer fixed_as_double();
  std::optional<LocExpr> described(Dwarf_Die* die, unsigned attribute_name, const LocExpr& object);
  std::optional<LocExpr> bound(Dwarf_Die* die, unsigned attribute_name, const LocExpr& object);
  std::optional<LocExpr> count_of(unsigned dimension, const LocExpr& object);
  std::optional<LocExpr> stride_of(unsigned dimension, const LocExpr& object);
  Failed to_virtual_base(const VirtualBase& base);
  Failed static_member(const TargetStep& step, int number);
  TargetFailure unknown_member(const TargetStep& step, int number);
  TargetFailure whole_struct();
  TargetFailure too_wide();
  TargetAnswer as_double(Scalar scalar);
  TargetAnswer quad_as_double();
  TargetAnswer bit_field(bool is_signed);

  const Scene* scene_;
  ValueLocation value_at_;
  TypeDie type_;
  std::string text_;
  bool given_ = false;
  int pointers_ = 0;
  unsigned dimension_ = 0;             // of the array type, that the next subscript means
  std::optional<LocExpr> descriptor_;  // of the array of which one subscript is done
  std::optional<LocExpr> record_;      // where the struct lies of which this is a member
  // Of the array that a pair of pointers led to (GNAT's unconstrained arrays): where the second one
  // leads, and what lies there: a lower and an upper bound for each dimension.
  struct Bounds {
    LocExpr address;
    Dwarf_Die type;
  };
  std::optional<Bounds> bounds_;
  std::optional<uint64_t> bits_;
  uint64_t bit_offset_ = 0;
};

}  // namespace dj
