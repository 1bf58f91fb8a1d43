// SPDX-License-Identifier: Apache-2.0
// Recognising and reading the compilers' jump tables.
#include "arch/x86_64/jump_tables.h"

#include <algorithm>
#include <set>

#include "arch/x86_64/registers.h"
#include "arch/x86_64/stack_taken.h"

namespace dj::arch {
namespace {

constexpr int kMaxCopies = 12;           // of an address from register to register
constexpr int kMaxWay = 64;              // of a value by registers and the frame
constexpr uint32_t kMaxEntries = 4096;   // of a table without visible bounds
constexpr uint32_t kMaxLimited = 256;    // entries that are read on behind one that is none
constexpr uint32_t kMaxBoundSteps = 24;  // instructions between the bounds check and the load

bool is_register_move(const Insn& insn) {
  return insn.legacy && insn.map == 0 && insn.wide && insn.mod == 3 && insn.has_modrm &&
         (insn.opcode == 0x89 || insn.opcode == 0x8b);
}
uint8_t move_source(const Insn& insn) { return insn.opcode == 0x89 ? insn.reg : insn.rm; }

bool is_lea(const Insn& insn) { return insn.is(0x8d) && insn.rip_relative; }

bool is_move_imm(const Insn& insn) {
  return insn.legacy && insn.map == 0 &&
         ((insn.opcode >= 0xb8 && insn.opcode <= 0xbf) || (insn.opcode == 0xc7 && insn.mod == 3));
}

// xor %reg,%reg
bool is_zero(const Insn& insn) {
  return (insn.is(0x31) || insn.is(0x33)) && insn.mod == 3 && insn.reg == insn.rm;
}

// movslq (base,index,4),%reg; or of one entry only: movslq entry(%rip),%reg
bool is_entry_load(const Insn& insn) {
  return insn.is(0x63) && insn.wide && insn.memory() && (insn.index == kNoReg || insn.scale == 4);
}

// lea (%a,%b),%reg: an add into a third register
bool is_lea_sum(const Insn& insn) {
  return insn.is(0x8d) && insn.wide && insn.base != kNoReg && insn.index != kNoReg &&
         insn.scale == 1 && insn.disp == 0;
}

// xor %fs:0x30,%reg: glibc's pointer guard; what comes out was an address before it was hidden
bool is_unguard(const Insn& insn) {
  return insn.is(0x33) && insn.wide && insn.memory() && !insn.rip_relative && insn.base == kNoReg &&
         insn.index == kNoReg && insn.disp == 0x30;
}

// mov %rsp,%rbp; lea d(%rsp),%rbp
bool makes_frame_pointer(const Insn& insn) {
  if (insn.is(0x8d)) return insn.reg == kBp && insn.base == kSp;
  if (!is_register_move(insn) || move_source(insn) != kSp) return false;
  return (insn.opcode == 0x89 ? insn.rm : insn.reg) == kBp;
}

class Resolver {
 public:
  Resolver(Flow& flow, const Module& module)
      : flow_(flow), module_(module), insns_(flow.function().insns) {}

  IndirectTargets resolve(uint32_t at) {
    if (insns_[at].memory()) {
      loaded_value(at, 0);
    } else {
      value(at, insns_[at].rm, 0);
    }
    if (unknown_) return {Way::Unknown, {}};
    if (tables_ == 0) return {Way::Pointer, {}};
    if (targets_.empty()) return {Way::Unknown, {}};
    return {Way::Table, std::vector<uint64_t>(targets_.begin(), targets_.end())};
  }

 private:
  void value(uint32_t at, uint8_t reg, int depth) {
    const Flow::Definitions defs = flow_.definitions(at, reg);
    if (defs.unknown || depth > kMaxWay) unknown_ = true;
    for (const uint32_t writer : defs.writers) {
      if (unknown_) return;
      if (seen_.insert({writer, reg}).second) written_value(writer, reg, depth);
    }
  }

  void written_value(uint32_t at, uint8_t reg, int depth) {
    const Insn& insn = insns_[at];
    const bool conditional =
        insn.legacy && insn.map == 1 && (insn.opcode & 0xf0) == 0x40 && insn.wide;
    if (is_register_move(insn)) return value(at, move_source(insn), depth + 1);
    if (insn.is(0x8b) && insn.wide) return loaded_value(at, depth);
    if (is_lea(insn) || is_move_imm(insn)) return;  // an address in an operand
    if (is_zero(insn)) return;                      // and none at all
    if (insn.legacy && insn.map == 0 && (insn.opcode & 0xf8) == 0x58) return;  // pop
    if (insn.calls()) return;                                                  // somebody's result
    if (conditional) {
      value(at, reg, depth + 1);
      if (!insn.memory()) value(at, insn.rm, depth + 1);
      return;
    }
    if (is_unguard(insn)) return;
    if ((insn.is(0x01) || insn.is(0x03)) && insn.wide && insn.mod == 3)
      return table_sum(at, insn.rm, insn.reg);
    if (is_lea_sum(insn)) return table_sum(at, insn.base, insn.index);
    unknown_ = true;
  }

  // One operand is a table's entry, the other the table's address.
  void table_sum(uint32_t at, uint8_t a, uint8_t b) {
    if (!table_sum_of(at, a, b) && !table_sum_of(at, b, a)) unknown_ = true;
  }

  bool table_sum_of(uint32_t at, uint8_t entry, uint8_t base) {
    const Flow::Definitions loads = flow_.definitions(at, entry);
    if (loads.unknown || loads.from_caller || loads.writers.empty()) return false;
    for (const uint32_t load : loads.writers) {
      if (!is_entry_load(insns_[load])) return false;
    }
    std::set<uint64_t> bases;
    if (!addresses(at, base, 0, bases)) return false;
    for (const uint32_t load : loads.writers) {
      std::set<uint64_t> tables;
      const Insn& insn = insns_[load];
      if (insn.rip_relative) {
        read_one(insn.target, bases);
        continue;
      }
      if (insn.base == kNoReg) {
        tables.insert(uint64_t(int64_t(insn.disp)));
      } else if (!addresses(load, insn.base, 0, tables)) {
        return false;
      }
      if (tables.size() > 1 && tables != bases) return false;
      for (const uint64_t table : tables) {
        if (bases.size() == 1) {
          read(table + uint64_t(int64_t(insn.disp)), *bases.begin(), load);
        } else if (bases.count(table) != 0) {
          read(table + uint64_t(int64_t(insn.disp)), table, load);
        } else {
          return false;
        }
      }
    }
    return true;
  }

  // What lies in memory is an address that somebody knows, but in the function's frame, where it
  // may have put a sum.
  void loaded_value(uint32_t at, int depth) {
    if (!is_in_frame(insns_[at])) return;
    const Flow::Definitions stores = flow_.stores(at);
    if (stores.unknown || (stores.writers.empty() && !is_passed(insns_[at]))) unknown_ = true;
    for (const uint32_t store : stores.writers) {
      if (!unknown_ && insns_[store].is(0x89)) value(store, insns_[store].reg, depth + 1);
    }
  }

  // From behind the return address: by the stack pointer as it is when the prologue has run.
  bool is_passed(const Insn& load) const {
    constexpr int64_t kWord = 8;
    if (load.base == kBp) return load.disp >= 2 * kWord;  // the caller's rbp is below
    int64_t frame = kWord;
    for (const Insn& insn : insns_) {
      if (insn.branches() || insn.leaves() || insn.calls()) break;
      frame += stack_taken(insn).value_or(0);
    }
    return load.disp >= frame;
  }

  bool is_in_frame(const Insn& load) const {
    if (load.base != kBp) return load.base == kSp;
    return std::any_of(insns_.begin(), insns_.end(), makes_frame_pointer);
  }

  // The addresses in leas that reg may hold before `at`. That reg is a table's address is certain
  // from its use; so other values that seem to arrive (behind a call that never returns, say)
  // cannot, and are passed over. A value from memory may be a spilled table: false.
  bool addresses(uint32_t at, uint8_t reg, int depth, std::set<uint64_t>& found) {
    const Flow::Definitions defs = flow_.definitions(at, reg);
    if (defs.unknown || depth > kMaxCopies) return false;
    for (const uint32_t writer : defs.writers) {
      const Insn& insn = insns_[writer];
      if (is_lea(insn)) {
        if (insn.target % 4 == 0) found.insert(insn.target);
      } else if (is_register_move(insn)) {
        if (!addresses(writer, move_source(insn), depth + 1, found)) return false;
      } else if (insn.memory() && insn.wide && insn.is(0x8b)) {
        return false;
      }
    }
    return depth > 0 || !found.empty();
  }

  void read_one(uint64_t entry_at, const std::set<uint64_t>& bases) {
    int32_t entry;
    if (!module_.read_entry(entry_at, entry)) unknown_ = true;
    for (const uint64_t base : bases) targets_.insert(base + uint64_t(int64_t(entry)));
    tables_++;
  }

  // Entries up to the index's bound are targets. Up to a mere limit they are where they look like
  // targets; without either the table ends where an entry does not.
  void read(uint64_t table, uint64_t base, uint32_t load) {
    tables_++;
    const Bound bound = find_bound(load);
    const uint64_t count = uint64_t(bound.largest) + 1;
    const bool exact = bound.kind == Bound::Exact;
    const uint64_t read = exact ? count : std::min<uint64_t>(count, kMaxEntries + 1);
    for (uint64_t i = 0; i < read; i++) {
      int32_t entry;
      if (!module_.read_entry(table + 4 * i, entry)) {
        if (exact) unknown_ = true;
        return;
      }
      const uint64_t target = base + uint64_t(int64_t(entry));
      if (exact ? i == 0 && !plausible(target) : !may_belong(target)) {
        if (exact || count > kMaxLimited) return;  // no table at all, or its end
      } else if ((exact || plausible(target)) && starts_instruction(target)) {
        targets_.insert(target);
      }
    }
    if (read > kMaxEntries && !exact) unknown_ = true;  // longer than we are willing to believe
  }

  // clang gives values that cannot occur the address of an empty block: the end of the code.
  bool may_belong(uint64_t target) const { return plausible(target) || ends_code(target); }
  bool ends_code(uint64_t target) const {
    const FunctionRange& own = flow_.function().range;
    if (target == own.end) return true;
    const FunctionRange* other = module_.function_at(target - 1);
    return other != nullptr && target == other->end && plausible(other->begin);
  }

  bool plausible(uint64_t target) const {
    if (flow_.function().inside(target)) return starts_instruction(target);
    const FunctionRange* other = module_.function_at(target);
    if (other == nullptr) return false;
    // A .cold part is never called. Its own tables lead back.
    const bool one_is_part = !module_.incoming().entered.has(other->begin) || is_part();
    return one_is_part && starts_instruction(target);
  }

  bool is_part() const {
    const uint64_t begin = flow_.function().range.begin;
    const std::vector<uint64_t>& taken = module_.text().address_taken;
    return !module_.incoming().entered.has(begin) &&
           !std::binary_search(taken.begin(), taken.end(), begin);
  }

  // False only for what is known to be the middle of an instruction.
  bool starts_instruction(uint64_t target) const {
    const Function& function = flow_.function();
    if (function.inside(target))
      return target >= function.decoded_end() || function.find(target) != Function::kNone;
    const FunctionRange* other = module_.function_at(target);
    if (other == nullptr) return true;
    return module_.may_be_instruction(*other, target);
  }

  // What the code before `load` says of the index.
  struct Bound {
    enum Kind : uint8_t {
      None,
      Limit,  // its width: the table may be shorter
      Exact,  // a comparison: the compiler has made that many entries
    } kind = None;
    uint32_t largest = ~0u;
  };
  Bound find_bound(uint32_t load) {
    Bound bound;
    if (insns_[load].index == kNoReg) return bound;
    uint16_t names = uint16_t(1u << insns_[load].index);  // registers that hold the index
    uint32_t at = load;
    for (uint32_t step = 0; step < kMaxBoundSteps && names != 0; step++) {
      const size_t before = flow_.only_predecessor(at);
      if (before == Function::kNone) return bound;
      const Insn& insn = insns_[before];
      if (insn.kind == Kind::CondJump) {
        uint32_t largest;
        if (bound_by_compare(uint32_t(before), insns_[at].address == insn.end(), names, largest))
          return {Bound::Exact, std::min(largest, bound.largest)};
      } else if ((flow_.written(uint32_t(before)) & names) != 0) {
        names = index_written(insn, names, bound);
      }
      at = uint32_t(before);
    }
    return bound;
  }

  // The index was written here: gives the registers that hold it before, 0: none. Narrows `bound`.
  static uint16_t index_written(const Insn& insn, uint16_t names, Bound& bound) {
    constexpr uint32_t kByte = 0xff, kWord = 0xffff;
    const auto limit = [&](uint32_t largest) {
      bound = {Bound::Limit, std::min(bound.largest, largest)};
    };
    if (!insn.legacy || !insn.has_modrm) return 0;
    if (insn.map == 0 && insn.mod == 3 &&
        (insn.opcode == 0x89 || insn.opcode == 0x8b)) {  // mov, 32 bits too
      const uint8_t from = move_source(insn);
      const uint8_t to = insn.opcode == 0x89 ? insn.rm : insn.reg;
      return uint16_t((names & ~(1u << to)) | 1u << from);
    }
    const bool masks = insn.map == 0 && (insn.opcode == 0x83 || insn.opcode == 0x81) &&
                       insn.mod == 3 && (insn.reg & 7) == 4 && insn.imm >= 0;
    if (masks) limit(uint32_t(insn.imm));
    const bool zero_extends = insn.map == 1 && (insn.opcode == 0xb6 || insn.opcode == 0xb7);
    if (!zero_extends) return 0;
    limit(insn.opcode == 0xb6 ? kByte : kWord);
    const bool high_byte = insn.opcode == 0xb6 && insn.rm >= 4 && insn.prefixes == 0;
    return insn.mod != 3 || high_byte ? 0 : uint16_t(1u << insn.rm);
  }

  // `cmp $imm,index` right before the conditional jump `at`, which lets only small ones through.
  bool bound_by_compare(uint32_t at, bool falls_through, uint16_t names, uint32_t& bound) {
    if (at == 0 || flow_.only_predecessor(at) != at - 1) return false;
    const Insn& cmp = insns_[at - 1];
    if (!cmp.legacy || cmp.map != 0 || cmp.imm < 0 || cmp.imm >= 65536 ||
        cmp.end() != insns_[at].address)
      return false;
    uint8_t reg = kNoReg;
    if (cmp.opcode == 0x3c || cmp.opcode == 0x3d) reg = 0;
    const bool group = cmp.opcode == 0x80 || cmp.opcode == 0x81 || cmp.opcode == 0x83;
    if (group && cmp.mod == 3 && (cmp.reg & 7) == 7) reg = cmp.rm;
    if (reg == kNoReg || !(names >> reg & 1)) return false;
    const int condition = insns_[at].opcode & 15;
    const uint32_t limit = uint32_t(cmp.imm);
    if (condition == (falls_through ? 7 : 6)) {  // ja falls through, jbe is taken
      bound = limit;
    } else if (condition == (falls_through ? 3 : 2) && limit > 0) {  // jae, jb
      bound = limit - 1;
    } else {
      return false;
    }
    return true;
  }

  Flow& flow_;
  const Module& module_;
  const std::vector<Insn>& insns_;
  std::set<std::pair<uint32_t, uint8_t>> seen_;
  std::set<uint64_t> targets_;
  uint32_t tables_ = 0;
  bool unknown_ = false;
};

}  // namespace

IndirectTargets indirect_targets(Flow& flow, const Module& module, uint32_t at) {
  return Resolver(flow, module).resolve(at);
}

}  // namespace dj::arch
