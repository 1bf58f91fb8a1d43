// SPDX-License-Identifier: Apache-2.0
// The index over a ModuleSet. Layouts of types are asked as a script's @cast would be.
#include "compiler/resolve/target_index.h"

#include <fmt/format.h>

#include <charconv>

#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/sdt.h"
#include "compiler/resolve/module_set.h"

namespace dj {

namespace {

// "a.b[2]" as the steps of a target expression.
Result<std::vector<TargetStep>> steps_of(const std::string& part) {
  std::vector<TargetStep> steps;
  for (size_t at = 0; at < part.size();) {
    if (part[at] == '[') {
      int64_t index = 0;
      auto [end, error] = std::from_chars(&part[at + 1], part.data() + part.size(), index);
      if (error != std::errc() || end == part.data() + part.size() || *end != ']') {
        return Error{fmt::format("\"{}\" is no part of a type: [number] is missing", part)};
      }
      steps.push_back({TargetStep::ConstElement, {}, index, {}});
      at = static_cast<size_t>(end - part.data()) + 1;
      continue;
    }
    at += part[at] == '.' && at > 0;
    const size_t end = std::min(part.find_first_of(".[", at), part.size());
    if (end == at) {
      return Error{fmt::format("\"{}\" is no part of a type: write member.member[number]", part)};
    }
    steps.push_back({TargetStep::Field, part.substr(at, end - at), 0, {}});
    at = end;
  }
  return steps;
}

// What an address expression adds to its argument; none: it reads memory on the way.
std::optional<int64_t> constant_of(const LocExpr& expr) {
  std::vector<int64_t> stack;
  for (const LocStep& step : expr.steps) {
    if (step.op == LocStep::PushArg || step.op == LocStep::PushConst) {
      stack.push_back(step.op == LocStep::PushConst ? step.a : 0);
    } else if (step.op == LocStep::Add && stack.size() >= 2) {
      stack.end()[-2] += stack.back();
      stack.pop_back();
    } else {
      return std::nullopt;
    }
  }
  return stack.size() == 1 ? std::optional(stack[0]) : std::nullopt;
}

class ModuleIndex : public TargetIndex {
 public:
  explicit ModuleIndex(const TargetFiles& files) : modules_(files) {}

  std::vector<std::string> modules() override {
    std::vector<std::string> paths;
    for (size_t i = 0; i < modules_.size(); i++) {
      paths.push_back(modules_.path(i));
    }
    return paths;
  }

  Result<std::vector<IndexedFunction>> functions(const std::string& text) override {
    DJ_TRY(const FunctionPattern pattern, parse_function_pattern(text));
    const NameMatcher matcher = pattern.matcher();
    std::vector<IndexedFunction> result;
    for (size_t i : objects(pattern.object)) {
      Module* module = modules_.open(i);
      if (!module) {
        continue;
      }
      for (const CodeFunction& f : module->find(matcher).functions) {
        result.push_back({module->name_of(f), std::string(f.symbol), modules_.path(i), f.begin,
                          f.end - f.begin});
      }
    }
    return result;
  }

  std::vector<IndexedMark> marks(const std::string& object) override {
    std::vector<IndexedMark> result;
    for (size_t i : objects(object)) {
      Module* module = modules_.open(i);
      if (!module) {
        continue;
      }
      for (const SdtMark& mark : read_marks(module->elf())) {
        result.push_back({mark.provider, mark.name, modules_.path(i), mark.operands.size()});
      }
    }
    return result;
  }

  Result<std::vector<IndexedVariable>> variables(const std::string& text) override {
    DJ_TRY(const FunctionPattern pattern, parse_function_pattern(text));
    const NameMatcher matcher = pattern.matcher();
    bool found = false;
    for (size_t i : objects(pattern.object)) {
      Module* module = modules_.open(i);
      const std::vector<CodeFunction> functions =
          module ? module->find(matcher).functions : std::vector<CodeFunction>();
      found = found || !functions.empty();
      if (functions.empty() || !module->debug_info()) {
        continue;
      }
      ProbePlace place;
      place.function_begin = functions[0].begin;
      place.pc = module->entry_of(functions[0].begin);
      place.at_entry = true;
      std::vector<IndexedVariable> result;
      for (const Variable& v : module->debug_info()->variables(place)) {
        result.push_back({v.name, v.type, v.parameter});
      }
      return result;
    }
    return Error{found ? fmt::format("no debug info covers \"{}\"", text)
                       : fmt::format("no function matches \"{}\"", text)};
  }

  Result<int64_t> offset(const std::string& object, const std::string& type,
                         const std::string& part) override {
    DJ_TRY(std::vector<TargetStep> steps, steps_of(part));
    return evaluate(object, type, std::move(steps), "." + part);
  }

  Result<int64_t> size(const std::string& object, const std::string& type) override {
    return evaluate(object, type, {{TargetStep::ConstElement, {}, 1, {}}}, "");
  }

 private:
  std::vector<size_t> objects(const std::string& name) const {
    return modules_.named(name.empty() ? "*" : name, 0);
  }

  // The address of that part of a `type` that lies at 0.
  Result<int64_t> evaluate(const std::string& object, const std::string& type,
                           std::vector<TargetStep> steps, const std::string& part) {
    TargetExpr expr;
    expr.base = TargetExpr::Cast;
    expr.name = type;
    expr.address_of = true;
    expr.path = std::move(steps);
    std::string why = fmt::format("there is no debug info in \"{}\"", object);
    for (size_t i : objects(object)) {
      Module* module = modules_.open(i);
      if (!module || !module->debug_info()) {
        continue;
      }
      const TargetAnswer answer = module->debug_info()->target({}, expr);
      if (const auto* failed = std::get_if<TargetFailure>(&answer)) {
        why = failed->message;
      } else if (auto value = constant_of(std::get<LocExpr>(answer))) {
        return *value;
      } else {
        why = fmt::format("{}{} is not inside it: a pointer leads there", type, part);
      }
    }
    return Error{why};
  }

  ModuleSet modules_;
};

}  // namespace

std::unique_ptr<TargetIndex> make_target_index(const TargetFiles& files) {
  return std::make_unique<ModuleIndex>(files);
}

}  // namespace dj
