// SPDX-License-Identifier: Apache-2.0
// A number that handlers in the target only count up and down is a Counter: one slot per CPU, no
// contended cache line. Its exact value is a sum that only djtap's own handlers may ask for. The
// same holds for the elements of an array that is never deleted from; these everybody may ask for.
#include "compiler/check/storage.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace dj {
namespace {

// By unit: whether its code can run in the traced program.
std::vector<bool> runs_in_target(const ast::Script& script, const Uses& uses) {
  std::unordered_multimap<std::string, uint32_t> functions;  // overloads have one name
  for (uint32_t f = 0; f < script.functions.size(); ++f) {
    functions.emplace(script.functions[f].name, f);
  }
  std::vector<bool> reached(uses.units.size(), false);
  std::vector<uint32_t> waiting;
  for (uint32_t u = 0; u < uses.units.size(); ++u) {
    if (!uses.units[u].is_function && !uses.units[u].host) waiting.push_back(u);
  }
  while (!waiting.empty()) {
    uint32_t unit = waiting.back();
    waiting.pop_back();
    if (reached[unit]) continue;
    reached[unit] = true;
    for (const std::string& name : uses.units[unit].calls) {
      auto [first, last] = functions.equal_range(name);
      for (auto callee = first; callee != last; ++callee) waiting.push_back(callee->second);
    }
  }
  return reached;
}

bool starts_at_zero(const Global& global) {
  const int64_t* number = std::get_if<int64_t>(&global.init);
  return std::holds_alternative<std::monostate>(global.init) || (number != nullptr && *number == 0);
}

bool is_counter(const Global& global, const std::vector<NameUse>& uses,
                const std::vector<bool>& in_target) {
  if (global.value != Type::Int || !starts_at_zero(global)) return false;
  bool counted = false;
  for (const NameUse& use : uses) {
    switch (use.use) {
      case Use::Update:
        if (!use.additive) return false;
        counted = true;
        break;
      case Use::Read:
        if (in_target[use.unit]) return false;
        break;
      case Use::Delete:
        break;
      default:
        return false;
    }
  }
  return counted;
}

bool is_deleted(const std::vector<NameUse>& uses) {
  return std::any_of(uses.begin(), uses.end(),
                     [](const NameUse& use) { return use.use == Use::Delete; });
}

bool only_adds(const std::vector<NameUse>& uses) {
  return std::all_of(uses.begin(), uses.end(), [](const NameUse& use) {
    return use.use == Use::Read || (use.use == Use::Update && use.additive);
  });
}

}  // namespace

void choose_storage(const ast::Script& script, const Uses& uses, Program& program) {
  static const std::vector<NameUse> kNone;
  std::vector<bool> in_target = runs_in_target(script, uses);
  for (Global& global : program.globals) {
    auto found = uses.names.find(global.name);
    const std::vector<NameUse>& list = found == uses.names.end() ? kNone : found->second;
    global.ever_read =
        std::any_of(list.begin(), list.end(), [](const NameUse& u) { return is_read(u.use); });
    global.ever_written =
        std::any_of(list.begin(), list.end(), [](const NameUse& u) { return is_write(u.use); });
    // A snapshot's copy, which the script does not name, is emptied for each snapshot.
    global.array.grows = found != uses.names.end() && !global.array.wrap && !is_deleted(list);
    if (!global.keys.empty()) {
      global.storage = Storage::Array;
      global.array.sums = global.array.grows && global.value == Type::Int && only_adds(list);
    } else if (global.value == Type::Stat) {
      global.storage = Storage::Stats;
    } else {
      global.storage = is_counter(global, list, in_target) ? Storage::Counter : Storage::Scalar;
    }
  }
}

}  // namespace dj
