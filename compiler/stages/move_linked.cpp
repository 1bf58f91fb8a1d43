// SPDX-License-Identifier: Apache-2.0
// Addresses of the code itself grow as the base does; distances to what stays shrink.
#include "compiler/stages/move_linked.h"

#include <algorithm>
#include <cstring>

namespace dj {
namespace {

template <typename Number>
bool move_number(uint8_t* at, uint64_t by) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  const int64_t wide = static_cast<int64_t>(static_cast<uint64_t>(int64_t{number}) + by);
  number = static_cast<Number>(wide);
  std::memcpy(at, &number, sizeof number);
  return number == wide;
}

}  // namespace

bool move_linked(std::span<uint8_t> bytes, const std::vector<CodeMove>& moves, uint64_t base,
                 uint64_t to) {
  return std::ranges::all_of(moves, [&](const CodeMove& move) {
    const uint64_t by = move.grows ? to - base : base - to;
    uint8_t* const at = &bytes[move.offset];
    return move.is_wide ? move_number<int64_t>(at, by) : move_number<int32_t>(at, by);
  });
}

Linked moved(const Linked& linked, uint64_t base, uint64_t to) {
  Linked copy = linked;
  for (auto& [name, address] : copy.symbols) address += to - base;
  for (uint64_t& handler : copy.handlers) handler += to - base;
  return copy;
}

}  // namespace dj
