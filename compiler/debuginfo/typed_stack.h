// SPDX-License-Identifier: Apache-2.0
// TypedStack: what a DWARF expression has computed so far, and which type each word of it has.
// Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/location.h"

namespace dj {

// The type of a word on the stack (DWARF 5, 2.5.1.4).
struct WordType {
  // Address: the "generic type", which is divided and ordered as if it had a sign, but whose
  // remainders are those of words without one. Half, Float: kept as the same number's double.
  // Extended: the x87's 80 bits; Quad: IEEE's 128.
  enum Kind : uint8_t { Address, Integer, Half, Float, Double, Extended, Quad } kind = Address;
  uint8_t bytes = 8;       // Integer: 1 to 8, kept extended to a word; 16 of it, Extended and Quad
  bool is_signed = false;  // Integer
  bool floating() const { return kind >= Half; }
  bool wide() const { return bytes == 16; }
  int64_t bytes_in_memory() const { return kind == Float ? 4 : kind == Half ? 2 : bytes; }
  NumberForm form() const;  // as it is kept
  bool operator==(const WordType&) const = default;
};

// The type of words that a base type's DIE describes; the error says why there is none.
Result<WordType> word_type(Dwarf_Die* base_type);

class TypedStack {
 public:
  LocExpr expr;  // leaves words().size() words

  const std::vector<WordType>& words() const { return words_; }
  // For labels: what the stack is when one is reached by a jump.
  void set_words(std::vector<WordType> words) { words_ = std::move(words); }

  // The error: there are not so many words.
  Status need(size_t words) const;
  // One word more: what the step, or the steps of a whole value, leave.
  void push(LocStep step);
  void push(const std::vector<LocStep>& value);
  // Takes the word on top away, for a jump that depends on it.
  Status pop();
  // "+ n" (DW_OP_plus_uconst).
  Status add(int64_t n);
  // The two words on top, the lower one first, become a wide one.
  Status join();
  // Reads `bytes` (1, 2, 4, 8, 16) where the word on top points to.
  Status deref(int64_t bytes);
  // DW_OP_pick: the word so many below the top.
  Status pick(uint64_t depth);
  // DW_OP_dup .. DW_OP_rot, arithmetic and comparisons. False: another operation.
  Result<bool> operation(uint8_t atom);

  // The word on top is the bytes of a value of this type: from here on it is that value.
  Status read_as(WordType type);
  Status convert(WordType type);      // the same number
  Status reinterpret(WordType type);  // the same bytes
  // The word on top becomes the bytes of its value, as in memory.
  void as_bytes();
  bool ends_wide() const { return !words_.empty() && words_.back().wide(); }

 private:
  Status shuffle(uint8_t atom);
  Status unary(uint8_t atom);
  void wide_sign(uint8_t atom);
  Status binary(LocStep::Op op);
  Status shift(LocStep::Op op);
  // Cuts the word on top to what its type can hold.
  void fit();
  void round_to(WordType::Kind kind);
  void wide_step(LocStep::Op op, WordType type);
  // Makes a wide word of the one on top, which is of type `from`.
  void widen(WordType from, WordType to);
  void step(LocStep::Op op, int64_t a = 0, int64_t b = 0) { expr.steps.push_back({op, a, b}); }
  WordType& top() { return words_.back(); }

  std::vector<WordType> words_;
};

}  // namespace dj
