// SPDX-License-Identifier: Apache-2.0
// The tree of a pattern: what parse makes and compile walks.
#pragma once
#include <bitset>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/regex/regex.h"

namespace dj::regex {

struct Node;
using NodePtr = std::unique_ptr<Node>;

using Set = std::bitset<256>;
struct Bytes { Set set; };                    // one byte out of a set
struct Begin {};                              // ^
struct End {};                                // $
struct Sequence { std::vector<NodePtr> parts; };
struct Choice { std::vector<NodePtr> parts; };
struct Group { NodePtr inside; unsigned number; };
constexpr unsigned kForever = ~0u;
struct Repeat { NodePtr what; unsigned least, most; };

struct Node {
  std::variant<Bytes, Begin, End, Sequence, Choice, Group, Repeat> node;
};

struct Tree {
  NodePtr root;
  unsigned groups = 1;  // the whole one included
};

std::variant<Tree, RegexMistake> parse(std::string_view pattern);

}  // namespace dj::regex
