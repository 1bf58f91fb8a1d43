// SPDX-License-Identifier: Apache-2.0
// Reads SDT notes and their operands, which are in the assembler's (AT&T) notation.
#include "compiler/debuginfo/sdt.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <sstream>

namespace dj {

namespace {

constexpr uint32_t kStapsdtType = 3;
constexpr int64_t kXmm0 = 17;  // DWARF's number

std::string text_at(Bytes bytes, size_t& at) {
  const size_t begin = std::min(at, bytes.size());
  const char* text = reinterpret_cast<const char*>(bytes.data()) + begin;
  const std::string result(text, ::strnlen(text, bytes.size() - begin));
  at = begin + result.size() + 1;
  return result;
}

// The descriptor: pc, base, semaphore, then three texts. `base` is where .stapsdt.base stood when
// the note was made; all three addresses have moved with it.
SdtMark mark_of(Bytes descriptor, uint64_t base_now) {
  SdtMark mark;
  const uint64_t moved = base_now ? base_now - read_word<uint64_t>(descriptor, 8) : 0;
  mark.address = read_word<uint64_t>(descriptor, 0) + moved;
  mark.semaphore = read_word<uint64_t>(descriptor, 16);
  mark.semaphore += mark.semaphore ? moved : 0;
  size_t at = 24;
  mark.provider = text_at(descriptor, at);
  mark.name = text_at(descriptor, at);
  std::istringstream words(text_at(descriptor, at));
  for (std::string word; words >> word;) {
    mark.operands.push_back(word);
  }
  return mark;
}

struct Register {
  int number = 0;  // DWARF's
  int bytes = 8;
  bool high = false;  // ah, bh, ch, dh
};

std::optional<Register> register_named(std::string_view name) {
  // In DWARF's order.
  constexpr std::array<std::string_view, 8> kLetters = {"a", "d", "c", "b", "si", "di", "bp", "sp"};
  for (int n = 0; n < 8; n++) {
    const std::string base(kLetters[size_t(n)]);
    const std::string word = n < 4 ? base + "x" : base;
    const std::string byte = base + "l";
    if (name == "r" + word) return Register{n, 8};
    if (name == "e" + word) return Register{n, 4};
    if (name == word) return Register{n, 2};
    if (name == byte) return Register{n, 1};
    if (n < 4 && name == base + "h") return Register{n, 1, true};
  }
  int number = 0;
  if (!name.starts_with("r")) {
    return std::nullopt;
  }
  const char* end = name.data() + name.size();
  const auto [rest, status] = std::from_chars(name.data() + 1, end, number);
  const std::string_view suffix(rest, size_t(end - rest));
  if (status != std::errc() || number < 8 || number > 15) {
    return std::nullopt;
  }
  return Register{number, suffix == "d" ? 4 : suffix == "w" ? 2 : suffix == "b" ? 1 : 8};
}

std::optional<int64_t> number_in(std::string_view text) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
  const bool hex = text.starts_with("0x");
  text.remove_prefix(hex ? 2 : 0);
  uint64_t value = 0;
  const auto [rest, status] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (status != std::errc() || rest != text.data() + text.size()) {
    return std::nullopt;
  }
  return negative ? -int64_t(value) : int64_t(value);
}

Error not_understood(const std::string& operand) {
  if (operand.ends_with("(%rip)")) {
    return Error{"its operand " + operand +
                     " names a symbol that the file does not have, or has more than once",
                 Fail::Unsupported};
  }
  return Error{"its operand " + operand + " is of a form that is not built yet", Fail::Unsupported};
}

// disp(base,index,scale): pushes the address; false: not understood.
bool push_address(std::string_view text, LocExpr& out) {
  const size_t open = text.find('(');
  const std::optional<int64_t> displacement =
      open == 0 ? std::optional<int64_t>(0) : number_in(text.substr(0, open));
  if (!displacement) {
    return false;  // a symbol's name: only the linker knew where
  }
  out.steps.push_back({LocStep::PushConst, *displacement});
  if (open == std::string_view::npos) {
    return true;
  }
  if (!text.ends_with(')')) {
    return false;
  }
  std::istringstream parts(std::string(text.substr(open + 1, text.size() - open - 2)));
  int part = 0;
  bool has_index = false;
  for (std::string word; std::getline(parts, word, ','); part++) {
    if (part == 2) {
      const std::optional<int64_t> scale = number_in(word);
      if (!scale || !has_index) return false;
      // The index lies on top of the sum so far.
      out.steps.insert(out.steps.end() - 1, {{LocStep::PushConst, *scale}, {LocStep::Mul}});
      continue;
    }
    if (part > 2) return false;
    has_index = part == 1 && !word.empty();
    if (word.empty()) continue;
    const std::optional<Register> reg = register_named(std::string_view(word).substr(1));
    if (!reg || reg->bytes != 8) return false;
    out.steps.push_back({LocStep::PushReg, reg->number});
    out.steps.push_back({LocStep::Add});
  }
  return true;
}

// "[0x4010]", what stands at an ELF address, or "&[0x4010]", the address (with_addresses).
bool push_symbol(std::string_view place, int bytes, bool is_signed, LocExpr& out) {
  const bool address = place.starts_with('&');
  place.remove_prefix(address ? 2 : 1);
  const std::optional<int64_t> where =
      place.ends_with(']') ? number_in(place.substr(0, place.size() - 1)) : std::nullopt;
  if (!where) return false;
  out.steps = {{LocStep::PushConst, *where}, {LocStep::PushBias}, {LocStep::Add}};
  if (!address) out.steps.push_back({LocStep::Deref, bytes, is_signed});
  return true;
}

// The part behind '@', as a word of `bytes` bytes.
Result<LocExpr> value_of(const std::string& operand, std::string_view place, int bytes,
                         bool is_signed) {
  LocExpr value;
  if (place.starts_with('$')) {
    const std::optional<int64_t> constant = number_in(place.substr(1));
    if (!constant) return not_understood(operand);
    value.steps.push_back({LocStep::PushConst, *constant});
  } else if (place.starts_with('[') || place.starts_with("&[")) {
    if (!push_symbol(place, bytes, is_signed, value)) return not_understood(operand);
  } else if (place.starts_with('%') && place.find(':') == std::string_view::npos) {
    const std::optional<Register> reg = register_named(place.substr(1));
    if (!reg) return not_understood(operand);
    value.steps.push_back({LocStep::PushReg, reg->number});
    if (reg->high) {
      value.steps.push_back({LocStep::PushConst, 8});
      value.steps.push_back({LocStep::Shr});
    }
    if (std::min(bytes, reg->bytes) < 8) {
      value.steps.push_back({LocStep::Extend, std::min(bytes, reg->bytes), is_signed});
    }
  } else {
    if (!push_address(place, value)) return not_understood(operand);
    value.steps.push_back({LocStep::Deref, bytes, is_signed});
  }
  return value;
}

// "8f@%xmm0", "4f@-4(%rbp)": the bits of a double.
Result<LocExpr> double_of(const std::string& operand, std::string_view place, int bytes) {
  if (bytes != 4 && bytes != 8) return not_understood(operand);
  LocExpr value;
  if (place.starts_with("%xmm")) {
    const std::optional<int64_t> number = number_in(place.substr(4));
    if (!number || *number < 0 || *number > 15) return not_understood(operand);
    value.steps.push_back({LocStep::PushReg, kXmm0 + *number});
    if (bytes == 4) value.steps.push_back({LocStep::Extend, 4, 0});
  } else {
    Result<LocExpr> word = value_of(operand, place, bytes, false);
    if (!word.ok()) return word;
    value = word.take();
  }
  if (bytes == 4) value.steps.push_back({LocStep::DoubleOfFloat});
  value.is_double = true;
  return value;
}

}  // namespace

std::vector<SdtMark> read_marks(const ObjectFile& elf) {
  std::vector<SdtMark> marks;
  const Section* notes = elf.section(".note.stapsdt");
  const Section* base = elf.section(".stapsdt.base");
  const uint64_t base_now = base ? base->header.sh_addr : 0;
  auto aligned = [](size_t n) { return (n + 3) & ~size_t{3}; };
  for (size_t at = 0; notes && at + sizeof(Elf64_Nhdr) <= notes->bytes.size();) {
    const Elf64_Nhdr header = {read_word<uint32_t>(notes->bytes, at),
                               read_word<uint32_t>(notes->bytes, at + 4),
                               read_word<uint32_t>(notes->bytes, at + 8)};
    const size_t name = at + sizeof(Elf64_Nhdr);
    const size_t descriptor = name + aligned(header.n_namesz);
    if (descriptor + header.n_descsz > notes->bytes.size()) {
      break;
    }
    if (header.n_type == kStapsdtType) {
      marks.push_back(mark_of(notes->bytes.subspan(descriptor, header.n_descsz), base_now));
    }
    at = descriptor + aligned(header.n_descsz);
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const SdtMark& a, const SdtMark& b) { return a.address < b.address; });
  return marks;
}

Result<LocExpr> operand_value(const std::string& operand, bool* is_signed) {
  const size_t at = operand.find('@');
  *is_signed = true;
  if (at == std::string::npos) {
    return value_of(operand, operand, 8, true);
  }
  std::string_view form = std::string_view(operand).substr(0, at);
  const bool fraction = form.ends_with('f');
  form.remove_suffix(fraction ? 1 : 0);
  const std::optional<int64_t> size = number_in(form);
  if (!size) {
    return not_understood(operand);
  }
  const int64_t bytes = *size < 0 ? -*size : *size;
  if (fraction) {
    return double_of(operand, std::string_view(operand).substr(at + 1), int(bytes));
  }
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return not_understood(operand);
  }
  *is_signed = *size < 0;
  return value_of(operand, std::string_view(operand).substr(at + 1), int(bytes), *is_signed);
}

}  // namespace dj
