// SPDX-License-Identifier: Apache-2.0
// Unit: declarations of the agent's entries, constants and places for one lower() run.
#include "compiler/lower/unit.h"

#include <llvm/IR/Constants.h>

#include "compiler/lower/needs.h"
#include "compiler/stages/of_children.h"

namespace dj::ir {
namespace {

// Types of runtime/shared/entries.h: result, then parameters. i: 32 bits, l: 64 bits, p: pointer,
// v: void.
struct EntryRow {
  std::string_view name, kinds;
};
constexpr EntryRow kEntries[] = {
    {"dj_count_add", "vil"},
    {"dj_count_read", "li"},
    {"dj_count_clear", "vi"},
    {"dj_stat_add", "vpipl"},
    {"dj_stat_read", "lpiip"},
    {"dj_stat_clear", "vpip"},
    {"dj_stat_derived", "lpipip"},
    {"dj_stat_bucket", "lpipilp"},
    {"dj_map_get", "lpp"},
    {"dj_map_has", "lpp"},
    {"dj_map_set", "vppl"},
    {"dj_map_update", "lppilp"},
    {"dj_map_stat_add", "vppl"},
    {"dj_map_stat_read", "lppip"},
    {"dj_map_delete", "vpp"},
    {"dj_map_clear", "vp"},
    {"dj_count_take", "li"},
    {"dj_map_take", "lpp"},
    {"dj_map_move", "vpp"},
    {"dj_stat_move", "vppip"},
    {"dj_foreach_begin", "pppplpi"},
    {"dj_slice_has", "lppi"},
    {"dj_slice_delete", "vppi"},
    {"dj_slice_stat_read", "lppiip"},
    {"dj_slice_event_hist", "vippii"},
    {"dj_slice_bucket", "lppiilp"},
    {"dj_hist_text", "pppipi"},
    {"dj_slice_hist_text", "ppppii"},
    {"dj_foreach_next", "ippp"},
    {"dj_enter", "pi"},
    {"dj_leave", "vp"},
    {"dj_action", "ip"},
    {"dj_nest", "ip"},
    {"dj_unnest", "vp"},
    {"dj_raise", "vpiiil"},
    {"dj_caught", "pp"},
    {"dj_match", "lppp"},
    {"dj_read", "llip"},
    {"dj_intern", "pp"},
    {"dj_str_equal", "ipp"},
    {"dj_str_compare", "lpp"},
    {"dj_str_concat", "pppp"},
    {"dj_sprintf", "ppppi"},
    {"dj_target_text", "ppppp"},
    {"dj_event_print", "viipii"},
    {"dj_event_hist", "vipipi"},
    {"dj_map_stat_at", "ppp"},
    {"dj_double_compute", "lill"},
    {"dj_double_compare", "ill"},
    {"dj_double_of_int", "ll"},
    {"dj_double_of_float", "ll"},
    {"dj_double_of_unsigned", "ll"},
    {"dj_float_of_double", "ll"},
    {"dj_int_of_double", "ll"},
    {"dj_unsigned_of_double", "ll"},
    {"dj_double_of_extended", "lll"},
    {"dj_convert_number", "wiiw"},
    {"dj_wide_compute", "wiiww"},
    {"dj_wide_compare", "iiww"},
    {"dj_capture_store", "vilpi"},
    {"dj_capture_take", "iilpi"},
    {"dj_syscall_take", "iilpi"},
    {"dj_tail_leave", "viil"},
    {"dj_tail_land", "vil"},
    {"dj_tail_take", "iilpi"},
    {"dj_loader_event", "v"},
    {"dj_forked_begins", "v"},
    {"dj_forked_ends", "v"},
};

}  // namespace

HandlerNeeds::HandlerNeeds(const Program& program, const Plan& plan)
    : waits(handlers_that_wait(plan)),
      of_calls(handlers_of_calls(plan)),
      of_syscalls(handlers_of_syscalls(plan)),
      of_children(handlers_of_children(plan)),
      target_ends(target_ends_session(program, plan)) {}

Unit::Unit(llvm::Module& module, const Program& program, const Plan& plan, const Layout& layout)
    : program(program),
      plan(plan),
      layout(layout),
      handlers(program, plan),
      module(module),
      context(module.getContext()),
      word(llvm::Type::getInt64Ty(context)),
      half(llvm::Type::getInt32Ty(context)),
      pointer(llvm::PointerType::get(context, 0)) {
  CHECK(layout.strings.texts.size() == layout.strings.words.size());
  for (size_t i = 0; i < layout.strings.texts.size(); ++i) {
    texts_.in_arena.emplace(layout.strings.texts[i], layout.strings.words[i]);
  }
}

llvm::FunctionCallee Unit::declare(std::string_view name, std::string_view kinds) {
  auto type_of = [this](char kind) -> llvm::Type* {
    switch (kind) {
      case 'i':
        return half;
      case 'l':
        return word;
      case 'w':
        return llvm::Type::getInt128Ty(context);
      case 'p':
        return pointer;
      default:
        return llvm::Type::getVoidTy(context);
    }
  };
  std::vector<llvm::Type*> parameters;
  for (char kind : kinds.substr(1)) parameters.push_back(type_of(kind));
  auto* type = llvm::FunctionType::get(type_of(kinds[0]), parameters, false);
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(llvm::StringRef(name.data(), name.size()), type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDSOLocal(true);  // the agent lies in the same code area: no table between
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return callee;
}

llvm::FunctionCallee Unit::entry(std::string_view name) {
  for (const EntryRow& row : kEntries) {
    if (row.name == name) return declare(name, row.kinds);
  }
  CHECK(!"an entry that runtime/shared/entries.h does not have");
  __builtin_unreachable();
}

llvm::FunctionCallee Unit::builtin(const Builtin& row, std::string_view parameter_kinds,
                                   bool returns_string, bool returns_void) {
  std::string kinds(1, returns_void ? 'v' : returns_string ? 'p' : 'l');
  return declare(row.entry, kinds.append(parameter_kinds));
}

llvm::Constant* Unit::text(const std::string& text) {
  auto found = texts_.in_module.find(text);
  if (found != texts_.in_module.end()) return found->second;
  llvm::Constant* fields[] = {number32(static_cast<uint32_t>(text.size())),
                              llvm::ConstantDataArray::getString(context, text, false)};
  llvm::Constant* made = constant(fields, "text");
  texts_.in_module.emplace(text, made);
  return made;
}

llvm::Constant* Unit::constant(llvm::ArrayRef<llvm::Constant*> fields, const char* name) {
  llvm::Constant* value = llvm::ConstantStruct::getAnon(context, fields);
  auto* global = new llvm::GlobalVariable(module, value->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, value, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(4));
  return global;
}

uint64_t Unit::constant_ref(const std::string& text) const {
  auto found = texts_.in_arena.find(text);
  CHECK(found != texts_.in_arena.end());
  return found->second;
}

uint32_t Unit::span_index(Span span) {
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].file == span.file && spans[i].begin == span.begin && spans[i].end == span.end) {
      return static_cast<uint32_t>(i);
    }
  }
  spans.push_back(span);
  return static_cast<uint32_t>(spans.size() - 1);
}

llvm::Constant* Unit::address(uint64_t arena_address) const {
  return llvm::ConstantExpr::getIntToPtr(number(static_cast<int64_t>(arena_address)), pointer);
}

}  // namespace dj::ir
