// SPDX-License-Identifier: Apache-2.0
// The probes of the script were expanded when it was: only those that are added are expanded.
#include "runtime/run/script_growth.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/check/check.h"
#include "runtime/run/expand.h"

namespace dj {
namespace {

template <typename T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Takes out what a tapset file has given to the script before (TapsetLibrary::forget_given()).
template <typename T>
void erase_twins(std::vector<T>& all, size_t first, uint32_t added) {
  const auto is_twin = [&](const T& part) {
    const auto is_same = [&](const T& other) {
      return other.span.file == part.span.file && other.span.begin == part.span.begin;
    };
    return part.span.file != added &&
           std::any_of(all.begin(), all.begin() + static_cast<ptrdiff_t>(first), is_same);
  };
  std::vector<T> fresh(std::make_move_iterator(all.begin() + static_cast<ptrdiff_t>(first)),
                       std::make_move_iterator(all.end()));
  all.resize(first);
  for (T& part : fresh) {
    if (!is_twin(part)) all.push_back(std::move(part));
  }
}

}  // namespace

void ScriptGrowth::add(const std::string& text, Diags& diags) {
  added_ = sources_.add("<--control>", text);
  before_ = {script_.globals.size(), script_.functions.size(), script_.aliases.size(),
             script_.probes.size()};
  ast::Script more = parse(sources_, added_, parsing_, diags);
  if (!diags.ok()) return;
  append(script_.globals, std::move(more.globals));
  append(script_.functions, std::move(more.functions));
  append(script_.aliases, std::move(more.aliases));
  std::vector<ast::Probe> before = std::exchange(script_.probes, std::move(more.probes));
  library_.complete(script_, diags);
  if (diags.ok()) expand_added(target_, choices_, script_, sources_, diags);
  append(before, std::move(script_.probes));
  script_.probes = std::move(before);
  erase_twins(script_.globals, before_.globals, added_);
  erase_twins(script_.aliases, before_.aliases, added_);
  erase_twins(script_.probes, before_.probes, added_);
}

Program ScriptGrowth::check_all(const DoubleTargets& doubles, Diags& diags) const {
  Diags all;
  Program program = check(script_, {choices_.strict, doubles}, all);
  for (const Diag& diag : all.all()) {
    if (diag.severity == Severity::Error || diag.span.file == added_) diags.add(diag);
  }
  return program;
}

void ScriptGrowth::undo() {
  script_.globals.resize(before_.globals);
  script_.functions.resize(before_.functions);
  script_.aliases.resize(before_.aliases);
  script_.probes.resize(before_.probes);
  library_.forget_given();
}

}  // namespace dj
