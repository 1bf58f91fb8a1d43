// SPDX-License-Identifier: Apache-2.0
// Look-ups in the tables of lines and inlined calls.
#include "runtime/agent/source_lines.h"

#include "runtime/agent/stack_walk.h"

namespace dj::agent {
namespace {

SourceLine source_line(const abi::StackTables* tables, uint32_t file, uint32_t line) {
  SourceLine found;
  if (file == 0) return found;
  found.file = abi::in_tables<abi::Str>(tables, file);
  found.line = line;
  return found;
}

}  // namespace

SourceLine line_at(uint64_t place, uint32_t unwanted) {
  const abi::StackTables* tables = stack_tables();
  if (tables == nullptr) return {};
  const abi::StackModule module = abi::find_stack_module(tables, place, unwanted);
  const auto* rows = abi::in_tables<abi::LineRow>(tables, module.lines);
  const abi::LineRow* row = abi::last_row(rows, module.line_count, place - module.origin);
  return row == nullptr ? SourceLine() : source_line(tables, row->file, row->line);
}

InlinedAt::InlinedAt(uint64_t place, uint32_t unwanted)
    : tables_(stack_tables()), line_(line_at(place, unwanted)) {
  if (tables_ == nullptr) return;
  module_ = abi::find_stack_module(tables_, place, unwanted);
  const auto* rows = abi::in_tables<abi::InlineRow>(tables_, module_.inlines);
  const abi::InlineRow* row = abi::last_row(rows, module_.inline_count, place - module_.origin);
  if (row != nullptr) coming_ = row->call;
}

const abi::InlineCall* InlinedAt::call(uint32_t number) const {
  return &abi::in_tables<abi::InlineCall>(tables_, module_.calls)[number - 1];
}

bool InlinedAt::next() {
  if (now_ != 0) line_ = source_line(tables_, call(now_)->file, call(now_)->line);
  now_ = coming_;
  if (now_ == 0) return false;
  coming_ = call(now_)->outer;
  return true;
}

const abi::Str* InlinedAt::name() const {
  return abi::in_tables<abi::Str>(tables_, call(now_)->name);
}

}  // namespace dj::agent
