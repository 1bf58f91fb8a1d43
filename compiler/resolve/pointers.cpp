// SPDX-License-Identifier: Apache-2.0
// What flows into variables is followed through assignments, calls and loops until nothing changes.
#include "compiler/resolve/pointers.h"

#include <vector>

#include "compiler/stages/walk.h"

namespace dj {

namespace {

// What a variable has been given: nothing but zeros, pointers, or (also) something else.
enum class Given : uint8_t { Nothing, Pointer, Other };

// Variables of one body; a function's result.
struct BodyGiven {
  std::vector<Given> locals;
  Given result = Given::Nothing;
};

struct GlobalGiven {
  Given value = Given::Nothing;
  std::vector<Given> keys;
};

class Flow {
 public:
  Flow(const Program& program, const Plan& plan) : program_(program), plan_(plan) {
    for (const Global& global : program.globals) {
      globals_.push_back({start_of(global), std::vector<Given>(global.keys.size())});
    }
    for (const Function& function : program.functions) {
      functions_.push_back({std::vector<Given>(function.frame.locals.size())});
    }
    for (const Probe& probe : program.probes) {
      probes_.push_back({std::vector<Given>(probe.frame.locals.size())});
    }
  }

  void run() {
    do {
      changed_ = false;
      for (size_t i = 0; i < functions_.size(); i++) {
        visit(functions_[i], program_.functions[i].body, plan_.function_targets);
      }
      for (const Handler& handler : plan_.handlers) {
        if (handler.role == Handler::Role::Body || handler.role == Handler::Role::Host) {
          visit(probes_[handler.probe], program_.probes[handler.probe].body, handler.targets);
        }
      }
    } while (changed_);
  }

  uint64_t pointers_of(GlobalId id) const {
    const GlobalGiven& given = globals_[id];
    uint64_t bits = given.value == Given::Pointer;
    for (size_t i = 0; i < given.keys.size(); i++) {
      bits |= uint64_t(given.keys[i] == Given::Pointer) << (i + 1);
    }
    return bits;
  }

  void operator()(const Expr& e) { value_of(e); }
  void operator()(const Stmt& s) {
    if (const auto* loop = std::get_if<Foreach>(&s.node)) {
      for (size_t i = 0; i < loop->keys.size(); i++) {
        give(body_->locals[loop->keys[i]], globals_[loop->array].keys[i]);
      }
      if (loop->value) {
        give(body_->locals[*loop->value], globals_[loop->array].value);
      }
    } else if (const auto* snapshot = std::get_if<Snapshot>(&s.node)) {
      const GlobalGiven from = globals_[snapshot->from];
      give(globals_[snapshot->to].value, from.value);
      for (size_t i = 0; i < from.keys.size(); i++) {
        give(globals_[snapshot->to].keys[i], from.keys[i]);
      }
    } else if (const auto* result = std::get_if<Return>(&s.node); result && result->value) {
      give(body_->result, value_of(*result->value));
      return;
    }
    for_each_child(s, *this);
  }

 private:
  static Given start_of(const Global& global) {
    const auto* number = std::get_if<int64_t>(&global.init);
    return number != nullptr && *number != 0 ? Given::Other : Given::Nothing;
  }

  void visit(BodyGiven& body, const StmtPtr& code, const std::vector<TargetPlan>& targets) {
    body_ = &body;
    targets_ = &targets;
    if (code) {
      (*this)(*code);
    }
  }

  void give(Given& slot, Given what) {
    const Given before = slot;
    if (before == Given::Nothing) {
      slot = what;
    } else if (what != Given::Nothing && what != before) {
      slot = Given::Other;
    }
    changed_ = changed_ || slot != before;
  }

  Given value_of(const Expr& e) {
    if (const auto* number = std::get_if<IntLit>(&e.node)) {
      return number->value == 0 ? Given::Nothing : Given::Other;
    }
    if (const auto* choice = std::get_if<Ternary>(&e.node)) {
      value_of(*choice->condition);
      Given given = value_of(*choice->then);
      const Given otherwise = value_of(*choice->otherwise);
      return given == Given::Nothing || given == otherwise ? otherwise
             : otherwise == Given::Nothing                 ? given
                                                           : Given::Other;
    }
    if (const auto* assign = std::get_if<Assign>(&e.node)) {
      const Given given = value_of(*assign->value);
      return give_place(*assign->place, assign->op ? Given::Other : given);
    }
    if (const auto* step = std::get_if<Crement>(&e.node)) {
      return give_place(*step->place, Given::Other);
    }
    if (const auto* called = std::get_if<CallFunction>(&e.node)) {
      for (size_t i = 0; i < called->args.size(); i++) {
        give(functions_[called->function].locals[i], value_of(*called->args[i]));
      }
      return functions_[called->function].result;
    }
    if (const auto* inlined = std::get_if<Inlined>(&e.node)) {
      (*this)(*inlined->body);
      return body_->locals[inlined->result];
    }
    if (Given* slot = slot_of(e)) {
      return *slot;
    }
    for_each_child(e, *this);
    const auto* target = std::get_if<TargetRef>(&e.node);
    const bool known = target && target->target < targets_->size();
    const auto* place = known ? std::get_if<LocExpr>(&(*targets_)[target->target]) : nullptr;
    return place && place->is_pointer ? Given::Pointer : Given::Other;
  }

  Given give_place(const Expr& place, Given what) {
    if (Given* slot = slot_of(place)) {
      give(*slot, what);
    }
    return what;
  }

  // The variable that the expression is, if it is one; keys of an element are visited.
  Given* slot_of(const Expr& e) {
    if (const auto* local = std::get_if<LocalRef>(&e.node)) {
      return &body_->locals[local->local];
    }
    if (const auto* global = std::get_if<GlobalRef>(&e.node)) {
      return &globals_[global->global].value;
    }
    const auto* element = std::get_if<ElementRef>(&e.node);
    if (element == nullptr) {
      return nullptr;
    }
    GlobalGiven& array = globals_[element->array];
    for (size_t i = 0; i < element->keys.size(); i++) {
      if (element->keys[i]) {
        give(array.keys[i], value_of(*element->keys[i]));
      }
    }
    return &array.value;
  }

  const Program& program_;
  const Plan& plan_;
  std::vector<GlobalGiven> globals_;
  std::vector<BodyGiven> functions_, probes_;
  BodyGiven* body_ = nullptr;  // the one being visited, and its targets
  const std::vector<TargetPlan>* targets_ = nullptr;
  bool changed_ = false;
};

}  // namespace

void mark_pointers(Program& program, const Plan& plan) {
  Flow flow(program, plan);
  flow.run();
  for (GlobalId id = 0; id < program.globals.size(); id++) {
    program.globals[id].pointers = flow.pointers_of(id);
  }
}

}  // namespace dj
