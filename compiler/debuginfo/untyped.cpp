// SPDX-License-Identifier: Apache-2.0
// Looks for what leads to each label, in one pass over the bytes of all code.
#include "compiler/debuginfo/untyped.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/reach.h"
#include "compiler/debuginfo/eh_frame.h"

namespace dj {

namespace {

struct CodeLabel {
  Symbol symbol;
  bool framed = false, called = false, jumped = false, read = false;
};

bool starts_before(const CodeLabel& label, uint64_t address) {
  return label.symbol.address < address;
}

// References: adds to each label what the instructions do that name it by a distance.
class References {
 public:
  explicit References(std::vector<CodeLabel>& labels) : labels_(labels) {}

  // Nearly all that stands in the code is no distance to the labels, which are close together.
  void look_at(Bytes bytes, uint64_t address) {
    const uint64_t lowest = labels_.front().symbol.address;
    const uint64_t room = labels_.back().symbol.address - lowest;
    for (size_t at = 2; at + sizeof(int32_t) <= bytes.size(); at++) {
      int32_t distance;
      std::memcpy(&distance, &bytes[at], sizeof distance);
      const uint64_t target = address + at + sizeof distance + uint64_t(int64_t{distance});
      if (target - lowest <= room) look_closer(bytes[at - 2], bytes[at - 1], target);
    }
  }

 private:
  // At two bytes of code behind which the distance to `target` stands.
  void look_closer(uint8_t first, uint8_t before, uint64_t target) {
    constexpr uint8_t kCall = 0xe8, kJump = 0xe9, kTwoBytes = 0x0f, kCondJump = 0x80, kLea = 0x8d;
    const bool jumps = before == kJump || (first == kTwoBytes && (before & 0xf0) == kCondJump);
    const bool is_operand = (before & 0xc7) == 0x05;  // ModRM: what is so far from rip
    if (before != kCall && !jumps && !is_operand) return;
    CodeLabel* label = label_at(target);
    if (label == nullptr) return;
    label->called = label->called || before == kCall;
    label->jumped = label->jumped || jumps;
    label->read = label->read || (is_operand && first != kLea);
  }

  CodeLabel* label_at(uint64_t address) {
    const auto found = std::lower_bound(labels_.begin(), labels_.end(), address, starts_before);
    return found->symbol.address == address ? &*found : nullptr;
  }

  std::vector<CodeLabel>& labels_;  // sorted; of several at one address the first one is told
};

// Labels inside of sized functions, whose first byte does not count: there the label is another
// name.
void drop_inner(const std::vector<Symbol>& functions, std::vector<CodeLabel>& labels) {
  std::vector<bool> inner(labels.size());
  for (const Symbol& s : functions) {
    if (s.size == 0) continue;
    auto at = std::lower_bound(labels.begin(), labels.end(), s.address + 1, starts_before);
    for (; at != labels.end() && at->symbol.address < s.address + s.size; ++at)
      inner[size_t(at - labels.begin())] = true;
  }
  size_t i = 0;
  std::erase_if(labels, [&](const CodeLabel&) { return inner[i++]; });
}

struct Near {
  uint64_t begin, end;
};

// Where the code is that may name the labels. That of local ones was assembled together with them,
// and the linker keeps it together.
std::vector<Near> namers(const std::vector<CodeLabel>& labels) {
  constexpr uint64_t kNear = 1 << 20;
  std::vector<Near> ranges;
  for (const CodeLabel& label : labels) {
    if (label.symbol.binding != STB_LOCAL) return {{0, ~uint64_t{0}}};
    const uint64_t address = label.symbol.address;
    const Near near = {address - std::min(address, kNear), address + kNear};
    if (ranges.empty() || ranges.back().end < near.begin) {
      ranges.push_back(near);
    } else {
      ranges.back().end = near.end;
    }
  }
  return ranges;
}

void look_for_references(const ObjectFile& elf, std::vector<CodeLabel>& labels) {
  References references(labels);
  const std::vector<Near> ranges = namers(labels);
  for (const Section& section : elf.sections()) {
    if (!section.executable()) continue;
    const uint64_t first = section.header.sh_addr, end = first + section.bytes.size();
    for (const Near& range : ranges) {
      const uint64_t from = std::max(first, range.begin), to = std::min(end, range.end);
      if (from < to) references.look_at(section.bytes.subspan(from - first, to - from), from);
    }
  }
  for (size_t i = 1; i < labels.size(); i++) {
    const CodeLabel& before = labels[i - 1];
    if (before.symbol.address != labels[i].symbol.address) continue;
    labels[i].called = before.called;
    labels[i].jumped = before.jumped;
    labels[i].read = before.read;
  }
}

bool is_function(const ObjectFile& elf, const CodeLabel& label) {
  const uint64_t address = label.symbol.address;
  if (label.called || label.framed || elf.header().e_entry == address) return true;
  if (label.symbol.binding == STB_LOCAL) return false;
  return label.jumped || (!label.read && arch::leads_to_an_end(elf.code_at(address), address));
}

}  // namespace

bool may_name_function(std::string_view label) {
  // The linker's names for where sections begin and end.
  const bool is_border =
      label.starts_with("__start_") || label.starts_with("__stop_") || label.ends_with("etext");
  return !label.empty() && label.front() != '.' && label.front() != '$' && !is_border;
}

void add_untyped(const ObjectFile& elf, const std::vector<Symbol>& symbols,
                 std::vector<Symbol>& functions) {
  if (symbols.empty()) return;
  std::vector<CodeLabel> labels;
  for (const Symbol& s : symbols) labels.push_back({.symbol = s});
  std::stable_sort(labels.begin(), labels.end(), [](const CodeLabel& a, const CodeLabel& b) {
    return starts_before(a, b.symbol.address);
  });
  drop_inner(functions, labels);
  if (labels.empty()) return;
  const FrameSearch frames(elf, labels.size());
  for (CodeLabel& label : labels) {
    const std::optional<FrameEntry> frame = frames.from(label.symbol.address);
    label.framed = frame && frame->begins_called;
  }
  look_for_references(elf, labels);
  for (const CodeLabel& label : labels) {
    if (is_function(elf, label)) functions.push_back(label.symbol);
  }
}

}  // namespace dj
