// SPDX-License-Identifier: Apache-2.0
// Output: printf as one event, histograms, sprintf.
#include "compiler/lower/elements.h"
#include "compiler/lower/nodes.h"
#include "runtime/shared/stat.h"

namespace dj::ir {

namespace {

Value format_string(Code& code, const std::string& format, const std::vector<llvm::Value*>& words) {
  auto count = static_cast<uint32_t>(words.size());
  llvm::Value* made = code.call("dj_sprintf", {code.context(), code.unit.text(format),
                                               code.row(words), code.number32(count)});
  return {code.b.CreatePtrToInt(made, code.unit.word)};
}

// By the entry that sends a record, or by the one that makes a string.
Value print_or_keep(Code& code, const PrintHist& node, const char* print, const char* keep,
                    std::vector<llvm::Value*> args) {
  args.insert(args.begin(), node.printed ? code.site() : code.context());
  llvm::Value* made = code.call(node.printed ? print : keep, args);
  return {node.printed ? code.number(0) : code.b.CreatePtrToInt(made, code.unit.word)};
}

}  // namespace

Value lower_node(Body& body, const Expr&, const Print& node) {
  Code& code = body.code();
  std::vector<llvm::Value*> words;
  uint32_t strings = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    words.push_back(body.number(*node.args[i]));
    if (node.args[i]->type == Type::Str) strings |= 1u << i;
  }
  CHECK(words.size() <= abi::kMaxEventArgs);
  if (!node.printed) return format_string(code, code.unit.program.formats[node.format].text, words);
  auto count = static_cast<uint32_t>(words.size());
  code.call("dj_event_print", {code.site(), code.number32(node.format), code.row(words),
                               code.number32(count), code.number32(strings)});
  return {code.number(0)};
}

Value lower_node(Body& body, const Expr&, const PrintHist& node) {
  Code& code = body.code();
  const uint32_t logarithmic = node.bits == 0 ? abi::kHistLog : abi::kHistFine + node.bits;
  llvm::Value* form = code.number32(node.linear ? abi::kHistLinear : logarithmic);
  const auto* element = std::get_if<ElementRef>(&node.place->node);
  if (element != nullptr && is_slice(element->keys)) {
    llvm::Value* where = keys(body, element->keys);
    return print_or_keep(code, node, "dj_slice_event_hist", "dj_slice_hist_text",
                         {map(code, element->array), where, given_keys(code, element->keys), form});
  }
  const StatRows from = stat_rows(body, *node.place);
  const std::vector<llvm::Value*> args = {from.rows, from.stride, from.shape, form};
  if (element == nullptr || !node.printed)
    return print_or_keep(code, node, "dj_event_hist", "dj_hist_text", args);
  llvm::BasicBlock *there = code.block("there"), *end = code.block("printed");
  code.b.CreateCondBr(code.b.CreateIsNull(from.rows), end, there);
  code.b.SetInsertPoint(there);
  print_or_keep(code, node, "dj_event_hist", "dj_hist_text", args);
  code.b.CreateBr(end);
  code.b.SetInsertPoint(end);
  return {code.number(0)};
}

}  // namespace dj::ir
