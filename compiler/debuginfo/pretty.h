// Text forms: $x$, $x$$, $$parms and their like. Only for this room.
#pragma once
#include <string>

#include "compiler/debuginfo/navigator.h"

namespace dj {

// TextWriter: puts a text together from literal parts and values; ends with "..." where it becomes
// too long.
class TextWriter {
 public:
  void literal(const std::string& text) { before_ += text; }
  // The plain value, as $$parms shows it: structs and arrays as their address.
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
  void pointer(Navigator at, int depth, bool outermost);
  void scalar(Navigator& at, bool with_names);
  void add(TargetText::Item item);
  bool full() const;

  TargetText text_;
  std::string before_;
};

}  // namespace dj
