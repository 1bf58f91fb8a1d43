// SPDX-License-Identifier: Apache-2.0
// TextParts: the format and the words of one text.
#include "compiler/lower/target_text.h"

#include "runtime/shared/target_text.h"

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
    case Item::As::Char:
      return abi::kTextChar;
    case Item::As::Wide:
      return abi::kTextWide;
    case Item::As::WideUnsigned:
      return abi::kTextWideUnsigned;
    case Item::As::Text:
      return item.length.steps.empty() && item.limit == 0 ? abi::kTextString : abi::kTextBytes;
    case Item::As::Float:
      return abi::kTextFloat;
    case Item::As::Double:
      return abi::kTextDouble;
    default:
      return abi::kTextHex;
  }
}

// Has it a second word?
bool is_pair(const Item& item) {
  return item.as == Item::As::Text || item.as == Item::As::Wide ||
         item.as == Item::As::WideUnsigned;
}

// "5=GREEN;-7=BLUE;": what kTextWord takes.
std::string words_of(const Item& item) {
  std::string out;
  for (const auto& [number, word] : item.names) out += std::to_string(number) + "=" + word + ";";
  return out;
}

// One text being made: its words and its format grow together.
class TextParts {
 public:
  TextParts(Locations& locations, const TargetText& text, const std::vector<llvm::Value*>& args,
            Span span)
      : locations_(locations), code_(locations.code()), text_(text), args_(args), span_(span) {
    uint32_t most = 1;
    for (const Item& item : text.items) most += is_pair(item) ? 2 : 1;
    words_ = code_.slot(code_.unit.word, "words", most);
    bad_ = code_.slot(code_.unit.half, "unread", most);
  }

  // The format of items [begin, end); the code that reads their values is emitted.
  std::string items(size_t begin, size_t end) {
    std::string format;
    for (size_t i = begin; i < end; ++i) {
      const Item& item = text_.items[i];
      format += verbatim(item.before);
      if (item.as == Item::As::If) {
        const size_t last = std::min(end, i + 1 + item.limit);
        format += item.defined ? condition(item, i + 1, last) : "?";
        i = last - 1;
      } else if (!item.defined) {
        format += item.as == Item::As::Nothing ? "" : "?";
      } else {
        format += value(item);
      }
    }
    return format;
  }

  llvm::Value* words() const { return words_; }
  llvm::Value* bad() const { return bad_; }

 private:
  llvm::Value* place(llvm::AllocaInst* array, llvm::Type* type, uint32_t index) {
    return code_.b.CreateConstInBoundsGEP1_64(type, array, index);
  }

  // Returns its number.
  uint32_t add(const LocExpr* where, int64_t constant) {
    Unit& unit = code_.unit;
    const uint32_t index = count_++;
    llvm::Value* bad_slot = place(bad_, unit.half, index);
    code_.b.CreateStore(unit.number32(0), bad_slot);
    llvm::Value* word =
        where ? locations_.lenient(*where, args_, bad_slot, span_) : unit.number(constant);
    code_.b.CreateStore(word, place(words_, unit.word, index));
    return index;
  }

  std::string value(const Item& item) {
    const char letter = item.names.empty() ? letter_of(item) : abi::kTextWord;
    std::string format = std::string("%") + letter;
    if (letter == abi::kTextWord) format += verbatim(words_of(item)) + "%;";
    add(&item.value, 0);
    if (letter == abi::kTextBytes) {
      const bool counted = !item.length.steps.empty();
      format += counted ? 'n' : 'z';
      add(counted ? &item.length : nullptr, item.limit);
    } else if (is_pair(item) && letter != abi::kTextString) {
      add(&item.length, 0);
    }
    return format;
  }

  // What is not wanted is not read either.
  std::string condition(const Item& item, size_t begin, size_t end) {
    llvm::IRBuilder<>& b = code_.b;
    Unit& unit = code_.unit;
    const uint32_t index = add(&item.value, 0);
    llvm::Value* word = b.CreateLoad(unit.word, place(words_, unit.word, index));
    llvm::Value* unread = b.CreateLoad(unit.half, place(bad_, unit.half, index));
    llvm::Value* wanted =
        b.CreateAnd(b.CreateICmpNE(word, unit.number(0)), b.CreateICmpEQ(unread, unit.number32(0)));
    llvm::BasicBlock *inside = code_.block("shown"), *behind = code_.block("passed");
    b.CreateCondBr(wanted, inside, behind);
    b.SetInsertPoint(inside);
    const uint32_t before = count_;
    const std::string format = items(begin, end);
    b.CreateBr(behind);
    b.SetInsertPoint(behind);
    return std::string("%") + abi::kTextIf + std::to_string(count_ - before) + "," +
           std::to_string(format.size()) + ";" + format;
  }

  Locations& locations_;
  Code& code_;
  const TargetText& text_;
  const std::vector<llvm::Value*>& args_;
  Span span_;
  llvm::AllocaInst *words_ = nullptr, *bad_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace

Value target_text(Locations& locations, const TargetText& text,
                  const std::vector<llvm::Value*>& args, Span span) {
  Code& code = locations.code();
  TextParts parts(locations, text, args, span);
  const std::string format = parts.items(0, text.items.size()) + verbatim(text.after);
  llvm::Value* made = code.call(
      "dj_target_text", {code.context(), code.unit.text(format), parts.words(), parts.bad()});
  return {code.b.CreatePtrToInt(made, code.unit.word)};
}

}  // namespace dj::ir
