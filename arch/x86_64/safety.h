// SPDX-License-Identifier: Apache-2.0
// Checker runs the eight static checks, which tell whether the bytes at a place may become a jump
// (djprobe paper, section 3). It is pure: it takes bytes and addresses and gives verdicts.
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

// Verdict says why a site cannot become a jump; Ok: it can. --probes prints verdict_name().
enum class Verdict : uint8_t {
  Ok,
  NotBoundary,       // 1: IA is no instruction boundary (djtap can install neither jump nor int3)
  NotInFunction,     // 1: IA is in no known function (decoding has no start)
  Blacklisted,       // 1, 8: refused entirely, also as int3
  Undecodable,       // 1: the function does not decode up to the DCR's end
  BranchIntoRegion,  // 2: a direct branch or call targets the JTPR
  IndirectJump,      // 3: an indirect jump whose targets are unknown
  JumpTable,         // 3: a jump table's entry targets the JTPR
  LandingPad,        // 4: exceptions land in the JTPR
  AddressTaken,      // 4: the program holds an address inside the JTPR
  DataInText,        // 4: an instruction reads or writes bytes of the JTPR
  FunctionEnd,       // 5: the DCR runs past the function and there is no padding
  NotRelocatable,    // 6: an instruction of the DCR behind the probed one cannot run elsewhere
  Unmovable,         // 6: the probed one cannot (refused as int3 too, which goes on in a copy)
  CallNotLast,       // 6: a call that is not the DCR's last instruction
  InsideOtherSite,   // 7: collides with another probe
  RseqSection,       // 8: inside an rseq critical section (refused as int3 too)
  FixedPlace,        // 8: others find or change the instruction itself (refused as int3 too)
  BeforeFixed,       // 8: the jump would cover such an instruction
  OutOfReach,        // no address that a guarded jump could lead to (position-dependent programs)
  WritableText,      // the program may write there: set by callers that know its mappings
};
const char* verdict_name(Verdict v);  // "branch-into-region" ...
// Whether djtap may put neither a jump nor an int3 there.
bool refused(Verdict v);

// Guards says what a jump may rely on.
enum class Guards : uint8_t {
  None,         // plain jumps only: control never arrives inside the window, which ends in its
                // function
  WhereNeeded,  // an instruction where control may arrive becomes an int3 inside the jump
  Everywhere,   // so does every instruction inside the window, wherever control arrives
};

// Neighbours says what becomes of sites less than five bytes apart.
enum class Neighbours : uint8_t {
  Apart,  // the later one stays int3, and the other one too if that stands inside its jump
  Lean,   // a jump's displacement may end in the bytes of the next sites, jumps or int3: djtap
          // writes and removes all of them together
};

// Region is one place to check. The caller sets `address` and `probe_address`, Checker the rest.
// placements() (placement.h) gives the bytes to write: with guards several forms may do.
struct Region {
  uint64_t address = 0;  // IA
  // DCR bytes if Ok: >= 5, or fewer when only placements() that leave the following instructions
  // alone are possible (never with Guards::None). Else the length of the first instruction
  // (0: undecodable).
  uint8_t length = 0;
  Verdict verdict = Verdict::Ok;
  uint64_t culprit = 0;  // address of the branch, pad .. that refused the jump; 0: none
  // Set by exits() and syscalls(): the instruction right before which the handlers run, when that
  // is not the region's first one. check() keeps such a region's start, reaches to this
  // instruction's end, and moves `address` onto it when the answer is int3. 0: handlers run at
  // `address`.
  uint64_t probe_address = 0;

  // The facts that placements() takes; valid if the verdict is Ok.
  uint8_t first = 0;    // length of the first instruction
  uint8_t stretch = 0;  // bytes, as far as a DCR could go
  uint8_t padding = 0;  // that many of them, at the end, are padding behind the function
  uint8_t room = 0;     // bytes up to the next other site
  // Bytes up to the first one that others may change or look for: a jump ends before it.
  uint8_t changeable = 0;
  Verdict obstacle = Verdict::Ok;  // why a plain jump is not possible; culprit is its reason
  // Bit i: an original instruction starts at address + i, 0 < i < stretch; and: control may arrive
  // there, so that a DCR that covers it must have an int3 in its place.
  uint32_t boundaries = 0, guards = 0;
  // The same bits: guards that stand only in case djtap read a jump table wrong (doubts.h).
  uint32_t doubts = 0;
  // The text from `address` on, as far as there is any.
  std::array<uint8_t, 16> original = {};
  // Neighbours::Lean: other sites begin in the middle of this jump's displacement (bit i of
  // `others`: at address + i), the first of them at `overlap`, 1 to 4; 0: none does. From there on
  // `shared` (byte i: at address + i) holds the bytes that stand there when djtap has written those
  // sites. `prefixes`: how many stand before the e9.
  uint8_t overlap = 0, others = 0, prefixes = 0;
  std::array<uint8_t, 8> shared = {};
  // Pins holds the bytes of this site's jump that another jump, which ends in them, has fixed.
  struct Pins {
    bool set = false;
    uint8_t prefix = 0;            // how many prefixes stand before the e9
    uint8_t prefix_byte = 0;       // each of them
    uint32_t mask = 0, value = 0;  // of rel32
  } fixed_bytes;
};

// Exit is one exit of a function: a place where a return probe goes. It is a probe region of its
// own. Its detour first runs the relocated instructions up to the exit instruction, then calls the
// handler, then leaves.
struct Exit {
  Region region;              // begins at or before the exit instruction, in the same basic block
  uint64_t exit_address = 0;  // the ret or tail jump itself
  bool tail_jump = false;     // jmp out of the function: the callee returns in its place
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
  bool loops_to_entry = false;  // a jump of its own leads to its first instruction
  // Other functions leave by these exits too: several functions jump into this code. djtap can tell
  // that a call of this function returns there only if it kept the call at the function's entry.
  bool shared = false;
};

struct CheckResults;  // verdicts.h

// Checker analyses one module once and answers many questions about it. Not thread-safe.
class Checker {
 public:
  explicit Checker(ModuleText text);
  // For a module with answers from earlier. `text` must stay where it is. Checker calls `whole` at
  // the first question that `known` does not answer.
  Checker(std::vector<TextRange> text, CheckResults known, std::function<ModuleText()> whole);
  ~Checker();
  // Returns all answers given so far.
  const CheckResults& known() const { return *known_; }
  // Runs checks 1-6 and 8 for every region, and check 7 among the regions: of two that collide the
  // first one wins, the later one stays int3, and a jump in which that int3 would stand becomes
  // int3 too. So pass all regions of a module in one call, entries and exits alike.
  // Guards::None allows plain jumps only; the others allow what placements() offers, and Ok means
  // that at least one of its forms has a target address in principle.
  void check(std::vector<Region>& regions, Guards guards = Guards::None,
             Neighbours neighbours = Neighbours::Apart);
  // Runs the checks without check 7, as if each region were the only one.
  void check_alone(std::vector<Region>& regions, Guards guards);
  // Whether an instruction of [begin, end) must run where it stands: in an rseq critical section,
  // or because the kernel finds it by its address (ModuleText::fixed).
  bool must_stay(uint64_t begin, uint64_t end) const;
  // Whether check() with Guards::None would leave one of the regions as int3. Their own functions
  // mostly tell; then it does not look at the rest of the module.
  bool any_breakpoint(std::vector<Region> regions);
  // Whether the function at `begin` is a piece of another one: a .cold part, which no code calls. A
  // fragment has no exits.
  bool is_fragment(uint64_t begin);
  // Like is_fragment(), but false where bytes of the module look like a call or an address of
  // `begin`. It is quick for all functions of a module.
  bool is_unentered_fragment(uint64_t begin);
  // Returns the exits of the function [begin, end). Their verdicts are provisional: they say what
  // this function's own code allows. Pass the regions to check() before you write one of them.
  Exits exits(uint64_t begin, uint64_t end);
  // Returns the longest known function with its first byte at `begin`; {0, 0}: none.
  FunctionRange function_from(uint64_t begin);
  // syscalls() returns all `syscall` instructions, with the number in eax if that is a constant
  // (-1: not known). A region is [mov $nr,%eax .. syscall] if these instructions fit into one
  // detour; its verdict says whether they do. The first call finds them.
  struct Syscall {
    Region region;
    uint64_t syscall_address = 0;
    int64_t number = -1;
    bool may_be_plain = false;  // a plain jump can stand in the region if no other stands near
  };
  const std::vector<Syscall>& syscalls();
  // Returns the region of the `syscall` at `address`; a region of that address alone if none is
  // known there.
  Region syscall_region(uint64_t address);
  // Outcome is what became of a region: the form of its jump, or int3, and the reason why it is no
  // plain jump.
  struct Outcome {
    const char* form = "";  // "plain", "guarded", "prefixed", "punned", "int3", "refused"
    Verdict reason = Verdict::Ok;
  };
  Outcome outcome(const Region& region);
  // census() checks every instruction of every function as if it were the only site, with
  // Guards::WhereNeeded. Millions of instructions take seconds.
  struct Census {
    std::vector<std::pair<Outcome, size_t>> instructions;
    // Functions that other code calls, jumps to as a whole, or holds the address of; without the
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
  std::unique_ptr<Impl> impl_;  // made at its first use
};

}  // namespace dj::arch
