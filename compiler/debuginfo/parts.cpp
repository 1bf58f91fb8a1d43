// SPDX-License-Identifier: Apache-2.0
// Tells parts of functions from functions, by name, by their jumps and by .eh_frame.
#include "compiler/debuginfo/parts.h"

#include <algorithm>

#include "arch/x86_64/calls.h"
#include "compiler/debuginfo/eh_frame.h"
#include "compiler/debuginfo/pattern.h"

namespace dj {

bool Parts::has(uint64_t begin, uint64_t end, std::string_view symbol) {
  return !whole(begin, end, symbol).empty() || begins_in_frame(begin);
}

bool Parts::begins_in_frame(uint64_t address) {
  constexpr size_t kMany = 64;  // a look-up takes 0.3 us, all entries of a large program 5 ms
  const auto is_in_frame = [](const FrameEntry& entry) {
    return !entry.begins_called && !entry.repeats_cfa;
  };
  if (frames_asked_++ < kMany) {
    const std::optional<FrameEntry> entry = frame_from(elf_, address);
    return entry && is_in_frame(*entry);
  }
  if (frames_asked_ == kMany + 1) {
    for (const FrameEntry& entry : read_frames(elf_)) {
      if (is_in_frame(entry)) in_frame_.push_back(entry.begin);
    }
    std::sort(in_frame_.begin(), in_frame_.end());
  }
  return std::binary_search(in_frame_.begin(), in_frame_.end(), address);
}

std::string_view Parts::whole(uint64_t begin, uint64_t end, std::string_view symbol) {
  if (symbol.find('.') == std::string_view::npos) return {};
  if (const std::string_view name = whole_of(symbol); !name.empty()) return name;
  if (plain_symbol(symbol) != symbol) return {};   // a copy
  if (symbol.starts_with("_GLOBAL__")) return {};  // constructors of a file, by its name
  const auto code = [&](uint64_t from, uint64_t to) {
    const Bytes bytes = elf_.at(from);
    return bytes.first(std::min<size_t>(bytes.size(), to - from));
  };
  for (size_t dot = symbol.rfind('.'); dot != std::string_view::npos && dot != 0;
       dot = symbol.rfind('.', dot - 1)) {
    const std::string_view name = symbol.substr(0, dot);
    const Code* f = named(name);
    const bool is_one = f != nullptr && arch::is_one_function(code(f->begin, f->end), f->begin,
                                                              code(begin, end), begin);
    if (is_one) return name;
  }
  return {};
}

const Parts::Code* Parts::named(std::string_view name) {
  if (!by_name_) {
    by_name_.emplace();
    for (const Symbol& s : symbols_.functions) {
      if (s.size != 0) by_name_->try_emplace(s.name, Code{s.address, s.address + s.size});
    }
  }
  const auto found = by_name_->find(name);
  return found != by_name_->end() ? &found->second : nullptr;
}

}  // namespace dj
