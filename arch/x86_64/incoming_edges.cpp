// SPDX-License-Identifier: Apache-2.0
// One pass over the text: calls, loads of addresses, and jumps that cross a function's border.
#include "arch/x86_64/incoming_edges.h"

#include <algorithm>
#include <cstring>

namespace dj::arch {
namespace {

constexpr size_t kLongestIncoming = 6;  // bytes of the longest form looked for

uint64_t relative(uint64_t end, const uint8_t* at) {
  int32_t value;
  std::memcpy(&value, at, 4);
  return end + uint64_t(int64_t(value));
}

class Finder {
 public:
  Finder(const ModuleText& text, std::span<const FunctionRange> functions, const ByteSet& begins,
         IncomingEdges& out)
      : immediates_(!text.position_independent),
        low_(begins.low()),
        functions_(functions),
        begins_(begins),
        out_(out) {}

  void scan(const TextRange& range) {
    const uint8_t* bytes = range.bytes.data();
    for (size_t i = 0; i + kLongestIncoming <= range.bytes.size(); i++)
      look(bytes + i, range.address + i);
  }

 private:
  void look(const uint8_t* p, uint64_t here) {
    if (immediates_) {
      uint32_t value;
      std::memcpy(&value, p, 4);
      enter({Reference::Immediate, here, widened(value, low_)});
    }
    if ((p[0] & 0xf0) == 0x70 || (p[0] & 0xfc) == 0xe0 || p[0] == 0xeb) {
      jump(here, here + 2 + uint64_t(int64_t(int8_t(p[1]))));
    } else if (p[0] == 0xe9) {
      jump(here, relative(here + 5, p + 1));
    } else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) {
      jump(here, relative(here + 6, p + 2));
    } else if (p[0] == 0xe8) {
      enter({Reference::Branch, here, relative(here + 5, p + 1)});
    } else if (p[0] == 0x8d && (p[1] & 0xc7) == 0x05) {  // lea displacement(%rip)
      enter({Reference::Lea, here, relative(here + 6, p + 2)});
    }
  }

  void enter(const Reference& reference) {
    out_.entered.add(reference.target);
    if (begins_.has(reference.target)) out_.entries.push_back(reference);
  }

  void jump(uint64_t at, uint64_t target) {
    while (next_ < functions_.size() && functions_[next_].end <= at) next_++;
    if (next_ < functions_.size()) {
      const FunctionRange& own = functions_[next_];
      if (at >= own.begin && target >= own.begin && target < own.end) return;
    }
    auto other = std::upper_bound(
        functions_.begin(), functions_.end(), target,
        [](uint64_t address, const FunctionRange& f) { return address < f.begin; });
    if (other != functions_.begin() && target < std::prev(other)->end)
      out_.jumps.push_back({Reference::Branch, at, target});
  }

  bool immediates_;
  uint64_t low_;
  std::span<const FunctionRange> functions_;
  size_t next_ = 0;  // the first function that ends behind the place looked at
  const ByteSet& begins_;
  IncomingEdges& out_;
};

}  // namespace

std::span<const Reference> IncomingEdges::into(const std::vector<Reference>& list, uint64_t begin,
                                               uint64_t end) {
  const auto before = [](const Reference& reference, uint64_t address) {
    return reference.target < address;
  };
  const auto first = std::lower_bound(list.begin(), list.end(), begin, before);
  return {first, std::lower_bound(first, list.end(), end, before)};
}

IncomingEdges find_incoming_edges(const ModuleText& text, std::span<const FunctionRange> functions,
                                  const std::vector<uint64_t>& begins) {
  uint64_t low = ~uint64_t(0), high = 0;
  for (const TextRange& range : text.text) {
    low = std::min(low, range.address);
    high = std::max(high, range.address + range.bytes.size());
  }
  ByteSet starts(std::min(low, high), high);
  for (const uint64_t begin : begins) starts.add(begin);
  IncomingEdges out{ByteSet(std::min(low, high), high), {}, {}};
  // One Finder each: the functions are walked along with the bytes.
  for (const TextRange& range : text.text) Finder(text, functions, starts, out).scan(range);
  for (std::vector<Reference>* list : {&out.entries, &out.jumps}) {
    std::sort(list->begin(), list->end(),
              [](const Reference& a, const Reference& b) { return a.target < b.target; });
  }
  return out;
}

}  // namespace dj::arch
