// SPDX-License-Identifier: Apache-2.0
// The scan's inner loop, split over two threads; in blocks it is three times as quick as byte by
// byte.
#include "arch/x86_64/branch_scan.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>

#include "arch/x86_64/scan_blocks.h"
#include "compiler/base/spare_thread.h"

namespace dj::arch {
namespace {

enum Class : uint8_t { None, Rel8, Rel32, TwoByte, LeaByte, XbeginByte, RipByte };

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> classes{};
  for (int op = 0x70; op <= 0x7f; op++) classes[size_t(op)] = Rel8;  // jcc
  for (int op = 0xe0; op <= 0xe3; op++) classes[size_t(op)] = Rel8;  // loop, jrcxz
  classes[0xeb] = Rel8;
  classes[0xe8] = classes[0xe9] = Rel32;
  classes[0x0f] = TwoByte;
  classes[0x8d] = LeaByte;
  classes[0xc7] = XbeginByte;
  for (size_t reg = 0; reg < 8; reg++) classes[0x05 + 8 * reg] = RipByte;  // ModRM
  return classes;
}
constexpr auto kClasses = make_classes();
constexpr size_t kLongestBranch = 6;  // bytes of the longest form looked for
constexpr std::array<uint64_t, 4> kImmediates = {0, 1, 2, 4};  // bytes behind a displacement

struct Piece {
  std::span<const uint8_t> bytes;  // with kLongest more bytes, zeros at the end of a range
  size_t count = 0;
  uint64_t address = 0;
};

int32_t read_rel32(const uint8_t* at) {
  int32_t value;
  std::memcpy(&value, at, 4);
  return value;
}

class Scan {
 public:
  Scan(const Piece& piece, const ByteSet& marked, bool immediates, std::vector<Reference>& found)
      : piece_(piece), marked_(marked), immediates_(immediates), found_(found) {}
  void run() {
    size_t i = 0;
    for (; i + kBlockBytes <= piece_.count; i += kBlockBytes) {
      for (uint32_t left = candidates(&piece_.bytes[i]); left != 0; left &= left - 1)
        look_at(i + size_t(std::countr_zero(left)));
    }
    for (; i < piece_.count; i++) look_at(i);
  }

 private:
  // Bit i: look_at() may find something at bytes[i].
  uint32_t candidates(const uint8_t* bytes) const {
    const Block opcodes = may_refer(bytes);
    return bits(immediates_ ? opcodes | numbers_within(bytes, marked_.low(), marked_.size())
                            : opcodes);
  }
  void look_at(size_t at);

  const Piece& piece_;
  const ByteSet& marked_;
  const bool immediates_;
  std::vector<Reference>& found_;
};

void Scan::look_at(size_t at) {
  const uint8_t* p = &piece_.bytes[at];
  const uint64_t here = piece_.address + at;
  const auto look = [&](Reference::Kind kind, uint64_t target) {
    if (marked_.has(target)) found_.push_back({kind, here, target});
  };
  if (immediates_) look(Reference::Immediate, widened(uint32_t(read_rel32(p)), marked_.low()));
  switch (kClasses[*p]) {
    case None:
      break;
    case Rel8:
      look(Reference::Branch, here + 2 + uint64_t(int64_t(int8_t(p[1]))));
      break;
    case Rel32:
      look(Reference::Branch, here + 5 + uint64_t(int64_t(read_rel32(p + 1))));
      break;
    case TwoByte:
      if ((p[1] & 0xf0) == 0x80)
        look(Reference::Branch, here + 6 + uint64_t(int64_t(read_rel32(p + 2))));
      break;
    case LeaByte:
      if ((p[1] & 0xc7) == 0x05)
        look(Reference::Lea, here + 6 + uint64_t(int64_t(read_rel32(p + 2))));
      break;
    case XbeginByte:
      if (p[1] == 0xf8) look(Reference::Branch, here + 6 + uint64_t(int64_t(read_rel32(p + 2))));
      break;
    case RipByte:
      for (const uint64_t more : kImmediates)
        look(Reference::Data, here + 5 + more + uint64_t(int64_t(read_rel32(p + 1))));
      break;
  }
}

// A range's last bytes have nothing behind them: they are scanned in a copy with zeros added.
void scan_range(const TextRange& range, size_t begin, size_t end, const ByteSet& marked,
                bool immediates, std::vector<Reference>& found) {
  const size_t size = range.bytes.size();
  const size_t safe = std::min(end, size > kLongestBranch ? size - kLongestBranch : 0);
  const std::span<const uint8_t> all = range.bytes;
  if (begin < safe)
    Scan({all.subspan(begin), safe - begin, range.address + begin}, marked, immediates, found)
        .run();
  const size_t tail = std::max(begin, safe);
  if (tail >= end) return;
  std::vector<uint8_t> copy(range.bytes.begin() + std::ptrdiff_t(tail), range.bytes.end());
  copy.resize(copy.size() + kLongestBranch);
  Scan({copy, end - tail, range.address + tail}, marked, immediates, found).run();
}

}  // namespace

std::vector<Reference> scan_references(const ModuleText& text, const ByteSet& marked) {
  std::vector<Reference> found, found_by_other;
  const bool immediates = !text.position_independent;
  for (const TextRange& range : text.text) {
    const size_t half = range.bytes.size() / 2;
    const auto upper = [&] {
      scan_range(range, half, range.bytes.size(), marked, immediates, found_by_other);
    };
    std::optional<SpareThread> other = spare_thread(upper);
    scan_range(range, 0, half, marked, immediates, found);
    if (other)
      other->join();
    else
      upper();
  }
  found.insert(found.end(), found_by_other.begin(), found_by_other.end());
  return found;
}

}  // namespace dj::arch
