// Looks for what leads to each label, in one pass over the bytes of all code.
#include "compiler/debuginfo/untyped.h"

#include <algorithm>

#include "arch/x86_64/reach.h"
#include "compiler/debuginfo/eh_frame.h"

namespace dj {

namespace {

struct Label {
  Symbol symbol;
  bool framed = false, called = false, jumped = false, read = false;
};

bool is_before(const Label& label, uint64_t address) { return label.symbol.address < address; }

// References: adds to each label what the instructions do that name it by a distance.
class References {
 public:
  explicit References(std::vector<Label>& labels) : labels_(labels) {}

  void look_at(Bytes bytes, uint64_t address) {
    constexpr uint8_t kCall = 0xe8, kJump = 0xe9, kTwoBytes = 0x0f, kCondJump = 0x80, kLea = 0x8d;
    for (size_t at = 2; at + sizeof(int32_t) <= bytes.size(); at++) {
      const uint8_t before = bytes[at - 1], first = bytes[at - 2];
      const bool jumps = before == kJump || (first == kTwoBytes && (before & 0xf0) == kCondJump);
      const bool is_operand = (before & 0xc7) == 0x05;  // ModRM: what is so far from rip
      if (before != kCall && !jumps && !is_operand) continue;
      Label* label = label_at(address + at + sizeof(int32_t) +
                              uint64_t(int64_t{read_word<int32_t>(bytes, at)}));
      if (label == nullptr) continue;
      label->called = label->called || before == kCall;
      label->jumped = label->jumped || jumps;
      label->read = label->read || (is_operand && first != kLea);
    }
  }

 private:
  Label* label_at(uint64_t address) {
    if (address < labels_.front().symbol.address || address > labels_.back().symbol.address)
      return nullptr;
    const auto found = std::lower_bound(labels_.begin(), labels_.end(), address, is_before);
    return found->symbol.address == address ? &*found : nullptr;
  }

  std::vector<Label>& labels_;  // sorted; of several at one address the first one is told
};

struct Range {
  uint64_t begin, end;
};

// Of sized functions, sorted by begin, none inside of another.
std::vector<Range> outer_ranges(const std::vector<Symbol>& functions) {
  std::vector<Range> all, outer;
  for (const Symbol& s : functions) {
    if (s.size > 0) all.push_back({s.address, s.address + s.size});
  }
  std::sort(all.begin(), all.end(), [](const Range& a, const Range& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  for (const Range& r : all) {
    if (outer.empty() || r.end > outer.back().end) outer.push_back(r);
  }
  return outer;
}

// Its first byte does not count: there the label is another name.
bool is_inside(const std::vector<Range>& ranges, uint64_t address) {
  const auto next = std::lower_bound(ranges.begin(), ranges.end(), address,
                                     [](const Range& r, uint64_t a) { return r.begin < a; });
  return next != ranges.begin() && address < std::prev(next)->end &&
         (next == ranges.end() || next->begin != address);
}

void look_for_references(const ObjectFile& elf, std::vector<Label>& labels) {
  References references(labels);
  for (const Section& section : elf.sections()) {
    if (section.executable()) references.look_at(section.bytes, section.header.sh_addr);
  }
  for (size_t i = 1; i < labels.size(); i++) {
    const Label& before = labels[i - 1];
    if (before.symbol.address != labels[i].symbol.address) continue;
    labels[i].called = before.called;
    labels[i].jumped = before.jumped;
    labels[i].read = before.read;
  }
}

bool is_function(const ObjectFile& elf, const Label& label) {
  const uint64_t address = label.symbol.address;
  if (label.called || label.framed || elf.header().e_entry == address) return true;
  if (label.symbol.binding == STB_LOCAL) return false;
  return label.jumped || (!label.read && arch::leads_to_an_end(elf.code_at(address), address));
}

}  // namespace

bool may_name_function(std::string_view label) {
  return !label.empty() && label.front() != '.' && label.front() != '$';
}

void add_untyped(const ObjectFile& elf, const std::vector<Symbol>& symbols,
                 std::vector<Symbol>& functions) {
  const std::vector<Range> known = outer_ranges(functions);
  std::vector<Label> labels;
  const FrameSearch frames(elf, symbols.size());
  for (const Symbol& s : symbols) {
    if (is_inside(known, s.address)) continue;
    const std::optional<FrameEntry> frame = frames.from(s.address);
    labels.push_back({.symbol = s, .framed = frame && frame->begins_called});
  }
  if (labels.empty()) return;
  std::stable_sort(labels.begin(), labels.end(),
                   [](const Label& a, const Label& b) { return is_before(a, b.symbol.address); });
  look_for_references(elf, labels);
  for (const Label& label : labels) {
    if (is_function(elf, label)) functions.push_back(label.symbol);
  }
}

}  // namespace dj
