// SPDX-License-Identifier: Apache-2.0
// Notes: what the passes of check tell each other beside the Program. Dies with check().
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/check/format.h"
#include "compiler/check/register_reads.h"
#include "compiler/stages/program.h"

namespace dj {

// The hidden variable that holds n in `n in @hist_log(x)`, and what messages call it.
inline constexpr const char* kAskedBucket = "a histogram's bucket";

class ScriptNames;

struct GlobalFacts {
  std::optional<Span> indexed;    // first use as an array
  std::optional<Span> aggregate;  // first <<<, or first @op when nothing else writes it
  std::optional<Span> number;     // first other write, for labels
  std::optional<Span> linear;     // the @hist_linear that fixed the bounds
  bool reported = false;          // its shape was wrong once: be silent from now on
};

struct FunctionFacts {
  std::optional<Span> result_declared, value_returned;
  std::vector<Span> param_spans;
  std::vector<Type> param_types;  // declared; Unknown: not
  int64_t priority = 0;
  bool has_next = false;           // it may pass the call on
  std::optional<FunctionId> next;  // the overload that `next` calls
};

// One Print: its format text waits for the types of its arguments, or (printf) the other way round.
struct PrintNote {
  bool formatted = false;
  std::vector<Conversion> conversions;  // formatted: one per argument
  Span literal;                         // formatted: the format string
  std::string delimiter, ending;        // not formatted
};

// A poisoned expression stands for one whose mistake was reported: it has any type and gives no
// complaint. It is a number whose type was left open, which no other expression is.
inline bool is_poisoned(const Expr& e) {
  return e.type == Type::Unknown && std::holds_alternative<IntLit>(e.node);
}

struct Notes {
  bool doubles = false;  // a literal, a built-in or a format is of doubles: doubles.h has work
  std::unordered_map<std::string, GlobalId> globals;
  std::unordered_map<std::string, std::vector<FunctionId>>
      functions;                              // by name, in order of priority
  RegisterReads register_reads;               // by the function's name
  std::unordered_set<std::string> of_probes;  // functions_of_probes()
  std::unordered_set<FunctionId> wrong;       // of these, whose mistakes were reported
  const ScriptNames* script_names = nullptr;  // while bodies are bound
  struct Facts {
    std::vector<GlobalFacts> globals;      // by GlobalId
    std::vector<FunctionFacts> functions;  // by FunctionId
  } facts;
  std::vector<const ast::Stmt*> bodies;                              // the same
  std::vector<PrintNote> prints;                                     // by FormatId
  std::vector<std::pair<GlobalId, GlobalId>> snapshots;              // a global and its copy
  std::unordered_map<const Foreach*, std::vector<Span>> loop_spans;  // of the keys, then the value
};

}  // namespace dj
