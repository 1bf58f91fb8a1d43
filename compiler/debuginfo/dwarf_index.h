// SPDX-License-Identifier: Apache-2.0
// DwarfIndex: address -> unit -> function over one file's DWARF, built unit by unit as it is asked.
// Only for this room.
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/debuginfo/call_sites.h"
#include "compiler/debuginfo/code_ranges.h"
#include "compiler/debuginfo/complete_types.h"
#include "compiler/debuginfo/dwfl_file.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/debuginfo/packed_units.h"
#include "compiler/stages/type_printer.h"

namespace dj {

// Children of a DIE, in order: for (Dwarf_Die& child : Children(die)).
std::vector<Dwarf_Die> children(Dwarf_Die* die);
// An attribute, also of the abstract origin or specification.
std::optional<Dwarf_Attribute> attribute(Dwarf_Die* die, unsigned name);
// Its value as a number without a sign; none: no such attribute, or one of another form.
std::optional<uint64_t> number(Dwarf_Die* die, unsigned name);
// A number that may be below 0. What stands in 1, 2 or 4 bytes is not: compilers write negative
// ones with a sign of their own (DW_FORM_sdata), and elfutils would take 200 in one byte for -56.
std::optional<int64_t> signed_number(Dwarf_Attribute* attr);
bool flag(Dwarf_Die* die, unsigned name);  // false without one
std::string die_name(Dwarf_Die* die);      // the source's; "": it has none
std::string linkage_name(Dwarf_Die* die);  // the linker's: of C and without one the same
// The DIE that attribute `name` refers to.
std::optional<Dwarf_Die> referred(Dwarf_Die* die, unsigned name);

// Tells DIEs apart, those of .dwo files too (their offsets all begin at 0).
uint64_t identity(const Dwarf_Die& die);

// Where the source declares the DIE (also its abstract origin or specification): path and line.
std::optional<std::pair<std::string, uint32_t>> declaration_of(Dwarf_Die* die);

class DwarfIndex {
 public:
  // Null: the file has no DWARF.
  static std::unique_ptr<DwarfIndex> open(const ObjectFile& elf);

  // Everything below takes and gives addresses of the module's file.
  std::optional<Dwarf_Die> unit_at(uint64_t pc);
  // The subprogram, not an inlined copy in it.
  std::optional<Dwarf_Die> function_at(uint64_t pc);
  // The .dwo file that holds the unit at pc and could not be read; empty: the unit is whole.
  std::string missing_file(uint64_t pc);
  // A number by which the DIE is found again, never 0.
  uint64_t mark(const Dwarf_Die& die);
  std::optional<Dwarf_Die> marked(uint64_t mark) const;  // none: no DIE has that number
  // The rows of a unit's line table; false: it has none, or those of all units are more than code
  // of this file can have.
  bool lines(Dwarf_Die unit, Dwarf_Lines** lines, size_t* count);
  // The [begin, end) of its code, in the order of its list; empty ones too.
  std::vector<CodeRanges::AddressPair> ranges(Dwarf_Die* die) const;
  bool covers(Dwarf_Die* die, uint64_t pc) const;  // its address ranges do
  const std::vector<Dwarf_Die>& units() const { return units_.all; }
  // Those, and the units that have nothing but types.
  std::vector<Dwarf_Die> units_of_types();
  // The complete type for a declaration ("struct foo;"): of its name and kind.
  std::optional<Dwarf_Die> complete_type(Dwarf_Die* declared);
  // Other objects may call the function that begins there by its name: so nobody has changed how.
  bool is_global_function(uint64_t address);
  // Whether code of the function's unit is optimized: a variable of it has a list of locations.
  bool is_optimized(Dwarf_Die* function);
  // The rule for the canonical frame address at pc; empty: unknown.
  std::vector<Dwarf_Op> cfa_ops(uint64_t pc) const;

  // Where the function at pc keeps what a register held when it was entered: in memory, so many
  // bytes above the canonical frame address, or still there. None: it is lost.
  struct Saved {
    bool in_memory = false;
    int64_t offset = 0;
  };
  // reg: its DWARF number.
  std::optional<Saved> saved_register(uint64_t pc, int reg) const;
  // Collected when first asked for.
  const CallSites& call_sites();
  // The addresses behind direct calls and jumps to an address, as the code has them; searched for
  // when first asked.
  std::vector<uint64_t> transfers_to(uint64_t address);

  // DWARF addresses plus this are the module's (not 0 only for files moved by prelink).
  uint64_t bias() const { return opened_.bias; }
  const ObjectFile& elf() const { return elf_; }

  // How texts show some types; null: each as debug info says.
  void set_printers(const TypePrinters* printers) { printers_ = printers; }
  const TypePrinters* printers() const { return printers_; }

 private:
  static constexpr uint64_t kMostRows =
      1 << 20;  // of line tables; one more for each byte of the file
  struct Range {
    uint64_t begin, end;
    size_t index;
  };
  explicit DwarfIndex(const ObjectFile& elf)
      : elf_(elf), file_(elf, Ask::Servers), rows_left_(kMostRows + elf.all().size()) {}
  void add_ranges(Dwarf_Die* die, size_t index, std::vector<Range>& out) const;
  void index_units();
  std::optional<Dwarf_Die> split_of(Dwarf_CU* skeleton);
  template <typename Visit>  // visit(Dwarf_Frame*) for what unwind tables say of pc; true ends it
  void each_frame(uint64_t pc, Visit visit) const;
  struct Functions {
    std::vector<Dwarf_Die> dies;
    std::vector<Range> ranges;
    bool nested = false;            // those inside other functions are there, too
    std::optional<bool> optimized;  // when first asked
    void sort();
    std::optional<Dwarf_Die> at(uint64_t pc) const;  // once sorted
  };
  void collect(Dwarf_Die* parent, Functions& out, bool nested) const;

  const ObjectFile& elf_;
  DwflFile file_;
  struct Packed {
    std::unique_ptr<PackedUnits> units;  // null: none, or not searched for yet
    bool searched = false;
  } packed_;
  uint64_t rows_left_;
  struct Opened {
    Dwarf* dwarf = nullptr;
    uint64_t bias = 0;
  } opened_;
  mutable CodeRanges ranges_;
  struct Units {
    std::vector<Dwarf_Die> all;
    std::vector<Range> ranges;                          // sorted by begin
    std::unordered_map<uint64_t, Functions> functions;  // by unit, filled when first asked
  } units_;
  std::optional<CompleteTypes> complete_types_;  // when first asked
  struct Globals {
    std::vector<uint64_t> functions;  // sorted
    bool indexed = false;             // when first asked
  } globals_;
  const TypePrinters* printers_ = nullptr;
  struct Calls {
    std::unique_ptr<CallSites> sites;
    std::optional<std::vector<std::pair<uint64_t, uint64_t>>> transfers;  // to what, from where
  } calls_;
  std::unordered_map<uint64_t, Dwarf_Die> marked_;
};

}  // namespace dj
