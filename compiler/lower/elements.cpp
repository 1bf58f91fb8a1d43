// SPDX-License-Identifier: Apache-2.0
// Elements: maps, keys and updates.
#include "compiler/lower/elements.h"

#include "compiler/lower/doubles.h"
#include "compiler/lower/strings.h"
#include "runtime/shared/map.h"

namespace dj::ir {

llvm::Constant* map(Code& code, GlobalId array) {
  return code.unit.address(code.unit.layout.globals[array].address);
}

llvm::Value* keys(Body& body, const std::vector<ExprPtr>& keys) {
  Code& code = body.code();
  std::vector<llvm::Value*> words;
  for (const ExprPtr& key : keys) {
    if (!key) {
      words.push_back(code.number(0));
      continue;
    }
    Value value = body.expression(*key);
    if (key->type == Type::Double) value.word = double_key(code, value.word);
    words.push_back(key->type == Type::Str ? to_ref(code, value) : value.word);
  }
  return code.row(words);
}

llvm::Value* given_keys(Code& code, const std::vector<ExprPtr>& keys) {
  uint32_t given = 0;
  for (size_t i = 0; i < keys.size(); ++i) given |= (keys[i] ? 1u : 0u) << i;
  return code.number32(given);
}

llvm::Value* update_element(Code& code, GlobalId array, llvm::Value* keys, ast::BinOp op,
                            llvm::Value* operand, bool want_old) {
  llvm::AllocaInst* old = code.slot(code.unit.word, "old");
  const bool is_double = code.unit.program.globals[array].value == Type::Double;
  const uint32_t number = static_cast<uint32_t>(op) + (is_double ? abi::kDoubleOp : 0);
  llvm::Value* fresh =
      code.call("dj_map_update", {map(code, array), keys, code.number32(number), operand, old});
  return want_old ? code.load(old) : fresh;
}

}  // namespace dj::ir
