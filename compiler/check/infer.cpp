// SPDX-License-Identifier: Apache-2.0
// The order of inference: slots for all names, every body once, then the answers.
#include "compiler/check/infer.h"

#include "compiler/check/doubles.h"
#include "compiler/check/signature.h"

namespace dj {
namespace {

Type decided(Type type) { return type == Type::Unknown ? Type::Int : type; }

}  // namespace

Infer::Infer(Program& program, Notes& notes, Diags& diags)
    : program_(program), notes_(notes), diags_(diags) {}

void Infer::make_slots() {
  for (const Global& global : program_.globals) {
    bool open = global.value == Type::Unknown;
    global_values_.push_back(open ? table_.open() : table_.known(global.value, global.span));
    std::vector<TypeVar> keys;
    for (size_t i = 0; i < global.keys.size(); ++i) keys.push_back(table_.open());
    global_keys_.push_back(std::move(keys));
  }
  auto frame_vars = [this](const Frame& frame) {
    FrameVars vars;
    vars.frame = &frame;
    for (size_t i = 0; i < frame.locals.size(); ++i) vars.locals.push_back(table_.open());
    return vars;
  };
  for (FunctionId f = 0; f < program_.functions.size(); ++f) {
    const Function& function = program_.functions[f];
    const FunctionFacts& facts = notes_.facts.functions[f];
    function_frames_.push_back(frame_vars(function.frame));
    for (size_t i = 0; i < facts.param_types.size(); ++i) {
      if (facts.param_types[i] == Type::Unknown) continue;
      table_.set(function_frames_[f].locals[i], facts.param_types[i], facts.param_spans[i]);
    }
    bool known = function.result == Type::Int || function.result == Type::Str;
    results_.push_back(known ? table_.known(function.result, *facts.result_declared)
                             : table_.open());
  }
  for (const Probe& probe : program_.probes) probe_frames_.push_back(frame_vars(probe.frame));
}

void Infer::run(const DoubleTargets& doubles) {
  make_slots();
  for (function_ = 0; function_ < program_.functions.size(); ++function_) {
    frame_ = &function_frames_[function_];
    stmt(*program_.functions[function_].body);
  }
  for (ProbeId p = 0; p < program_.probes.size(); ++p) {
    frame_ = &probe_frames_[p];
    if (ExprPtr& condition = program_.probes[p].condition)
      want(*condition, Type::Int, "an arming condition");
    stmt(*program_.probes[p].body);
  }
  finish();
  // From here on, every number is an int or a double that nobody has told from one yet.

  if (diags_.ok() && (notes_.doubles || !doubles.empty()))
    Doubles(program_, notes_, doubles, diags_).run();
  finish_prints();
}

void Infer::finish() {
  for (auto [expr, v] : types_) {
    if (expr->type != Type::Void) expr->type = decided(table_.type(v));
  }
  for (GlobalId g = 0; g < program_.globals.size(); ++g) {
    Global& global = program_.globals[g];
    global.value = decided(table_.type(global_values_[g]));
    for (size_t i = 0; i < global.keys.size(); ++i) {
      global.keys[i] = decided(table_.type(global_keys_[g][i]));
    }
  }
  auto finish_frame = [this](Frame& frame, const FrameVars& vars) {
    for (size_t i = 0; i < frame.locals.size(); ++i) {
      frame.locals[i].type = decided(table_.type(vars.locals[i]));
    }
  };
  for (FunctionId f = 0; f < program_.functions.size(); ++f) {
    Function& function = program_.functions[f];
    if (function.result != Type::Void) function.result = decided(table_.type(results_[f]));
    finish_frame(function.frame, function_frames_[f]);
  }
  for (ProbeId p = 0; p < program_.probes.size(); ++p) {
    finish_frame(program_.probes[p].frame, probe_frames_[p]);
  }
}

void Infer::finish_prints() {
  for (auto [expr, v] : types_) {
    if (Print* print = std::get_if<Print>(&expr->node)) finish_print(*print);
  }
}

// Literal strings become part of the text, so that only what varies is sent.
void Infer::finish_print(Print& print) {
  const PrintNote& note = notes_.prints[print.format];
  Format& format = program_.formats[print.format];
  if (note.formatted) {
    for (const Conversion& conversion : note.conversions) {
      format.arguments.push_back(conversion.type);
    }
    return;
  }
  std::vector<ExprPtr> kept;
  for (size_t i = 0; i < print.args.size(); ++i) {
    if (i != 0) format.text += format_literal(note.delimiter);
    if (const StrLit* literal = std::get_if<StrLit>(&print.args[i]->node)) {
      format.text += format_literal(literal->value);
      continue;
    }
    Type type = print.args[i]->type;
    format.text += type == Type::Str ? "%s" : type == Type::Double ? "%g" : "%d";
    format.arguments.push_back(print.args[i]->type);
    kept.push_back(std::move(print.args[i]));
  }
  format.text += note.ending;
  print.args = std::move(kept);
}

}  // namespace dj
