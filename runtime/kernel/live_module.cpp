// SPDX-License-Identifier: Apache-2.0
// The kernel says where a module's sections begin, and not where they end: each ends where the next
// one begins, or where its memory has an empty page.
#include "runtime/kernel/live_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "compiler/base/page.h"
#include "runtime/kernel/elf_builder.h"
#include "runtime/kernel/kernel_file.h"
#include "runtime/kernel/kernel_text.h"

namespace dj {

namespace {

constexpr uint64_t kMostSectionBytes = 64 << 20;  // the largest modules have some megabytes
constexpr const char* kTables[] = {"__ex_table",  "__jump_table", ".static_call_sites",
                                   "__bug_table", "__ksymtab",    "__ksymtab_gpl",
                                   ".rodata"};

bool is_text(const std::string& section) {
  const bool names_text = section.starts_with(".text") || section.ends_with(".text") ||
                          section.find(".text.") != std::string::npos;
  return names_text && !section.starts_with(".init");
}

class LiveModule {
 public:
  LiveModule(const std::string& folder, const std::string& name, const KernelSymbols& symbols,
             const KernelMemory& memory)
      : folder_(folder), symbols_(symbols), memory_(memory) {
    for (const KernelSymbol& symbol : symbols.of_modules())
      (symbol.module == name ? own_ : others_).push_back(symbol);
  }

  Result<std::vector<uint8_t>> write() {
    DJ_TRY_DO(read_sections());
    DJ_TRY_DO(read_text());
    ElfBuilder elf(1);
    std::ranges::copy(text_, elf.add(".text", begin_, text_.size(), true).begin());
    add_kernel_functions(own_, begin_, text_, begins_, elf);
    add_outside(elf);
    for (const char* table : kTables) {
      const auto section = sections_.find(table);
      if (section == sections_.end()) continue;
      const uint64_t begin = section->second, end = end_of(begin, next_section(begin));
      DJ_TRY_DO(memory_.read(begin, elf.add_apart(table, begin, end - begin)));
    }
    // A module that was linked without a build-id has no such file.
    const auto id = read_kernel_file(folder_ + "/notes/.note.gnu.build-id");
    if (id.ok()) elf.add_notes(id.value());
    return elf.finish();
  }

 private:
  Status read_sections() {
    std::error_code error;  // the module may be removed meanwhile
    std::filesystem::directory_iterator file(folder_ + "/sections", error);
    for (; !error && file != end(file); file.increment(error)) {
      const std::filesystem::path& path = file->path();
      DJ_TRY(const std::vector<char> line, read_kernel_file(path));
      const std::string_view digits(line.data(), line.size());
      uint64_t address = 0;
      if (digits.starts_with("0x"))
        std::from_chars(digits.data() + 2, digits.data() + digits.size(), address, 16);
      if (address == 0) return Error{fmt::format("{} holds no address", path.native())};
      sections_[path.filename()] = address;
      begins_.push_back(address);
    }
    if (error) return cannot_read(folder_ + "/sections", error.value());
    std::ranges::sort(begins_);
    return ok_status();
  }

  uint64_t next_section(uint64_t begin) const {
    const auto next = std::ranges::upper_bound(begins_, begin);
    return next != begins_.end() ? *next : ~uint64_t{0};
  }

  // Where memory ends that has `from`: before `limit`, another module, or an empty page.
  uint64_t end_of(uint64_t from, uint64_t limit) const {
    const auto other = std::ranges::upper_bound(others_, from, {}, &KernelSymbol::address);
    if (other != others_.end()) limit = std::min(limit, other->address);
    limit = std::min(limit, from + kMostSectionBytes);
    for (uint64_t at = page_up(from + 1); at < limit; at += kPage) {
      std::vector<uint8_t> page(kPage);
      const auto is_first = [&](uint8_t byte) { return byte == page[0]; };
      if (!memory_.read(at, page).ok() || std::ranges::all_of(page, is_first)) return at;
    }
    return limit;
  }

  // From the first section of text to the end of the last: they lie behind each other. Sections of
  // the module's start are not there any more.
  Status read_text() {
    uint64_t last = 0;
    begin_ = ~uint64_t{0};
    for (const auto& [name, address] : sections_) {
      if (!is_text(name)) continue;
      begin_ = std::min(begin_, address);
      last = std::max(last, address);
    }
    if (last == 0) return Error{folder_ + " has no text", Fail::NotFound};
    const uint64_t end = end_of(last, next_section(last));
    if (end - begin_ > kMostSectionBytes)
      return Error{fmt::format("{} has text from {:#x} to {:#x}", folder_, begin_, end)};
    text_.resize(end - begin_);
    DJ_TRY_DO(read_kernel_text(memory_, begin_, text_));
    while (!text_.empty() && text_.back() == 0) text_.pop_back();
    return ok_status();
  }

  // Functions of the kernel and of other modules that a jump may lead to. Bytes that only look like
  // a jump add some that no code means.
  void add_outside(ElfBuilder& elf) const {
    constexpr uint64_t kRel32 = 4;
    std::vector<uint64_t> targets;
    for (size_t i = 1; i + kRel32 < text_.size(); i++) {
      const bool jumps = text_[i] == 0xe9 || (text_[i - 1] == 0x0f && (text_[i] & 0xf0) == 0x80);
      if (!jumps) continue;
      int32_t distance = 0;
      memcpy(&distance, &text_[i + 1], kRel32);
      const uint64_t target = begin_ + i + 1 + kRel32 + uint64_t(int64_t{distance});
      if (target - begin_ >= text_.size()) targets.push_back(target);
    }
    std::ranges::sort(targets);
    const auto gone = std::ranges::unique(targets);
    targets.erase(gone.begin(), gone.end());
    for (const auto* symbols : {&symbols_.all(), &others_}) {
      for (const uint64_t target : targets) {
        for (const KernelSymbol& s :
             std::ranges::equal_range(*symbols, target, {}, &KernelSymbol::address)) {
          if (s.is_text() && !s.is_bound()) elf.add_function_outside(target, s.name);
        }
      }
    }
  }

  std::string folder_;
  const KernelSymbols& symbols_;
  const KernelMemory& memory_;
  std::vector<KernelSymbol> own_, others_;  // of modules; sorted by address
  std::map<std::string, uint64_t> sections_;
  std::vector<uint64_t> begins_;  // of sections; sorted
  uint64_t begin_ = 0;
  std::vector<uint8_t> text_;  // at begin_
};

}  // namespace

Result<std::vector<uint8_t>> write_live_module(const std::string& folder, const std::string& name,
                                               const KernelSymbols& symbols,
                                               const KernelMemory& memory) {
  return LiveModule(folder, name, symbols, memory).write();
}

}  // namespace dj
