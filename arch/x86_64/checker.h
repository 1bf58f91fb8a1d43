// The inside of Checker (safety.h): what the three questions share.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "arch/x86_64/branch_scan.h"
#include "arch/x86_64/judged.h"
#include "arch/x86_64/module.h"
#include "arch/x86_64/safety.h"

namespace dj::arch {

struct Checker::Impl {
  explicit Impl(ModuleText text) : module(std::move(text)), starts(module.low(), module.high()) {}

  // Function-wide facts that a decoded function tells.
  struct Facts {
    std::vector<uint64_t> table_targets;  // of its jump tables, anywhere in the module
    uint64_t unknown_jump = 0;            // an indirect jump that could not be resolved
  };

  Function decode(const FunctionRange& range);  // and notes its instruction starts
  void note(const Function& function);
  Facts facts(const Function& function) const;
  // Checks 1, 5, 6 and 8: fills length and verdict from the instructions alone.
  void measure(Region& region, const Function& function) const;
  void forbid(Region& region, Verdict verdict, uint64_t culprit) const;
  bool confirmed(const Reference& reference);

  Module module;
  Judged judged;
  ByteSet starts;  // instruction starts of the functions decoded so far
  std::unordered_map<uint64_t, uint64_t> decoded;  // function begin -> end of what decoded
};

// Where a region that must contain `pivot` begins: the shortest way back that gives the jump five
// bytes together with the padding behind a leaving pivot. Stops at what cannot be passed; then the
// region is too short.
uint64_t region_start(const Module& module, const Function& function, size_t pivot);

constexpr uint32_t kJumpBytes = 5;

}  // namespace dj::arch
