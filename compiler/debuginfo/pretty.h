// SPDX-License-Identifier: Apache-2.0
// Text forms: $x$, $x$$, $$parms and their like. Only for this room.
#pragma once
#include <string>

#include "compiler/debuginfo/navigator.h"
#include "compiler/stages/type_printer.h"

namespace dj {

// "left op right", signed: 0 or 1.
LocExpr compared(LocExpr left, LocStep::Op op, int64_t right);

// TextWriter: puts a text together from literal parts and values; ends with "..." where it becomes
// too long.
class TextWriter {
 public:
  void literal(const std::string& text) { before_ += text; }
  // The plain value, as $$parms shows it: whole numbers in hexadecimal, structs and arrays as their
  // address.
  void plain(Navigator at);
  // depth: how many structs within each other are opened; the others are {...}.
  void pretty(Navigator at, int depth) { value(std::move(at), depth, true); }
  // A value that has no place here: "?".
  void unknown();
  TargetText finish();

 private:
  void value(Navigator at, int depth, bool outermost);
  void structure(const Navigator& at, int depth);
  void array(const Navigator& at, int depth);
  bool characters(const Navigator& at);
  bool cpp_text(const Navigator& at);
  void fortran_text(Navigator& at);
  // Of a Rust enum the variant that is there; false: the type is none.
  bool variants(const Navigator& at, int depth);
  // The components of an Ada record that its discriminants choose; owner: the record or a variant.
  void variant_members(const Navigator& at, Dwarf_Die* owner, int depth);
  // By the first printer that fits the type; false, and nothing is written: none does.
  bool printed(const Navigator& at, int depth);
  bool pieces(const std::vector<PrintPiece>& list, const Navigator& at, int depth);
  bool piece(const PrintPiece& piece, const Navigator& at, int depth);
  bool piece_text(const PrintPiece& piece, const Navigator& at);
  bool piece_each(const PrintPiece& piece, const Navigator& at, int depth);
  // What is written by `inside` shows only where the condition is not 0. False: inside() was.
  template <typename Inside>
  bool when(LocExpr condition, Inside inside) {
    const size_t opened = open_if(std::move(condition));
    const bool done = inside();
    if (done) {
      close_if(opened);
    }
    return done;
  }
  size_t open_if(LocExpr condition);  // what follows shows only where the condition is not 0,
  void close_if(size_t opened);       // up to here
  void pointer(Navigator at, int depth, bool outermost);
  // hex: whole numbers as %#x shows them, as SystemTap's $$parms does.
  void scalar(Navigator& at, bool with_names, bool hex = false);
  void complex(Navigator& at, uint8_t half);
  bool wide(Navigator& at, const Scalar& scalar);
  void add(TargetText::Item item);
  bool full() const;

  TargetText text_;
  std::string before_;
  size_t values_ = 0;  // items that are no conditions
  size_t visited_ = 0;  // places that were to become items
  int printing_ = 0;   // printers within each other
};

}  // namespace dj
