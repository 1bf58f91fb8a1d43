// SPDX-License-Identifier: Apache-2.0
// Union-find with path halving; the class keeps the type, its evidence and whether it was
// complained about.
#include "compiler/check/type_table.h"

namespace dj {

TypeVar TypeTable::open() {
  TypeVar v = static_cast<TypeVar>(nodes_.size());
  nodes_.push_back({v, Type::Unknown, std::nullopt, false});
  return v;
}

TypeVar TypeTable::known(Type type, Span evidence) {
  TypeVar v = open();
  nodes_[v].type = type;
  nodes_[v].evidence = evidence;
  return v;
}

TypeVar TypeTable::find(TypeVar v) const {
  while (nodes_[v].parent != v) {
    nodes_[v].parent = nodes_[nodes_[v].parent].parent;
    v = nodes_[v].parent;
  }
  return v;
}

bool TypeTable::set(TypeVar v, Type type, Span evidence) {
  Node& node = nodes_[find(v)];
  if (node.type == Type::Unknown) {
    node.type = type;
    node.evidence = evidence;
  }
  return node.type == type;
}

bool TypeTable::join(TypeVar a, TypeVar b) {
  a = find(a);
  b = find(b);
  if (a == b) return true;
  Node& into = nodes_[a];
  Node& from = nodes_[b];
  if (into.type != Type::Unknown && from.type != Type::Unknown && into.type != from.type) {
    return false;
  }
  if (into.type == Type::Unknown) {
    into.type = from.type;
    into.evidence = from.evidence;
  }
  into.reported |= from.reported;
  from.parent = a;
  return true;
}

bool TypeTable::claim_report(TypeVar v) {
  Node& node = nodes_[find(v)];
  bool first = !node.reported;
  node.reported = true;
  return first;
}

}  // namespace dj
