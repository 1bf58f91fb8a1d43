// SPDX-License-Identifier: Apache-2.0
// Types of statements: conditions are numbers, loop variables have the types of the array.
#include <fmt/format.h>

#include "compiler/check/infer.h"
#include "compiler/check/overload.h"

namespace dj {

void Infer::stmt(Stmt& s) {
  std::visit(Overload{
                 [&](Block& b) {
                   for (StmtPtr& each : b.body) stmt(*each);
                 },
                 [&](ExprStmt& x) { visit(*x.expr); },
                 [&](StatAdd& add) { stat_add(add); },
                 [&](If& i) {
                   want(*i.condition, Type::Int, "a condition");
                   stmt(*i.then);
                   if (i.otherwise) stmt(*i.otherwise);
                 },
                 [&](Loop& loop) {
                   if (loop.condition) want(*loop.condition, Type::Int, "a condition");
                   if (loop.step) visit(*loop.step);
                   stmt(*loop.body);
                 },
                 [&](Foreach& loop) { foreach_loop(loop); },
                 [](Break&) {},
                 [](Continue&) {},
                 [](Next&) {},
                 [&](Return& r) {
                   if (!r.value) return;
                   TypeVar v = value(*r.value);
                   // Outside of a function it was reported.
                   if (function_ >= program_.functions.size()) return;
                   flow({results_[function_],
                         fmt::format("the result of `{}`", program_.functions[function_].name)},
                        *r.value, v);
                 },
                 [&](DeleteElement& d) {
                   ElementRef& element = std::get<ElementRef>(d.element->node);
                   keys(element.array, element.keys);
                   remember(*d.element, global_values_[element.array]);
                 },
                 [](DeleteGlobal&) {},
                 [&](Snapshot& t) { snapshot(t); },
                 [&](Try& t) {
                   stmt(*t.body);
                   stmt(*t.handler);
                 },
             },
             s.node);
}

void Infer::foreach_loop(Foreach& loop) {
  const Global& array = program_.globals[loop.array];
  const std::vector<Span>& spans = notes_.loop_spans[&loop];
  for (size_t i = 0; i < loop.keys.size(); ++i) {
    meet({frame_->locals[loop.keys[i]],
          fmt::format("`{}`", frame_->frame->locals[loop.keys[i]].name)},
         {global_keys_[loop.array][i], key_words(loop.array, i)}, spans[i]);
  }
  if (loop.value) {
    meet(
        {frame_->locals[*loop.value], fmt::format("`{}`", frame_->frame->locals[*loop.value].name)},
        {global_values_[loop.array], fmt::format("an element of `{}`", array.name)}, spans.back());
  }
  keys(loop.array, loop.slice);
  if (loop.limit) want(*loop.limit, Type::Int, "a limit");
  stmt(*loop.body);
}

// Both are one array to the script.
void Infer::snapshot(Snapshot& s) {
  if (program_.globals[s.from].value != Type::Stat)
    table_.join(global_values_[s.from], global_values_[s.to]);
  for (size_t i = 0; i < global_keys_[s.from].size(); ++i)
    table_.join(global_keys_[s.from][i], global_keys_[s.to][i]);
  stmt(*s.body);
}

void Infer::stat_add(StatAdd& add) {
  aggregate_place(*add.place);
  want(*add.value, Type::Int, "`<<<`");
}

}  // namespace dj
