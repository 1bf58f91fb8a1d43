// One pass over the text: calls, loads of addresses, and jumps that cross a function's border.
#include "arch/x86_64/arrivals.h"

#include <algorithm>
#include <cstring>

namespace dj::arch {
namespace {

constexpr size_t kLongest = 6;  // bytes of the longest form looked for

uint64_t relative(uint64_t end, const uint8_t* at) {
  int32_t value;
  std::memcpy(&value, at, 4);
  return end + uint64_t(int64_t(value));
}

class Finder {
 public:
  Finder(const ModuleText& text, std::span<const FunctionRange> functions, Arrivals& out)
      : immediates_(!text.position_independent), functions_(functions), out_(out) {}

  void scan(const TextRange& range) {
    const uint8_t* bytes = range.bytes.data();
    for (size_t i = 0; i + kLongest <= range.bytes.size(); i++)
      look(bytes + i, range.address + i);
  }

 private:
  void look(const uint8_t* p, uint64_t here) {
    if (immediates_) {
      uint32_t value;
      std::memcpy(&value, p, 4);
      out_.entered.add(value);
    }
    if ((p[0] & 0xf0) == 0x70 || (p[0] & 0xfc) == 0xe0 || p[0] == 0xeb) {
      jump(here, here + 2 + uint64_t(int64_t(int8_t(p[1]))));
    } else if (p[0] == 0xe9) {
      jump(here, relative(here + 5, p + 1));
    } else if (p[0] == 0x0f && (p[1] & 0xf0) == 0x80) {
      jump(here, relative(here + 6, p + 2));
    } else if (p[0] == 0xe8) {
      out_.entered.add(relative(here + 5, p + 1));
    } else if (p[0] == 0x8d && (p[1] & 0xc7) == 0x05) {  // lea displacement(%rip)
      out_.entered.add(relative(here + 6, p + 2));
    }
  }

  void jump(uint64_t at, uint64_t target) {
    while (next_ < functions_.size() && functions_[next_].end <= at) next_++;
    if (next_ < functions_.size()) {
      const FunctionRange& own = functions_[next_];
      if (at >= own.begin && target >= own.begin && target < own.end) return;
    }
    auto other =
        std::upper_bound(functions_.begin(), functions_.end(), target,
                         [](uint64_t address, const FunctionRange& f) { return address < f.begin; });
    if (other != functions_.begin() && target > (--other)->begin && target < other->end)
      out_.jumps.push_back({target, at});
  }

  bool immediates_;
  std::span<const FunctionRange> functions_;
  size_t next_ = 0;  // the first function that ends behind the place looked at
  Arrivals& out_;
};

}  // namespace

std::span<const InwardJump> Arrivals::into(uint64_t begin, uint64_t end) const {
  const auto before = [](const InwardJump& jump, uint64_t address) {
    return jump.target < address;
  };
  const auto first = std::lower_bound(jumps.begin(), jumps.end(), begin, before);
  return {first, std::lower_bound(first, jumps.end(), end, before)};
}

Arrivals find_arrivals(const ModuleText& text, std::span<const FunctionRange> functions) {
  uint64_t low = ~uint64_t(0), high = 0;
  for (const TextRange& range : text.text) {
    low = std::min(low, range.address);
    high = std::max(high, range.address + range.bytes.size());
  }
  Arrivals out{ByteSet(std::min(low, high), high), {}};
  // One Finder each: the functions are walked along with the bytes.
  for (const TextRange& range : text.text) Finder(text, functions, out).scan(range);
  std::sort(out.jumps.begin(), out.jumps.end(),
            [](const InwardJump& a, const InwardJump& b) { return a.target < b.target; });
  return out;
}

}  // namespace dj::arch
