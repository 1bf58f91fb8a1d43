// SPDX-License-Identifier: Apache-2.0
// Handlers: calling conventions around a body. What a detour pushes (arch/x86_64/detour.h) arrives
// as stack arguments; the six argument registers are where the program left them.
#include "compiler/lower/handlers.h"

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "compiler/lower/body.h"
#include "compiler/lower/handler_frame.h"
#include "compiler/lower/needs.h"
#include "compiler/lower/strings.h"
#include "compiler/lower/tail_calls.h"
#include "compiler/stages/samples.h"
#include "stdlib/builtins.h"

namespace dj::ir {
namespace {

// In abi::SavedRegister's order.
constexpr uint8_t kSavedRegisters[] = {arch::kRbx, arch::kRbp, arch::kR12,
                                       arch::kR13, arch::kR14, arch::kR15};

bool passed_in_place(int64_t reg) {
  for (arch::Reg argument : arch::kArgumentRegs) {
    if (reg == argument) return true;
  }
  return false;
}

void add_registers(const LocExpr& location, std::set<uint8_t>& regs) {
  for (const LocStep& step : location.steps) {
    if (step.op != LocStep::PushReg || passed_in_place(step.a) || step.a == arch::kRsp) continue;
    const bool general = step.a >= 0 && step.a < arch::kRegCount;
    if (general || step.a == arch::kFlags) regs.insert(static_cast<uint8_t>(step.a));
  }
}

// General registers that the handler's locations read beyond the six argument registers and rsp,
// and the flags.
std::vector<uint8_t> stack_registers(const Handler& handler, bool walks_stack) {
  std::set<uint8_t> regs;
  if (walks_stack) regs.insert(std::begin(kSavedRegisters), std::end(kSavedRegisters));
  if (handler.role == Handler::Role::Capture) {
    for (const LocExpr& value : handler.capture.values) add_registers(value, regs);
  } else {
    for (const TargetPlan& target : handler.targets) {
      if (const auto* location = std::get_if<LocExpr>(&target)) add_registers(*location, regs);
      if (const auto* text = std::get_if<TargetText>(&target)) {
        for (const TargetText::Item& item : text->items) {
          add_registers(item.value, regs);
          add_registers(item.length, regs);
        }
      }
    }
  }
  return {regs.begin(), regs.end()};
}

arch::Form frame_form(const Handler& handler) {
  const bool middle = handler.form == Handler::Form::Middle || is_sample(handler);
  return middle ? arch::Form::Middle : arch::Form::Boundary;
}

Machine machine_of(Unit& unit, llvm::Function* function, llvm::IRBuilder<>& b,
                   const Handler& handler, const HandlerAbi& abi) {
  Machine machine;
  for (uint32_t i = 0; i < kRegisterArguments; ++i) {
    machine.regs[arch::kArgumentRegs[i]] = function->getArg(i);
  }
  for (size_t i = 0; i < abi.stack_regs.size(); ++i) {
    const uint8_t reg = abi.stack_regs[i];
    (reg == arch::kFlags ? machine.flags : machine.regs[reg]) =
        function->getArg(static_cast<unsigned>(kRegisterArguments + abi.wants_site + i));
  }
  machine.rsp = stack_pointer(unit, b, frame_form(handler), abi.wants_site + abi.stack_regs.size());
  constexpr int64_t kProgramCounter = 8;  // lies above a sample's frame (arch/x86_64/sample.h)
  if (is_sample(handler)) machine.rsp = b.CreateAdd(machine.rsp, unit.number(kProgramCounter));
  return machine;
}

// A host handler's place in the session's table of sites: behind the Plan's sites.
uint32_t host_site(const Plan& plan, HandlerId id) {
  const size_t first = plan.first_site + plan.sites.size();
  for (size_t i = 0; i < plan.host_probes.size(); ++i) {
    if (plan.host_probes[i].handler == id) return static_cast<uint32_t>(first + i);
  }
  return static_cast<uint32_t>(first);
}

void capture_body(Unit& unit, Body& body, const Handler& handler, const Machine& machine) {
  auto& b = body.code().b;
  const ReturnCapture& capture = handler.capture;
  auto count = static_cast<uint32_t>(capture.values.size());
  auto words = static_cast<uint32_t>(capture.words());
  llvm::AllocaInst* values = body.code().slot(unit.word, "values", std::max(words, 1u));
  auto store = [&](llvm::Value* value, uint32_t i) {
    b.CreateStore(value, b.CreateConstInBoundsGEP1_64(unit.word, values, i));
  };
  Span span = unit.program.probes[handler.probe].span;
  llvm::Value* unread = unit.number(0);
  llvm::AllocaInst* bad = body.code().slot(unit.half, "unread");
  for (uint32_t i = 0; i < count; ++i) {
    if ((capture.lenient >> i & 1) == 0) {
      store(body.locations().value(capture.values[i], {}, span), i);
      continue;
    }
    b.CreateStore(unit.number32(0), bad);
    store(body.locations().lenient(capture.values[i], {}, bad, span), i);
    llvm::Value* bit = b.CreateZExt(b.CreateLoad(unit.half, bad), unit.word);
    unread = b.CreateOr(unread, b.CreateShl(bit, unit.number(i)));
  }
  if (capture.lenient != 0) store(unread, count);
  b.CreateCall(unit.entry("dj_capture_store"),
               {unit.number32(unit.plan.first_handler + handler.capture_for), machine.rsp, values,
                unit.number32(words)});
}

// dj_enter at the start; without a free context the hit is skipped.
llvm::Value* enter(Unit& unit, Body& body, bool host) {
  auto& b = body.code().b;
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::Value* context = b.CreateCall(unit.entry("dj_enter"), {body.code().site()});
  llvm::BasicBlock* skip = llvm::BasicBlock::Create(unit.context, "skip", function);
  llvm::BasicBlock* run = llvm::BasicBlock::Create(unit.context, "run", function);
  b.CreateCondBr(b.CreateIsNull(context), skip, run);
  b.SetInsertPoint(skip);
  b.CreateRetVoid();
  b.SetInsertPoint(run);
  body.code().set_context(context);
  if (host) {  // the target's small budget does not bind the controller's handlers
    int64_t limit = std::min<int64_t>(unit.layout.limits.max_action_host, INT32_MAX);
    for (size_t field :
         {offsetof(abi::Context, actions_left), offsetof(abi::Context, action_limit)})
      b.CreateStore(unit.number32(static_cast<uint32_t>(limit)), body.code().context_field(field));
  }
  return context;
}

// Leaves the handler in the target's own process; of a child's end djtap is told.
void only_in_children(Unit& unit, Body& body) {
  auto& b = body.code().b;
  auto ask = [&](std::string_view name) {
    const auto& rows = builtins();
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Builtin& builtin) { return builtin.name == name; });
    CHECK(row != rows.end());
    return b.CreateCall(unit.builtin(*row, "", false, false), {});
  };
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* own = llvm::BasicBlock::Create(unit.context, "own", function);
  llvm::BasicBlock* child = llvm::BasicBlock::Create(unit.context, "child", function);
  b.CreateCondBr(b.CreateICmpEQ(ask("pid"), ask("target")), own, child);
  b.SetInsertPoint(own);
  b.CreateRetVoid();
  b.SetInsertPoint(child);
  b.CreateCall(unit.entry("dj_forked_ends"), {});
}

// Leaves the handler where a probe has called exit(): none of the program's fires from then on.
void only_before_exit(Unit& unit, Body& body) {
  auto& b = body.code().b;
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* over = llvm::BasicBlock::Create(unit.context, "over", function);
  llvm::BasicBlock* on = llvm::BasicBlock::Create(unit.context, "on", function);
  llvm::LoadInst* asked =
      b.CreateLoad(unit.word, unit.address(unit.layout.header.words.address(unit.layout.arena()) +
                                           offsetof(abi::SessionWords, exit_requested)));
  asked->setAtomic(llvm::AtomicOrdering::Monotonic);
  asked->setAlignment(llvm::Align(8));
  b.CreateCondBr(b.CreateICmpEQ(asked, unit.number(0)), on, over,
                 llvm::MDBuilder(unit.context).createLikelyBranchWeights());
  b.SetInsertPoint(over);
  b.CreateRetVoid();
  b.SetInsertPoint(on);
}

// For built-ins that walk the stack. Handlers of djtap itself have no site: stack pointer 0.
void keep_registers(Unit& unit, Body& body, const Machine& machine) {
  auto& b = body.code().b;
  b.CreateStore(machine.rsp ? machine.rsp : unit.number(0),
                body.code().context_field(offsetof(abi::Context, stack_pointer)));
  for (size_t i = 0; machine.rsp && i < std::size(kSavedRegisters); ++i) {
    b.CreateStore(machine.regs[kSavedRegisters[i]],
                  body.code().context_field(offsetof(abi::Context, saved) + 8 * i));
  }
}

// No probe: calls that entry of the agent.
HandlerAbi define_own_handler(Unit& unit, HandlerId id, const char* entry) {
  llvm::Function* function =
      make_handler(unit, fmt::format("dj_handler_{}", id), arch::Form::Boundary, 0);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(unit.context, "entry", function));
  b.CreateCall(unit.entry(entry), {});
  b.CreateRetVoid();
  return {};
}

// A body that is `g++`, `g += 5` and nothing else: what HandlerAbi says of it.
void count_alone(const Unit& unit, const Stmt& body, HandlerAbi& abi) {
  const Stmt* only = &body;
  while (const auto* block = std::get_if<Block>(&only->node)) {
    if (block->body.size() != 1) return;
    only = block->body.front().get();
  }
  const auto* statement = std::get_if<ExprStmt>(&only->node);
  if (statement == nullptr) return;
  const Expr* place = nullptr;
  int64_t add = 0;
  if (const auto* crement = std::get_if<Crement>(&statement->expr->node)) {
    place = crement->place.get();
    add = crement->delta;
  } else if (const auto* assign = std::get_if<Assign>(&statement->expr->node)) {
    const auto* number = std::get_if<IntLit>(&assign->value->node);
    if (number == nullptr || std::abs(number->value) > INT32_MAX) return;
    place = assign->place.get();
    if (assign->op == ast::BinOp::Add) add = number->value;
    if (assign->op == ast::BinOp::Sub) add = -number->value;
  }
  const auto* global = place == nullptr ? nullptr : std::get_if<GlobalRef>(&place->node);
  if (global == nullptr || add == 0 ||
      unit.program.globals[global->global].storage != Storage::Counter)
    return;
  abi.count_word = unit.layout.thread_words() + 8ull * unit.layout.globals[global->global].counter;
  abi.count_add = static_cast<int32_t>(add);
}

}  // namespace

Result<HandlerAbi> define_handler(Unit& unit, HandlerId id) {
  const Handler& handler = unit.plan.handlers[id];
  if (handler.role == Handler::Role::Loader) return define_own_handler(unit, id, "dj_loader_event");
  if (handler.role == Handler::Role::Forked)
    return define_own_handler(unit, id, "dj_forked_begins");
  bool host = handler.role == Handler::Role::Host;
  Needs needs = needs_of(unit.program, handler);
  HandlerAbi abi;
  bool follows = unit.handlers.waits[id];
  if (!host) abi = HandlerAbi{stack_registers(handler, needs.stack), needs.site || follows};
  const std::string name = fmt::format("dj_handler_{}", id);
  llvm::Function* function =
      host ? make_host_handler(unit, name)
           : make_handler(unit, name, frame_form(handler), abi.wants_site + abi.stack_regs.size());

  llvm::Value* site = unit.number32(host ? host_site(unit.plan, id) : 0);
  static const Frame no_locals;
  const Probe& probe = unit.program.probes[handler.probe];
  bool capture = handler.role == Handler::Role::Capture;
  Body body(unit, function, nullptr, site, capture ? no_locals : probe.frame);
  auto& b = body.code().b;
  if (abi.wants_site)
    body.code().set_site(b.CreateTrunc(function->getArg(kRegisterArguments), unit.half));

  Machine machine;
  if (!host) machine = machine_of(unit, function, b, handler, abi);
  std::optional<CallTaker> taker;
  if (follows || unit.handlers.of_calls[id])
    machine.entry = taker.emplace(unit, body, id, machine.rsp).take();
  body.set_machine(handler, machine);
  const bool until_exit = unit.handlers.target_ends && handler.role == Handler::Role::Body;
  if (until_exit) only_before_exit(unit, body);
  const bool of_children = unit.handlers.of_children[id];
  if (of_children) only_in_children(unit, body);
  llvm::Value* context = nullptr;
  if (probe.hits && !capture) {
    const uint32_t counter = unit.layout.globals[*probe.hits].counter;
    b.CreateCall(unit.entry("dj_count_add"), {unit.number32(counter), unit.number(1)});
  }
  if (needs.context) context = enter(unit, body, host);
  if (needs.stack && context) keep_registers(unit, body, machine);
  if (capture) {
    capture_body(unit, body, handler, machine);
  } else if (probe.body) {
    body.statement(*probe.body);
  }
  b.CreateBr(body.code().exit());
  body.code().exit()->insertInto(function);
  b.SetInsertPoint(body.code().exit());
  if (context) b.CreateCall(unit.entry("dj_leave"), {context});
  if (taker) taker->take_more();
  b.CreateRetVoid();
  if (!body.code().failure().empty()) return Error{body.code().failure(), Fail::Unsupported};
  if (follows) define_tail_calls(unit, id);
  const bool always = !host && !capture && !taker && !of_children && !until_exit;
  if (always && probe.body) count_alone(unit, *probe.body, abi);
  return abi;
}

void declare_functions(Unit& unit) {
  for (const Function& function : unit.program.functions) {
    std::vector<llvm::Type*> parameters(function.param_count, unit.word);
    parameters.insert(parameters.begin(), {unit.pointer, unit.half});  // context, site
    auto* type = llvm::FunctionType::get(unit.word, parameters, false);
    unit.functions.push_back(llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                                    "dj_function_" + function.name, unit.module));
  }
}

namespace {

Status define_function(Unit& unit, FunctionId id) {
  const Function& source = unit.program.functions[id];
  llvm::Function* function = unit.functions[id];
  llvm::Value* context = function->getArg(0);
  Body body(unit, function, context, function->getArg(1), source.frame);
  auto& b = body.code().b;
  for (uint32_t i = 0; i < source.param_count; ++i)
    b.CreateStore(function->getArg(i + 2), body.local(i));
  llvm::AllocaInst* result = body.code().slot(unit.word, "result");
  body.set_result(result);
  llvm::Value* nothing = unit.number(0);
  if (source.result == Type::Str) nothing = literal(body.code(), "").word;
  b.CreateStore(nothing, result);

  llvm::BasicBlock* too_deep = llvm::BasicBlock::Create(unit.context, "too_deep", function);
  llvm::BasicBlock* run = llvm::BasicBlock::Create(unit.context, "run", function);
  llvm::Value* allowed = b.CreateCall(unit.entry("dj_nest"), {context});
  b.CreateCondBr(b.CreateICmpEQ(allowed, unit.number32(0)), too_deep, run);
  b.SetInsertPoint(too_deep);
  b.CreateRet(nothing);
  b.SetInsertPoint(run);
  llvm::Value* iterators = body.code().context_field(offsetof(abi::Context, iterators));
  llvm::Value* iterators_before = b.CreateLoad(unit.half, iterators);
  if (source.body) body.statement(*source.body);
  b.CreateBr(body.code().exit());
  body.code().exit()->insertInto(function);
  b.SetInsertPoint(body.code().exit());
  b.CreateStore(iterators_before, iterators);  // a return may leave loops over arrays
  b.CreateCall(unit.entry("dj_unnest"), {context});
  b.CreateRet(b.CreateLoad(unit.word, result));
  if (!body.code().failure().empty()) return Error{body.code().failure(), Fail::Unsupported};
  return ok_status();
}

}  // namespace

Status define_called_functions(Unit& unit) {
  for (bool more = true; more;) {
    more = false;
    for (FunctionId id = 0; id < unit.functions.size(); ++id) {
      if (!unit.functions[id]->isDeclaration() || unit.functions[id]->use_empty()) continue;
      DJ_TRY_DO(define_function(unit, id));
      more = true;
    }
  }
  for (llvm::Function*& function : unit.functions) {
    if (!function->isDeclaration()) continue;
    function->eraseFromParent();
    function = nullptr;
  }
  return ok_status();
}

}  // namespace dj::ir
