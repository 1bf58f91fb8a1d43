// SPDX-License-Identifier: Apache-2.0
// Looks addresses up in the session's StackTables, as the agent's symbol_at() does for handlers.
#include "runtime/output/stack_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/shared/unwind.h"

namespace dj {
namespace {

std::string text_at(const abi::StackTables* tables, uint32_t offset) {
  const abi::Text text = abi::text_of(abi::in_tables<abi::Str>(tables, offset));
  return {text.data, text.len};
}

// place: the byte that is looked up, in front of a return address.
std::string name_of(const abi::StackTables* tables, uint64_t address, uint64_t place) {
  const abi::StackModule module = abi::find_stack_module(tables, place, abi::kModuleShared);
  if (module.end == 0) return fmt::format("{:#x}", address);
  const uint64_t offset = place - module.origin;
  const auto* rows = abi::in_tables<abi::SymbolRow>(tables, module.symbols);
  const abi::SymbolRow* row = abi::last_row(rows, module.symbol_count, offset);
  if (row != nullptr && (row->size == 0 || offset - row->at < row->size))
    return text_at(tables, row->name);
  const std::string path = text_at(tables, module.path);
  return fmt::format("[{}+{:#x}]", path.substr(path.rfind('/') + 1), address - module.origin);
}

}  // namespace

std::optional<std::vector<std::string>> stack_names(const abi::Header& header,
                                                    std::string_view stack) {
  const abi::StackTables* tables = header.stack_tables.get_or_null(abi::arena_of(&header));
  if (tables == nullptr) return std::nullopt;
  std::vector<std::string> names;
  while (!stack.empty()) {
    if (!stack.starts_with("0x")) return std::nullopt;
    const std::string_view word = stack.substr(2, stack.find(' ') - 2);
    uint64_t address = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), address, 16);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    names.push_back(name_of(tables, address, names.empty() ? address : address - 1));
    stack.remove_prefix(std::min(stack.size(), word.size() + 3));
  }
  if (names.empty()) return std::nullopt;
  return names;
}

}  // namespace dj
