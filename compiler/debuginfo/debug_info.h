// SPDX-License-Identifier: Apache-2.0
// DebugInfo: the questions probes ask of one module's DWARF. Values come back as LocExpr and text;
// no libdw type leaves this room. Addresses are the module's file addresses.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/debuginfo/object_file.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/stages/location.h"
#include "compiler/stages/plan.h"
#include "compiler/stages/program.h"
#include "compiler/stages/type_printer.h"

namespace dj {

struct SourcePlace {
  std::string file;
  uint32_t line = 0;
};

// Where a target expression is evaluated.
struct ProbePlace {
  uint64_t pc = 0;  // the probed instruction
  uint64_t function_begin = 0;
  bool at_entry =
      false;  // nothing of the function has run: arguments are where the caller put them
  bool at_return = false;  // $return may be used
  uint64_t scope = 0;      // InlineHit::scope: variables are those of this inlined copy; 0: all
  bool is_clone = false;   // a compiler-made copy: its parameters may not be the source's
  bool may_return_less = false;  // gcc's copy of a function whose callers need no result, or a part
};

// Why a target expression has no value.
struct TargetFailure {
  enum Kind : uint8_t {
    NoDebugInfo,   // no DWARF covers the place
    UnknownName,   // no such variable in scope; known: those that are
    UnknownField,  // no such member; known: those that are
    NotHere,       // the variable exists, but has no location at this pc
    BadUse,        // the type does not allow this step
    NotBuilt,      // a form that is not built yet
    BadHeader,     // a header with the type cannot be compiled
    NoObject,      // the target has no object of that name
  } kind = NotHere;
  int step = -1;                   // index into TargetExpr::path; -1: the name itself
  std::string message;             // one sentence, no period
  std::vector<std::string> known;  // names to suggest from
  std::vector<std::string> notes;
  std::string help;
};
using TargetAnswer = std::variant<LocExpr, TargetFailure>;
using TextAnswer = std::variant<TargetText, TargetFailure>;

// One variable as listings show it: "fd", "int".
struct Variable {
  std::string name, type;
  bool parameter = false;
};

// Instructions of one source line: the first address of the line in each function that has code for
// it.
struct LineHit {
  uint64_t address = 0;
  std::string file;
  uint32_t line = 0;
};

// One copy of a function that the compiler put into a caller's code.
struct InlineHit {
  uint64_t address = 0;  // where the copy is entered
  uint64_t scope = 0;    // for ProbePlace
  std::string name;      // as a person writes it
  SourcePlace declared;
  // [begin, end) of its code. Empty: a statement begins there of which no instruction is left.
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
};

struct LabelHit {
  uint64_t address = 0;
  std::string name;
  uint32_t line = 0;
};

class DebugInfo {
 public:
  // Null when neither the file nor a separate debug file has DWARF. `elf` must outlive the result.
  static std::unique_ptr<DebugInfo> open(const ObjectFile& elf);
  ~DebugInfo();

  // How texts show some types; must outlive this object.
  void set_printers(const TypePrinters* printers);

  // Declaration of the function that holds `pc`; where it has none, as in assembler code, the line
  // of `pc` itself.
  std::optional<SourcePlace> declaration(uint64_t pc);
  // The folder in which the code at `pc` was compiled: relative file names begin there. "": not
  // known.
  std::string compile_folder(uint64_t pc);
  // All instructions (is_stmt) of file:lines with begin <= address < end, ascending. `nearest`:
  // when there are none, lines of that file with code there, below and above. all_rows: also where
  // no statement begins.
  std::vector<LineHit> line_addresses(const std::string& file, LineRange lines, uint64_t begin,
                                      uint64_t end, std::vector<uint32_t>& nearest,
                                      bool all_rows = false);
  // The same in all of the module.
  std::vector<LineHit> line_addresses(const std::string& file, LineRange lines,
                                      std::vector<uint32_t>& nearest, bool all_rows = false);
  // Inlined copies of the functions that match, by address; in all of the module: walks all of its
  // debug info. The second: only those in the function that holds `pc`.
  std::vector<InlineHit> inlined(const NameMatcher& matcher);
  std::vector<InlineHit> inlined(const NameMatcher& matcher, uint64_t pc);
  // What the meaning asks of debug information is so for the function that holds `pc`.
  bool confirms(const NameMatcher::Meaning& meaning, const NameMatcher& matcher, uint64_t pc);
  // Its name with all names around it, as debug information has it; empty: it knows none.
  const std::string& name(uint64_t pc);
  // What gdb calls the function of Fortran or Ada that begins there and has this symbol; empty:
  // there is none.
  std::string foreign_name(uint64_t pc, std::string_view symbol);
  bool has_foreign();  // some unit is in one of these languages
  // Labels (as for goto) of the function that holds `pc`, those of inlined copies too.
  std::vector<LabelHit> labels(uint64_t pc);

  TargetAnswer target(const ProbePlace& place, const TargetExpr& expr);
  // $$parms, $$vars, $$locals, $$return (name "$parms" ...), each also with '$' behind it; $x$,
  // $x$$.
  TextAnswer text(const ProbePlace& place, const TargetExpr& expr);
  // Parameters first, then locals, in declaration order; empty when nothing is known.
  std::vector<Variable> variables(const ProbePlace& place);
  // Whether the name is a result's of the function that holds `pc`: it has no value before the
  // function's end. Go's functions have several, and they may have names.
  bool is_result(uint64_t pc, const std::string& name);
  // Its return type: "int"; "" for void or when nothing is known. Of several results the first's.
  std::string return_type(uint64_t pc);

 private:
  struct Impl;
  explicit DebugInfo(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dj
