// Texts made of target values ($$parms, $x$): the format is put together here, the handler reads
// the values, the agent writes the text. A value that cannot be read becomes ?, never an error.
#include "runtime/shared/target_text.h"

#include "compiler/lower/body.h"

namespace dj::ir {
namespace {

using Item = TargetText::Item;

std::string verbatim(const std::string& text) {
  std::string out;
  for (char c : text) out.append(c == '%' ? "%%" : std::string(1, c));
  return out;
}

char letter_of(const Item& item) {
  switch (item.as) {
    case Item::As::Signed:
      return abi::kTextSigned;
    case Item::As::Unsigned:
      return abi::kTextUnsigned;
    case Item::As::Hex:
      return abi::kTextHex;
    case Item::As::Char:
      return abi::kTextChar;
    case Item::As::Text:
      return item.length.steps.empty() && item.limit == 0 ? abi::kTextString : abi::kTextBytes;
    case Item::As::Float:
      return abi::kTextFloat;
    case Item::As::Double:
      return abi::kTextDouble;
  }
  return abi::kTextHex;
}

// "5=GREEN;-7=BLUE;": what kTextWord takes.
std::string words_of(const Item& item) {
  std::string out;
  for (const auto& [number, word] : item.names) out += std::to_string(number) + "=" + word + ";";
  return out;
}

}  // namespace

// Reads the value; *bad is set to 1 where that is not possible.
llvm::Value* Body::lenient(const LocExpr& where, const std::vector<llvm::Value*>& args,
                           llvm::Value* bad, Span span) {
  lenient_ = bad;
  llvm::Value* word = location(where, args, span);
  lenient_ = nullptr;
  return word;
}

Value Body::target_text(const TargetText& text, const std::vector<llvm::Value*>& args, Span span) {
  std::string format;
  uint32_t count = 0, most = 1;
  for (const Item& item : text.items) most += item.as == Item::As::Text ? 2 : 1;
  llvm::AllocaInst* words = slot(unit_.word, "words", most);
  llvm::AllocaInst* bad = slot(unit_.half, "unread", most);
  auto add = [&](const LocExpr* where, int64_t constant) {
    llvm::Value* bad_slot = b_.CreateConstInBoundsGEP1_64(unit_.half, bad, count);
    b_.CreateStore(unit_.number32(0), bad_slot);
    llvm::Value* word = where ? lenient(*where, args, bad_slot, span) : unit_.number(constant);
    b_.CreateStore(word, b_.CreateConstInBoundsGEP1_64(unit_.word, words, count++));
  };
  for (const Item& item : text.items) {
    format += verbatim(item.before);
    if (!item.defined) {
      format += '?';
      continue;
    }
    const char letter = item.names.empty() ? letter_of(item) : abi::kTextWord;
    format += std::string("%") + letter;
    if (letter == abi::kTextWord) format += verbatim(words_of(item)) + "%;";
    add(&item.value, 0);
    if (letter == abi::kTextBytes) {
      const bool counted = !item.length.steps.empty();
      format += counted ? 'n' : 'z';
      add(counted ? &item.length : nullptr, item.limit);
    }
  }
  format += verbatim(text.after);
  CHECK(context_);
  llvm::Value* made =
      b_.CreateCall(unit_.entry("dj_target_text"), {context_, unit_.text(format), words, bad});
  return {b_.CreatePtrToInt(made, unit_.word)};
}

}  // namespace dj::ir
