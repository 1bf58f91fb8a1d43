// SPDX-License-Identifier: Apache-2.0
// ArenaRef is a word of the arena that refers to another place of the arena by a 32-bit offset from
// the arena's begin. Each process may have the arena at another address, and a process that shares
// it may write any offset: ArenaRef::get() gives an address within the arena for each of them. The
// kinds of words that refer to the arena, and what bounds each:
//
//   ArenaRef<T>      of the constants, which djtap alone writes. get() bounds it by the arena's
//                    bytes. Behind it lie as many T as the constants say.
//   StrWord          of the data: a script's word that holds a string (strings.h). str_at() and the
//                    same arithmetic in generated code (compiler/lower/strings.cpp) bound it by the
//                    range of strings, behind which the longest Str has room.
//   a link, an index of the data: of a node, an entry, a row, a record. Its reader bounds it by the
//                    capacity that the constants say, before it makes an address of it.
//   PrivateRef<T>    of the constants, to private memory behind the arena, which each process has
//                    for itself. djtap alone writes it, so it needs no bound.
//
// Words of private memory are no words of the arena: each process has its own, and they are
// addresses. So are words of the constants that refer to the program's memory.
// An offset of 32 bits reaches 4 GiB. Generated code reaches the arena by 32-bit displacements, so
// a session has 2 GiB at most, private memory included: choose_arena_base() refuses more.
#pragma once
#include <stdint.h>

namespace dj::abi {

// Arena: where this process has it.
struct Arena {
  uint64_t base, bytes;
};

template <typename T>
struct ArenaRef {
  uint32_t offset;  // 0: none; there lies the Header
  T* get(Arena arena) const { return reinterpret_cast<T*>(address(arena)); }
  // The address of what get() gives.
  uint64_t address(Arena arena) const { return arena.base + (offset < arena.bytes ? offset : 0); }
  T* get_or_null(Arena arena) const { return is_set() ? get(arena) : nullptr; }
  bool is_set() const { return offset != 0; }
};

template <typename T>
struct PrivateRef {
  uint32_t offset;  // from the arena's begin; 0: none
  T* get(Arena arena) const { return reinterpret_cast<T*>(address(arena)); }
  T* get_or_null(Arena arena) const { return is_set() ? get(arena) : nullptr; }
  uint64_t address(Arena arena) const { return arena.base + offset; }
  bool is_set() const { return offset != 0; }
};

}  // namespace dj::abi
