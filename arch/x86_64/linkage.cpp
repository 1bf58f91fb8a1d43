// SPDX-License-Identifier: Apache-2.0
// Scans for byte patterns first, which is quick, and decodes only functions where one was found.
#include "arch/x86_64/linkage.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/decode.h"
#include "compiler/base/page.h"

namespace dj::arch {
namespace {

constexpr BytePair kJumpByWord = {0xff, 0x25};  // jmp *disp32(%rip)
constexpr size_t kJumpByWordBytes = 6;
constexpr uint8_t kBndPrefix = 0xf2;

uint64_t word_at(const uint8_t* displacement, uint64_t end) {
  int32_t value;
  std::memcpy(&value, displacement, sizeof value);
  return end + uint64_t(int64_t(value));
}

// The offset where the stub begins whose jump stands at `at`.
size_t stub_begin(std::span<const uint8_t> bytes, size_t at) {
  if (at > 0 && bytes[at - 1] == kBndPrefix) at--;
  const size_t endbr = kEndbr64.size();
  const bool marked = at >= endbr && std::memcmp(&bytes[at - endbr], kEndbr64.data(), endbr) == 0;
  return marked ? at - endbr : at;
}

}  // namespace

std::vector<LinkageStub> linkage_stubs(const std::vector<TextRange>& text,
                                       const std::vector<uint64_t>& words) {
  std::vector<LinkageStub> stubs;
  for (const TextRange& range : text) {
    for (const size_t at : find_pairs(range.bytes, kJumpByWord)) {
      if (at + kJumpByWordBytes > range.bytes.size()) break;
      const uint64_t word = word_at(&range.bytes[at + 2], range.address + at + kJumpByWordBytes);
      if (!std::binary_search(words.begin(), words.end(), word)) continue;
      stubs.push_back({range.address + stub_begin(range.bytes, at), word});
    }
  }
  return stubs;
}

std::vector<Reference> near_branches(std::span<const uint8_t> bytes, uint64_t address,
                                     const std::vector<uint64_t>& targets) {
  std::vector<Reference> found;
  if (targets.empty()) return found;
  const uint64_t lowest = targets.front(), room = targets.back() - lowest;
  for (size_t i = 0; i + kNearBranchBytes <= bytes.size(); i++) {
    if ((bytes[i] & 0xfe) != 0xe8) continue;
    const uint64_t target = word_at(&bytes[i + 1], address + i + kNearBranchBytes);
    if (target - lowest > room || !std::binary_search(targets.begin(), targets.end(), target))
      continue;
    found.push_back({Reference::Branch, address + i, target});
  }
  return found;
}

std::vector<Reference> real_branches(const Module& module, const std::vector<Reference>& found) {
  std::vector<Reference> real;
  const FunctionRange* range = nullptr;
  Function function;
  for (const Reference& branch : found) {
    if (range == nullptr || branch.at >= range->end) {
      range = module.function_at(branch.at);
      if (range == nullptr) continue;
      function = module.decode(*range);
    }
    const bool within_page = branch.at / kPage == (branch.at + kNearBranchBytes - 1) / kPage;
    if (within_page && function.find(branch.at) != Function::kNone) real.push_back(branch);
  }
  return real;
}

}  // namespace dj::arch
