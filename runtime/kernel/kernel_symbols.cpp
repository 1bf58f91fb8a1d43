// SPDX-License-Identifier: Apache-2.0
// Lines of the list are "ADDRESS TYPE NAME", and a tab and "[MODULE]" for those of a module.
#include "runtime/kernel/kernel_symbols.h"

#include <algorithm>
#include <charconv>

#include "runtime/kernel/kernel_file.h"

namespace dj {

namespace {

// Takes the text up to the separator, and the separator.
std::string_view take_word(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view word = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return word;
}

std::optional<KernelSymbol> parse_line(std::string_view line) {
  const std::string_view address = take_word(line, ' '), type = take_word(line, ' ');
  const std::string_view name = take_word(line, '\t');
  KernelSymbol symbol{0, type.empty() ? '\0' : type[0], name, line};
  if (line.starts_with('[') && line.ends_with(']')) symbol.module = line.substr(1, line.size() - 2);
  const char* const begin = address.data();
  const char* const end = begin + address.size();
  const auto [stop, error] = std::from_chars(begin, end, symbol.address, 16);
  const bool is_whole = error == std::errc() && stop == end && type.size() == 1 && !name.empty();
  return is_whole ? std::optional(symbol) : std::nullopt;
}

}  // namespace

bool KernelSymbol::is_bound() const {
  if (name == "_text" || name == "_stext" || name == "_etext") return true;
  if (!name.starts_with("__")) return false;
  return name.ends_with("_text_start") || name.ends_with("_text_end") ||
         name.ends_with("_thunk_start") || name.ends_with("_thunk_end") ||
         name.starts_with("__start_") || name.starts_with("__stop_") || name.starts_with("__end_");
}

Result<KernelSymbols> KernelSymbols::read(const std::string& path) {
  KernelSymbols symbols;
  DJ_TRY(symbols.text_, read_kernel_file(path));
  std::string_view text(symbols.text_.data(), symbols.text_.size());
  bool any_address = false;
  while (!text.empty()) {
    const std::string_view line = take_word(text, '\n');
    const std::optional<KernelSymbol> symbol = parse_line(line);
    if (!symbol) return Error{path + " has a line that is no symbol: " + std::string(line)};
    any_address = any_address || symbol->address != 0;
    if (!symbol->module.empty()) {
      symbols.of_modules_.push_back(*symbol);
      continue;
    }
    symbols.all_.push_back(*symbol);
    if (symbol->is_bound()) symbols.bounds_.emplace(symbol->name, symbol->address);
  }
  if (symbols.all_.empty()) return Error{path + " names no symbol", Fail::NotFound};
  if (!any_address)
    return Error{"the kernel hides its addresses in " + path +
                     ": djtap needs root, and kernel.kptr_restrict below 2",
                 Fail::Permission};
  std::ranges::stable_sort(symbols.all_, {}, &KernelSymbol::address);
  std::ranges::stable_sort(symbols.of_modules_, {}, &KernelSymbol::address);
  return symbols;
}

std::optional<uint64_t> KernelSymbols::bound(std::string_view name) const {
  const auto found = bounds_.find(name);
  return found != bounds_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace dj
