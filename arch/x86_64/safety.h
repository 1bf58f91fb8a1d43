// SPDX-License-Identifier: Apache-2.0
// The eight static checks: may these bytes become a jump? (djprobe paper, section 3.)
// Pure: bytes and addresses in, verdicts out.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arch/x86_64/leaving.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

// Why a site cannot become a jump; the name is what --probes prints. kOk: it can.
enum class Verdict : uint8_t {
  Ok,
  NotBoundary,       // 1: IA is no instruction boundary (nothing at all can be installed there)
  NotInFunction,     // 1: IA is in no known function (decoding has no start)
  Blacklisted,       // 1, 8: refused entirely, also as int3
  Undecodable,       // 1: the function does not decode up to the DCR's end
  BranchIntoRegion,  // 2: a direct branch or call targets the JTPR
  IndirectJump,      // 3: an indirect jump whose targets are unknown
  JumpTable,         // 3: a jump table's entry targets the JTPR
  LandingPad,        // 4: exceptions land in the JTPR
  AddressTaken,      // 4: somebody holds an address inside the JTPR
  DataInText,        // 4: an instruction reads or writes bytes of the JTPR
  FunctionEnd,       // 5: the DCR runs past the function and there is no padding
  NotRelocatable,    // 6: an instruction of the DCR behind the probed one cannot run elsewhere
  Unmovable,         // 6: the probed one cannot (refused as int3 too, which goes on in a copy)
  CallNotLast,       // 6: a call that is not the DCR's last instruction
  InsideOtherSite,   // 7: collides with another probe
  RseqSection,       // 8: inside an rseq critical section (refused as int3 too)
  OutOfReach,        // no address that a guarded jump could lead to (position-dependent programs)
  WritableText,      // the program may write there: said by those who know its mappings
};
const char* verdict_name(Verdict v);  // "branch-into-region" ...
// True if not even an int3 may be put there.
bool refused(Verdict v);

// What a jump may rely on.
enum class Guards : uint8_t {
  None,         // plain jumps only: nobody arrives inside the window, and it ends in its function
  WhereNeeded,  // an instruction where somebody may arrive is kept as an int3 inside the jump
  Everywhere,   // so is every instruction inside the window: no need to know who arrives
};

// Sites less than five bytes apart.
enum class Neighbours : uint8_t {
  Apart,  // the later one stays int3, and the other one too if that stands inside its jump
  Lean,   // a jump's displacement may end in the bytes of the next sites, jumps or int3: all are
          // written and removed together
};

// One place to check. Fills everything but `address` and `probe_address`. Ask placements()
// (placement.h) for the bytes to write: with guards several forms may do.
struct Region {
  uint64_t address = 0;  // IA
  // DCR bytes if Ok: >= 5, or fewer when only placements() that leave the following instructions
  // alone are possible (never with Guards::None). Else the length of the first instruction
  // (0: undecodable).
  uint8_t length = 0;
  Verdict verdict = Verdict::Ok;
  uint64_t culprit = 0;  // address of the branch, pad ... that said no; 0: none
  // Set by exits() and syscalls(): the instruction right before which the handlers run, when that
  // is not the region's first one. check() keeps such a region's start, reaches to this
  // instruction's end, and moves `address` onto it when the answer is int3. 0: handlers run at
  // `address`.
  uint64_t probe_address = 0;

  // The facts that placements() works from, valid if the verdict is Ok.
  uint8_t first = 0;               // length of the first instruction
  uint8_t stretch = 0;             // bytes, as far as a DCR could go
  uint8_t padding = 0;             // that many of them, at the end, are padding behind the function
  uint8_t room = 0;                // bytes, as far as no other site is touched
  Verdict obstacle = Verdict::Ok;  // what a plain jump failed at; culprit is its reason
  // Bit i: an original instruction starts at address + i, 0 < i < stretch; and: control may arrive
  // there, so that a DCR that covers it must have an int3 in its place.
  uint32_t boundaries = 0, guards = 0;
  // The same bits: guards that stand only in case a jump table was read wrong (doubts.h).
  uint32_t doubts = 0;
  // From address on, as far as there is text.
  std::array<uint8_t, 16> original = {};
  // Neighbours::Lean: other sites begin in the middle of this jump's displacement (bit i of
  // `others`: at address + i), the first of them at `overlap`, 1 to 4; 0: none does. From there on
  // `shared` (byte i: at address + i) is what stands there when they are written. The e9 has so
  // many prefixes.
  uint8_t overlap = 0, others = 0, prefixes = 0;
  std::array<uint8_t, 8> shared = {};
  // Some site leans on this one: of its jump's bytes these are as they must be.
  struct Pins {
    bool set = false;
    uint8_t prefix = 0;            // so many prefixes before the e9
    uint8_t prefix_byte = 0;       // each of them
    uint32_t mask = 0, value = 0;  // of rel32
  } fixed_bytes;
};

// Exits of one function: where a return probe goes. Each is a probe region of its own whose detour
// first runs the relocated instructions up to the exit instruction, then calls the handler, then
// leaves.
struct Exit {
  Region region;              // begins at or before the exit instruction, in the same basic block
  uint64_t exit_address = 0;  // the ret or tail jump itself
  bool tail_jump = false;     // jmp out of the function: the callee will return for it
  // Where a tail jump leads: the callee's first byte, or the word of the GOT that holds its
  // address. Both 0: not known.
  uint64_t tail_target = 0, tail_slot = 0;
  Leaving leaving;  // when it does
};
struct Exits {
  std::vector<Exit> exits;
  bool complete =
      false;  // false: some way out is unknown (unresolved indirect jump); reason says which
  std::string reason;
  bool loops_to_entry = false;  // its own jumps lead to its first instruction, too
  // Others leave by these exits, too: code that several functions jump into. That a call of this
  // function returns there shows only if it was kept at its entry.
  bool shared = false;
};

struct CheckResults;  // verdicts.h

// Checker: analysis of one module, made once, asked many times. Not thread-safe.
class Checker {
 public:
  explicit Checker(ModuleText text);
  // For a module of which something is known: `text` must stay where it is, and `whole` is called
  // when the first question comes that `known` does not answer.
  Checker(std::vector<TextRange> text, CheckResults known, std::function<ModuleText()> whole);
  ~Checker();
  // All answers so far.
  const CheckResults& known() const { return *known_; }
  // Checks 1-6 and 8 for every region, and 7 among them (the first of two colliding ones wins;
  // the later stays int3, and a jump in which that int3 would stand becomes int3 too). So pass all
  // regions of a module in one call, entries and exits alike.
  // Guards::None keeps today's plain jumps; the others allow what placements() offers, and Ok means
  // that at least one of its forms has a target address in principle.
  void check(std::vector<Region>& regions, Guards guards = Guards::None,
             Neighbours neighbours = Neighbours::Apart);
  // The same without check 7: as if each region were the only one.
  void check_alone(std::vector<Region>& regions, Guards guards);
  // Is an instruction of [begin, end) in an rseq critical section? Run elsewhere it would be in
  // none.
  bool in_rseq_section(uint64_t begin, uint64_t end) const;
  // Is there one among them that check() with Guards::None would leave as int3? Their own functions
  // mostly tell, and then it takes no look at the rest of the module.
  bool any_breakpoint(std::vector<Region> regions);
  // Whether the function at `begin` is none of its own but a piece of another one: a .cold part,
  // never called. It has no exits.
  bool is_fragment(uint64_t begin);
  // The same, but false where bytes of the module look like a call or an address of `begin`: quick
  // for all functions of a module.
  bool is_unentered_fragment(uint64_t begin);
  // Exits of the function [begin, end). Their verdicts are provisional: what this function's own
  // code allows. check() must see the regions before anything is written.
  Exits exits(uint64_t begin, uint64_t end);
  // The longest known function with its first byte at `begin`; {0, 0}: none.
  FunctionRange function_from(uint64_t begin);
  // All `syscall` instructions, with the number in eax if it is a constant (-1: not known). Each
  // region is [mov $nr,%eax .. syscall] when those can be moved into one detour; verdict says
  // whether. Asked for once, then known.
  struct Syscall {
    Region region;
    uint64_t syscall_address = 0;
    int64_t number = -1;
  };
  const std::vector<Syscall>& syscalls();
  // The region of the one at `address`; that address alone if none is known there.
  Region syscall_region(uint64_t address);
  // What a region came to: the form of its jump, or int3, and the reason why it is no plain jump.
  struct Outcome {
    const char* form = "";  // "plain", "guarded", "prefixed", "punned", "int3", "refused"
    Verdict reason = Verdict::Ok;
  };
  Outcome outcome(const Region& region);
  // Every instruction of every function probed alone, with guards where needed. Takes seconds for
  // millions of them.
  struct Census {
    std::vector<std::pair<Outcome, size_t>> instructions;
    // Functions that are called, jumped to as a whole, or whose address is known to others: not the
    // cold parts that compilers split off.
    std::vector<uint64_t> entries;
  };
  Census census();
  struct Impl;  // checker.h

 private:
  Impl& impl();
  std::vector<TextRange> text_;
  std::unique_ptr<CheckResults> known_;
  std::function<ModuleText()> whole_;
  std::unique_ptr<Impl> impl_;  // made when first needed
};

}  // namespace dj::arch
