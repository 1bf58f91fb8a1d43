// SPDX-License-Identifier: Apache-2.0
// TypeTable: union-find over the things of a script that have one type each (a variable, a key, a
// result), with the place where each type was first seen.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/stages/program.h"

namespace dj {

using TypeVar = uint32_t;

class TypeTable {
 public:
  // A thing of a type not known yet.
  TypeVar open();
  // A thing of a known type, seen at `evidence`.
  TypeVar known(Type type, Span evidence);

  Type type(TypeVar v) const { return nodes_[find(v)].type; }
  // Where its type was first seen; nullopt while it is unknown.
  std::optional<Span> evidence(TypeVar v) const { return nodes_[find(v)].evidence; }

  // Gives `v` the type, with its evidence; false: it has another one.
  bool set(TypeVar v, Type type, Span evidence);
  // Makes a and b one; false: their types differ (nothing is changed).
  bool join(TypeVar a, TypeVar b);

  // True the first time a conflict over any of these is reported: one cause, one message.
  bool claim_report(TypeVar v);
  bool reported(TypeVar v) const { return nodes_[find(v)].reported; }

 private:
  struct Node {
    mutable TypeVar parent;
    Type type = Type::Unknown;
    std::optional<Span> evidence;
    bool reported = false;
  };
  TypeVar find(TypeVar v) const;
  std::vector<Node> nodes_;
};

}  // namespace dj
