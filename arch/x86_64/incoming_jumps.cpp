// SPDX-License-Identifier: Apache-2.0
// Found by their bytes at every offset; what is none of them shows when its function is decoded.
#include "arch/x86_64/incoming_jumps.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/module.h"
#include "arch/x86_64/safety.h"

namespace dj::arch {
namespace {

constexpr uint8_t kJmp = 0xe9, kShortJmp = 0xeb, kTwoBytes = 0x0f;
constexpr size_t kLongestLookAlike = 6;  // bytes of the longest form looked for

bool is_near_jcc(const uint8_t* bytes) {
  return bytes[0] == kTwoBytes && (bytes[1] & 0xf0) == 0x80;
}

uint64_t near_target(const uint8_t* displacement, uint64_t end) {
  int32_t distance;
  std::memcpy(&distance, displacement, sizeof distance);
  return end + static_cast<uint64_t>(int64_t{distance});
}

// Where the bytes lead if they are one of these jumps. `bytes`: kLongest of them.
std::optional<uint64_t> target_of(const uint8_t* bytes, uint64_t address) {
  if (bytes[0] == kJmp) return near_target(bytes + 1, address + 5);
  if (is_near_jcc(bytes)) return near_target(bytes + 2, address + 6);
  if (bytes[0] == kShortJmp) {
    return address + 2 + static_cast<uint64_t>(int64_t{static_cast<int8_t>(bytes[1])});
  }
  return std::nullopt;
}

std::vector<IncomingJump> look_alikes(const ModuleText& text,
                                      const std::vector<uint64_t>& targets) {
  std::vector<IncomingJump> found;
  for (const TextRange& range : text.text) {
    for (size_t i = 0; i + kLongestLookAlike <= range.bytes.size(); i++) {
      const std::optional<uint64_t> target = target_of(&range.bytes[i], range.address + i);
      if (target && std::binary_search(targets.begin(), targets.end(), *target))
        found.push_back({range.address + i, *target, 0});
    }
  }
  return found;
}

// An instruction of the function that it is in.
bool is_real(const Module& module, const IncomingJump& jump) {
  const FunctionRange* range = module.function_at(jump.address);
  return range != nullptr && module.decode(*range).find(jump.address) != Function::kNone;
}

}  // namespace

std::vector<IncomingJump> incoming_jumps(const ModuleText& text,
                                         const std::vector<uint64_t>& targets) {
  std::vector<IncomingJump> found = look_alikes(text, targets);
  if (found.empty()) return found;
  const Module module(text);
  std::erase_if(found, [&](const IncomingJump& jump) { return !is_real(module, jump); });
  std::vector<Region> regions(found.size());
  for (size_t i = 0; i < found.size(); i++) regions[i].address = found[i].address;
  // They ask what a jump probe there would: nobody arrives in these bytes.
  Checker(text).check_alone(regions, Guards::None);
  for (size_t i = 0; i < found.size(); i++) {
    const Region& region = regions[i];
    const bool alone = region.first + region.padding >= region.length;
    if (region.verdict == Verdict::Ok && alone) found[i].length = region.length;
  }
  std::erase_if(found, [](const IncomingJump& jump) { return jump.length == 0; });
  return found;
}

std::optional<JumpBytes> led_elsewhere(std::span<const uint8_t> original, uint64_t address,
                                       uint64_t target) {
  JumpBytes bytes;
  if (is_near_jcc(original.data())) bytes.push_back(kTwoBytes);
  bytes.push_back(bytes.empty() ? kJmp : original[1]);
  const auto distance = static_cast<int64_t>(target - (address + bytes.size() + 4));
  const auto displacement = static_cast<int32_t>(distance);
  if (displacement != distance) return std::nullopt;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(displacement) >> shift));
  }
  return bytes;
}

}  // namespace dj::arch
