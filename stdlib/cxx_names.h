// SPDX-License-Identifier: Apache-2.0
// cxx_names.h defines the nodes of a C++ type's name: cxx_reader.cpp makes them of what
// typeid(x).name() gives (Itanium C++ ABI, 5.1 "External names"), cxx_writer.cpp writes them as a
// person would.
#pragma once
#include <stdint.h>

namespace dj::cxx {

enum class Kind : uint8_t {
  Text,       // bytes a .. a + b of the name; mark '~': a destructor
  Word,       // kWords[a]
  Scope,      // a::b
  Instance,   // a<b>, b a List
  List,       // a, then the list b
  Modified,   // type a with `mark` behind it
  Array,      // elements of type a, bounds b (Text, or 0)
  Function,   // returns a (0: not said), parameters b; mark: what stands behind them
  Member,     // member of class a, of type b
  Number,     // of type a, digits b (Text); mark '-': negative
  Anonymous,  // {lambda(a)#mark} or, a 0, {unnamed type#mark}
  Entity      // function named a, its type b: a local class's scope
};

// Behind a type.
enum Mark : uint16_t {
  kPointer = 1,
  kReference = 2,
  kMoved = 4,
  kConst = 8,
  kVolatile = 16,
  kRestrict = 32,
  kNoexcept = 64
};

// Indices are of nodes; 0 is none.
struct Node {
  Kind kind;
  uint16_t mark;
  uint16_t a, b;
};

struct Word {
  char code[3];   // as in the name
  char text[24];  // as one writes it
};
// kBuiltinTypes built-in types, what begins with S up to kLibraryWords, and operator().
extern const Word kWords[];
constexpr uint16_t kBuiltinTypes = 29, kLibraryWords = 36;

constexpr uint16_t kMostNodes = 2048;

struct Name {
  const char* text;
  uint32_t length;
  Node* nodes;  // 0 is not used
  uint16_t room;
};

// The node of the whole name; 0: it is no type, or of a form that is not known, or does not fit.
uint16_t read_type(const Name& name);

// Writes it to `out`, at most `room` bytes; returns how many there would be.
uint32_t write_type(const Name& name, uint16_t node, char* out, uint32_t room);

}  // namespace dj::cxx
