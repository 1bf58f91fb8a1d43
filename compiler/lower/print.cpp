// Output: printf as one event, histograms, sprintf.
#include "compiler/lower/body.h"
#include "runtime/shared/stat.h"

namespace dj::ir {

llvm::Value* Body::argument_array(const std::vector<llvm::Value*>& words) {
  llvm::AllocaInst* array = slot(unit_.word, "words", std::max<uint32_t>(1, words.size()));
  for (size_t i = 0; i < words.size(); ++i) {
    b_.CreateStore(words[i], b_.CreateConstInBoundsGEP1_64(unit_.word, array, i));
  }
  return array;
}

Value Body::visit(const Expr&, const Print& node) {
  std::vector<llvm::Value*> words;
  uint32_t strings = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    words.push_back(number(*node.args[i]));
    if (node.args[i]->type == Type::Str) strings |= 1u << i;
  }
  CHECK(words.size() <= abi::kMaxEventArgs);
  if (!node.printed) return format_string(unit_.program.formats[node.format].text, words);
  auto count = static_cast<uint32_t>(words.size());
  b_.CreateCall(unit_.entry("dj_event_print"),
                {site_, unit_.number32(node.format), argument_array(words), unit_.number32(count),
                 unit_.number32(strings)});
  return {unit_.number(0)};
}

Value Body::format_string(const std::string& format, const std::vector<llvm::Value*>& words) {
  CHECK(context_);
  auto count = static_cast<uint32_t>(words.size());
  llvm::Value* made =
      b_.CreateCall(unit_.entry("dj_sprintf"),
                    {context_, unit_.text(format), argument_array(words), unit_.number32(count)});
  return {b_.CreatePtrToInt(made, unit_.word)};
}

Value Body::visit(const Expr&, const PrintHist& node) {
  const uint32_t logarithmic = node.bits == 0 ? abi::kHistLog : abi::kHistFine + node.bits;
  llvm::Value* form = unit_.number32(node.linear ? abi::kHistLinear : logarithmic);
  if (const auto* element = std::get_if<ElementRef>(&node.place->node)) {
    const GlobalSlot& slot = unit_.layout.globals[element->array];
    llvm::Value* where = keys(element->keys);
    if (is_slice(element->keys)) {
      b_.CreateCall(unit_.entry("dj_slice_event_hist"),
                    {site_, map(element->array), where, given_keys(element->keys), form});
      return {unit_.number(0)};
    }
    llvm::Value* stat = b_.CreateCall(unit_.entry("dj_map_stat_at"), {map(element->array), where});
    llvm::BasicBlock *there = block("there"), *end = block("printed");
    b_.CreateCondBr(b_.CreateIsNull(stat), end, there);
    b_.SetInsertPoint(there);
    b_.CreateCall(unit_.entry("dj_event_hist"),
                  {site_, stat, unit_.number32(0), unit_.address(slot.shape_address), form});
    b_.CreateBr(end);
    b_.SetInsertPoint(end);
    return {unit_.number(0)};
  }
  const GlobalSlot& slot = unit_.layout.globals[std::get<GlobalRef>(node.place->node).global];
  b_.CreateCall(unit_.entry("dj_event_hist"),
                {site_, unit_.address(slot.address), unit_.number32(slot.stride),
                 unit_.address(slot.shape_address), form});
  return {unit_.number(0)};
}

}  // namespace dj::ir
