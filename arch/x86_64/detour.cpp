// SPDX-License-Identifier: Apache-2.0
// Building a site's detour; detour.h shows the two forms.
#include "arch/x86_64/detour.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/x86_64/detour_frame.h"
#include "arch/x86_64/relocate.h"
#include "arch/x86_64/whole_function.h"

namespace dj::arch {
namespace {

// Where a register's value of the site lies once the frame stands, in bytes above the frame's end;
// kInPlace: still in the register.
constexpr uint32_t kInPlace = ~0u;

uint32_t saved_slot(Form form, Reg reg) {
  if (form == Form::Boundary) return reg == kR11 ? 0 : kInPlace;
  if (reg == kR11) return 16;
  return reg == kRax ? 8 : kInPlace;  // 0 is the flags
}

// addq $n,%gs:word
void put_count(Code& code, const HandlerCall& call) {
  CHECK(call.count_word < uint64_t{1} << 31);
  const bool small = call.count_add >= INT8_MIN && call.count_add <= INT8_MAX;
  code.put({0x65, 0x48});
  if (call.count_add == 1) {
    code.put({0xff, 0x04, 0x25});  // incq
  } else {
    code.put({uint8_t(small ? 0x83 : 0x81), 0x04, 0x25});
  }
  code.put_u32(uint32_t(call.count_word));
  if (call.count_add == 1) return;
  if (small) {
    code.put({uint8_t(call.count_add)});
  } else {
    code.put_u32(uint32_t(call.count_add));
  }
}

// 0, which they never are, where handlers before have changed them and nobody has kept them.
void push_flags(Code& code, Form form, uint32_t pushed, bool has_flags) {
  if (form == Form::Boundary) {
    if (!has_flags) return code.push_imm(0);
  } else {
    code.put({0x48, 0x8b, 0x84, 0x24});  // mov pushed(%rsp),%rax: whose value is in its slot
    code.put_u32(pushed);
    load_flags(code);
  }
  code.put({0x9c});  // pushfq
}

}  // namespace

// Registers that an earlier handler or the flags' saving changed come from their saved copies.
Status put_handler_call(Code& code, Form form, const HandlerCall& call, bool has_flags) {
  if (call.count_word != 0) {
    put_count(code, call);
    return ok_status();
  }
  uint32_t pushed = 0;
  for (auto it = call.stack_regs.rbegin(); it != call.stack_regs.rend(); ++it) {
    CHECK((*it < kRegCount && *it != kRsp) || *it == kFlags);
    const Reg reg = Reg(*it);
    const uint32_t slot = *it == kFlags ? kInPlace : saved_slot(form, reg);
    if (*it == kFlags) {
      push_flags(code, form, pushed, has_flags);
    } else if (slot == kInPlace) {
      code.push(reg);
    } else {
      code.push_slot(slot + pushed);
    }
    pushed += 8;
  }
  if (call.wants_site) {
    code.push_imm(call.site);
    pushed += 8;
  }
  DJ_TRY_DO(call.slot != 0 ? code.call_through(call.slot) : code.call(call.address));
  if (pushed != 0) code.move_sp(int32_t(pushed));
  return ok_status();
}

namespace {

Status put_handlers(Code& code, Form form, const std::vector<HandlerCall>& calls,
                    bool has_flags = true) {
  if (calls.empty()) return ok_status();
  const bool frame = form == Form::Middle ||
                     std::any_of(calls.begin(), calls.end(),
                                 [](const HandlerCall& call) { return call.count_word == 0; });
  if (frame) open_frame(code, form);
  for (const HandlerCall& call : calls) {
    DJ_TRY_DO(put_handler_call(code, form, call, has_flags));
    has_flags = false;
  }
  if (frame) close_frame(code, form);
  return ok_status();
}

// A system call that can be made where it stands. Not before the handlers: nobody would come back
// to them.
bool is_intact(const DetourRequest& request, const Insn& insn) {
  const uint64_t offset = insn.address - request.original;
  return insn.kind == Kind::Syscall && request.intact_from != 0 && offset >= request.intact_from &&
         offset >= request.handlers_at;
}

// The hook answers in CF and ZF, which lea leaves alone, and so does the system call: the kernel
// gives each of those who come back the flags of the call.
Status put_hooked(Code& code, const DetourRequest& request, std::span<const uint8_t> bytes,
                  const Insn& insn, uint32_t& copy_at) {
  DJ_TRY_DO(put_handlers(code, request.form, request.calls));
  code.move_sp(-kRedZone);
  DJ_TRY_DO(code.call(request.syscall_hook));
  code.move_sp(kRedZone);
  const uint32_t made = code.short_jump(0x72);  // jc
  if (is_intact(request, insn)) {
    const uint32_t starts_thread = code.short_jump(0x75);  // jne
    DJ_TRY_DO(code.jump(insn.address));
    code.bind(starts_thread);
  }
  copy_at = code.size();
  DJ_TRY_DO(relocate_to(code, bytes, insn));
  const uint32_t nothing = code.short_jump(0x74);  // je
  code.move_sp(-kRedZone);
  DJ_TRY_DO(code.call(request.child_hook));
  code.move_sp(kRedZone);
  code.bind(nothing);
  code.bind(made);
  return ok_status();
}

}  // namespace

uint32_t call_bytes_max(const std::vector<uint8_t>& stack_regs) {
  constexpr uint32_t kCall = 24, kPush = 8, kFlagsPush = 16;
  uint32_t total = kCall;
  for (const uint8_t reg : stack_regs) total += reg == kFlags ? kFlagsPush : kPush;
  return total;
}

uint32_t detour_bytes_max(uint32_t displaced, uint32_t rest, uint32_t calls, bool always_leaves) {
  constexpr uint32_t kFrame = 48, kHook = 64, kJumpBack = 8;
  const uint32_t leaving = always_leaves ? 0 : kLeavingBytesMax;
  return kFrame + kHook + kJumpBack + calls + leaving + kRelocatedMax * (displaced - rest) +
         kWholeGrowth * rest;
}

uint32_t detour_bytes_max(const DetourRequest& request) {
  uint32_t calls = 0;
  for (const HandlerCall& call : request.calls) calls += call_bytes_max(call.stack_regs);
  for (const HandlerCall& call : request.exit_calls) calls += call_bytes_max(call.stack_regs);
  return detour_bytes_max(uint32_t(request.region.size()), request.rest, calls,
                          request.leaving.how == Leaving::Always);
}

namespace {

// The first guard behind offset; the region's end if there is none.
uint32_t next_guard(const DetourRequest& request, uint32_t offset) {
  while (offset < request.region.size() && !(offset < 32 && request.guards >> offset & 1)) offset++;
  return offset;
}

// DetourBuilder: a detour while it is written, the region's instructions one after the other. The
// request must outlive it.
class DetourBuilder {
 public:
  DetourBuilder(const DetourRequest& request, uint64_t to, Detour& detour)
      : request_(request), detour_(detour), code_(to, std::move(detour.bytes)) {
    detour.copies.clear();
    detour.pieces.clear();
    detour.copies.reserve(request.region.size());
    detour.pieces.reserve(request.region.size());
  }
  Status build();

 private:
  bool at_handlers() const { return offset_ == request_.handlers_at; }
  Status put(std::span<const uint8_t> bytes, const Insn& insn);
  Status put_itself(std::span<const uint8_t> bytes, const Insn& insn);
  Status put_exit(std::span<const uint8_t> bytes, const Insn& insn);
  Status put_taken();
  Status step_over(const Insn& insn);

  const DetourRequest& request_;
  Detour& detour_;
  Code code_;
  uint32_t offset_ = 0;  // in the region, of the next instruction
  bool goes_on_ = true;  // whoever has run what was put runs what comes behind it
  bool trapped_ = false;
  bool stays_ = false;        // what is left of the region runs where it stands
  bool handled_ = false;      // the handlers are called
  uint32_t branch_ = 0;       // of an IfTaken exit, bound at the end
  uint64_t branch_goal_ = 0;  // where that leads
};

// An exit instruction that need not leave.
Status DetourBuilder::put_exit(std::span<const uint8_t> bytes, const Insn& insn) {
  if (request_.leaving.how == Leaving::IfTaken) {
    branch_goal_ = insn.target;
    branch_ = put_branch_to_exit(code_, bytes, insn);
    return ok_status();
  }
  DJ_TRY_DO(put_inside_jump(code_, bytes, insn, request_.leaving));
  DJ_TRY_DO(put_handlers(code_, Form::Boundary, request_.exit_calls, false));
  return relocate_to(code_, bytes, insn);
}

// Where the branch of an IfTaken exit leads.
Status DetourBuilder::put_taken() {
  code_.bind_long(branch_);
  const bool has_flags = request_.calls.empty() || request_.form == Form::Middle;
  DJ_TRY_DO(put_handlers(code_, Form::Boundary, request_.exit_calls, has_flags));
  return code_.jump(branch_goal_);
}

// The instruction without what comes before it. Who stands in an intact system call is there
// already, so it is no piece.
Status DetourBuilder::put_itself(std::span<const uint8_t> bytes, const Insn& insn) {
  const uint32_t begin = code_.size();
  if (at_handlers() && request_.leaving.how != Leaving::Always) {
    DJ_TRY_DO(put_exit(bytes, insn));
  } else if (is_intact(request_, insn)) {
    goes_on_ = false;
    stays_ = true;
    return code_.jump(insn.address);
  } else {
    DJ_TRY_DO(relocate_to(code_, bytes, insn));
  }
  detour_.pieces.push_back({offset_, begin, code_.size()});
  return ok_status();
}

// The instruction at offset_, behind the handlers if it is theirs.
Status DetourBuilder::put(std::span<const uint8_t> bytes, const Insn& insn) {
  if (at_handlers() && request_.syscall_hook != 0) {
    uint32_t copy = 0;
    DJ_TRY_DO(put_hooked(code_, request_, bytes, insn, copy));
    detour_.copies.emplace_back(offset_, copy);
    detour_.pieces.push_back({offset_, copy, copy + insn.length});
    return ok_status();
  }
  const uint32_t handlers = code_.size();
  if (at_handlers()) DJ_TRY_DO(put_handlers(code_, request_.form, request_.calls));
  // Who arrives at an exit has not met its handlers.
  detour_.copies.emplace_back(offset_, at_handlers() && offset_ != 0 ? handlers : code_.size());
  return put_itself(bytes, insn);
}

// To the next instruction that somebody may come to. Bytes behind a jump or return are padding that
// the jump overwrites, unless they are guarded.
Status DetourBuilder::step_over(const Insn& insn) {
  offset_ += insn.length;
  // A relocated call returns to the original code by itself; a debugger may go on after an int3.
  trapped_ = insn.kind == Kind::Trap;
  goes_on_ = !((insn.leaves() && !trapped_) || insn.calls());
  const uint32_t next = goes_on_ ? offset_ : next_guard(request_, offset_);
  if (insn.calls() && next != offset_)
    return Error{
        fmt::format("the call at {:#x} returns to an unguarded instruction", insn.address)};
  offset_ = next;
  return ok_status();
}

Status DetourBuilder::build() {
  const uint32_t size = uint32_t(request_.region.size());
  while (offset_ < size && !stays_) {
    const auto bytes = request_.region.subspan(offset_);
    Insn insn;
    if (!decode(bytes, request_.original + offset_, insn)) {
      if (goes_on_ && trapped_) break;  // padding, of which the jump takes a part
      return Error{fmt::format("no instruction (at {:#x})", request_.original + offset_)};
    }
    handled_ = handled_ || at_handlers();
    DJ_TRY_DO(put(bytes, insn));
    if (!stays_) DJ_TRY_DO(step_over(insn));
  }
  if (!handled_)
    return Error{fmt::format("no instruction starts {} bytes behind {:#x}", request_.handlers_at,
                             request_.original)};
  detour_.end = offset_;
  if (goes_on_ && offset_ >= size) DJ_TRY_DO(code_.jump(request_.original + offset_));
  if (branch_ != 0) DJ_TRY_DO(put_taken());
  detour_.bytes = code_.take();
  CHECK(detour_.bytes.size() <= detour_bytes_max(request_));
  return ok_status();
}

}  // namespace

Status build_detour(const DetourRequest& request, uint64_t to, Detour& detour) {
  return DetourBuilder(request, to, detour).build();
}

Result<Detour> build_detour(const DetourRequest& request, uint64_t to) {
  Detour detour;
  DJ_TRY_DO(build_detour(request, to, detour));
  return detour;
}

}  // namespace dj::arch
