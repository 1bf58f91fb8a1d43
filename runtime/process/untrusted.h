// SPDX-License-Identifier: Apache-2.0
// ArenaView is the one way in which djtap reads the arena, memory that a traced program can write
// at any moment. Every read is one copy, and its result is Untrusted until the reader says what it
// must be. Addresses, sizes and counts of what lies in the arena come from djtap's own Layout.
#pragma once
#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace dj {

// Untrusted holds one number that a traced program may have written. It has no conversion: each way
// out names a check, or says that the number needs none.
template <std::integral T>
class Untrusted {
 public:
  explicit constexpr Untrusted(T value) : value_(value) {}
  // An index: empty unless it is less than `bound`.
  constexpr std::optional<T> below(T bound) const {
    return value_ < bound ? std::optional(value_) : std::nullopt;
  }
  // A length or a count, cut to `most`.
  constexpr T at_most(T most) const { return value_ < most ? value_ : most; }
  // A reference: empty unless [value, value + bytes) lies within [begin, end).
  constexpr std::optional<T> within(T begin, T end, T bytes) const {
    const bool fits = value_ >= begin && value_ <= end && end - value_ >= bytes;
    return fits ? std::optional(value_) : std::nullopt;
  }
  // An enumerator: empty unless it is one of 0 .. last.
  template <typename Enum>
  constexpr std::optional<Enum> one_of(Enum last) const {
    if (value_ > static_cast<T>(last)) return std::nullopt;
    return static_cast<Enum>(value_);
  }
  // A value that the reader shows, adds, compares or masks, and never uses as an index, a length,
  // an address or a process's number.
  constexpr T number() const { return value_; }

 private:
  T value_;
};

class ArenaView {
 public:
  // base, bytes: from the Layout, of an arena that djtap has mapped.
  constexpr ArenaView(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) {}
  constexpr uint64_t base() const { return base_; }
  constexpr uint64_t end() const { return base_ + bytes_; }
  constexpr bool has(uint64_t address, uint64_t bytes) const {
    return address >= base_ && bytes <= bytes_ && address - base_ <= bytes_ - bytes;
  }
  // Loads the word at `address` once; gives 0 if it lies outside of the arena or is not aligned.
  template <std::integral T = uint64_t>
  Untrusted<T> word(uint64_t address) const {
    if (!has(address, sizeof(T)) || address % sizeof(T) != 0) return Untrusted<T>(0);
    return Untrusted<T>(__atomic_load_n(reinterpret_cast<const T*>(address), __ATOMIC_ACQUIRE));
  }
  // Copies `bytes` bytes to `to`. False: some lie outside of the arena, and it copies nothing.
  bool copy(uint64_t address, void* to, uint64_t bytes) const {
    if (!has(address, bytes)) return false;
    std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
  // Stores a word that the target may read. Does nothing if it lies outside of the arena or is not
  // aligned.
  template <std::integral T>
  void store(uint64_t address, std::type_identity_t<T> value) const {
    if (!has(address, sizeof(T)) || address % sizeof(T) != 0) return;
    __atomic_store_n(reinterpret_cast<T*>(address), value, __ATOMIC_RELEASE);
  }

 private:
  uint64_t base_, bytes_;
};

}  // namespace dj
