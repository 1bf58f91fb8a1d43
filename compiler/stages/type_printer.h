// SPDX-License-Identifier: Apache-2.0
// TypePrinter: how $x$ shows values of some types: a read plan that a Lua tapset wrote once. Plain
// data between runtime/lua, which writes it, and compiler/debuginfo, which follows it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace dj {

// One step of a computation on the printed value. left and right: indices in TypePrinters::nodes.
struct PrintNode {
  enum Op : uint8_t {
    Self,      // the value
    Field,     // member `name` of left, through pointers
    Element,   // left[number]
    Cast,      // what lies at left (pointer: what it points to), as the type `name`
    Base,      // the base class of left, or of one of its bases, whose name fits the pattern `name`
    Argument,  // left taken for the type that is the `number`th argument of its template, from 1
    At,        // what lies at the address left, of the type of right
    Count,    // how many nodes come from the one at address left up to address right, each of which
              // begins with the next one's address; `number`: so many or more
    Address,  // of left
    Size,     // bytes of left's type
    Constant,  // number
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    Shl,
    Shr,  // Div, Mod: by what is known before
    Eq,
    Lt,
  } op = Self;
  uint32_t left = 0, right = 0;
  int64_t number = 0;
  std::string name;
};

// One part of the text.
struct PrintPiece {
  enum Kind : uint8_t {
    Literal,  // text
    Value,    // node as its type shows
    Number,
    Hex,
    Text,  // "abc": the bytes at address node, `other` of them, or up to a NUL
    When,  // node not 0: pieces; else `others`
    Each,  // elements 0.. of node, `other` of them, at most limit
  } kind = Literal;
  std::string text;
  uint32_t node = 0, other = 0;
  bool has_other = false;  // Text
  uint32_t limit = 0;
  std::vector<PrintPiece> pieces, others;
};

struct TypePrinter {
  std::string pattern;  // of the type's name without namespaces; wildcards * and ?
  std::vector<PrintPiece> pieces;
};

struct TypePrinters {
  std::vector<PrintNode> nodes;
  std::vector<TypePrinter> rows;  // the first that fits counts
};

}  // namespace dj
