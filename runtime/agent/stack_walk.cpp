// SPDX-License-Identifier: Apache-2.0
// Walking the program's stack.
#include "runtime/agent/stack_walk.h"

#include "runtime/agent/arena.h"
#include "runtime/agent/user_memory.h"

namespace dj::agent {
namespace {

constexpr uint64_t kWord = 8;
// The kernel's signal frame as it lies at the stack pointer of the restorer: struct ucontext's
// general registers, in bytes (arch/x86/include/uapi/asm/sigcontext.h).
constexpr uint64_t kContextSaved[abi::kSavedRegisters] = {128, 120, 72, 80, 88, 96};
constexpr uint64_t kContextSp = 160, kContextPc = 168;
constexpr uint64_t kLinkageEntry = 16;

const abi::UnwindRule kBoundary = {abi::UnwindRule::FromStack,
                                   0,
                                   0,
                                   kWord,
                                   0,
                                   {abi::kNotSaved, abi::kNotSaved, abi::kNotSaved, abi::kNotSaved,
                                    abi::kNotSaved, abi::kNotSaved}};

uint64_t extended(int32_t value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); }

abi::StackModule module_at(uint64_t address, uint32_t unwanted) {
  const abi::StackTables* tables = stack_tables();
  return tables == nullptr ? abi::StackModule() : abi::find_stack_module(tables, address, unwanted);
}

}  // namespace

const abi::StackTables* stack_tables() { return arena()->stack_tables.get_or_null(agent::place()); }

StackWalk::StackWalk(const abi::Context* ctx, uint32_t site) : tables_(stack_tables()) {
  const abi::Header* header = arena();
  if (tables_ == nullptr || ctx->stack_pointer == 0 || site >= header->site_count) return;
  const abi::SiteInfo& info = header->sites.get(agent::place())[site];
  pc_ = info.pc + info.bias;
  boundary_ = info.boundary != 0;
  sp_ = ctx->stack_pointer;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) saved_[i] = ctx->saved[i];
  left_ = static_cast<uint32_t>(tables_->max_frames);
  is_over_ = false;
}

bool StackWalk::next() {
  if (is_over_) return false;
  const bool found = !started_ || step();
  const bool is_cut = found && left_ == 0;
  if (is_cut) count_skip(abi::kSkipStackCut);
  started_ = true;
  is_over_ = !found || is_cut;
  if (!is_over_) --left_;
  return !is_over_;
}

bool StackWalk::step() {
  const abi::UnwindRule* rule = rule_here();
  // Where a function begins, only the program's first one has no caller.
  if (boundary_ && (rule == nullptr || rule->kind != abi::UnwindRule::End)) rule = &kBoundary;
  boundary_ = false;
  bool moved = rule != nullptr ? step_by(*rule) : step_without_rules();
  return moved && pc_ != 0 && leave_own_code();
}

const abi::UnwindRule* StackWalk::rule_here() const {
  const abi::StackModule module = abi::find_stack_module(tables_, place(), kWalkedNow);
  if (module.end == 0) return nullptr;  // code that a program made
  const auto* rules = abi::in_tables<abi::UnwindRule>(tables_, module.rules);
  const auto* rows = abi::in_tables<abi::UnwindRow>(tables_, module.rows);
  const abi::UnwindRow* row = abi::last_row(rows, module.row_count, place() - module.origin);
  return row == nullptr ? &rules[0] : &rules[row->rule];
}

bool StackWalk::step_by(const abi::UnwindRule& rule) {
  const uint64_t offset = extended(rule.offset), plus = extended(rule.plus);
  uint64_t frame = 0;
  switch (rule.kind) {
    case abi::UnwindRule::FromStack:
      return go_to_caller(sp_ + offset, rule);
    case abi::UnwindRule::FromSaved:
      return go_to_caller(saved_[rule.base] + offset, rule);
    case abi::UnwindRule::StoredAt:
      return read(saved_[rule.base] + offset, &frame) && go_to_caller(frame + plus, rule);
    case abi::UnwindRule::StoredOnStack:
      return read(sp_ + offset, &frame) && go_to_caller(frame + plus, rule);
    case abi::UnwindRule::Linkage:
      return go_to_caller(sp_ + kWord + (pc_ % kLinkageEntry >= rule.base ? kWord : 0), rule);
    case abi::UnwindRule::SignalFrame:
      return leave_signal_frame();
    case abi::UnwindRule::NoRule:
      return step_without_rules();
    case abi::UnwindRule::End:
      break;
  }
  return false;
}

bool StackWalk::go_to_caller(uint64_t frame_address, const abi::UnwindRule& rule) {
  uint64_t pc = 0;
  if (frame_address <= sp_ || frame_address % kWord != 0) return false;
  if (!read(frame_address - kWord, &pc)) return false;
  const uint64_t from = rule.saved_from == 0 ? frame_address : saved_[rule.saved_from - 1];
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) {
    if (rule.saved[i] == abi::kNotSaved) continue;
    uint64_t at = from + extended(rule.saved[i]);
    if (!read(at, &saved_[i])) return false;
  }
  pc_ = pc;
  sp_ = frame_address;
  exact_ = false;
  return true;
}

bool StackWalk::step_without_rules() { return step_by_epilogue() || step_by_frame_pointer(); }

// Where nothing but `add $N, %rsp`, pops and `ret` comes next, as in CPython's trampolines, that is
// what leads to the caller.
bool StackWalk::step_by_epilogue() {
  constexpr uint64_t kLongest = 24;
  constexpr uint8_t kNone = abi::kSavedRegisters;
  constexpr uint8_t kPopped[8] = {kNone, kNone, kNone, abi::kRbx, kNone, abi::kRbp, kNone, kNone};
  constexpr uint8_t kPoppedRex[8] = {kNone,     kNone,     kNone,     kNone,
                                     abi::kR12, abi::kR13, abi::kR14, abi::kR15};
  uint64_t words[kLongest / kWord] = {};  // no bytes: the compiler would read two of them at once
  const auto code = [&words](uint64_t i) {
    return static_cast<uint8_t>(words[i / kWord] >> i % kWord * 8);
  };
  const uint64_t to_page_end = kPageBytes - pc_ % kPageBytes;
  if (!can_read(words, pc_, to_page_end < kLongest ? to_page_end : kLongest)) return false;
  uint64_t at = 0, sp = sp_, saved[abi::kSavedRegisters], pc = 0;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) saved[i] = saved_[i];
  if (code(0) == 0x48 && code(1) == 0x83 && code(2) == 0xc4) {
    sp += code(3) < 0x80 ? code(3) : 0;
    at = 4;
  } else if (code(0) == 0x48 && code(1) == 0x81 && code(2) == 0xc4 && code(6) < 0x80) {
    sp += code(3) | code(4) << 8 | code(5) << 16 | code(6) << 24;
    at = 7;
  }
  for (; at + 2 < kLongest && code(at) != 0xc3; ++at, sp += kWord) {
    const bool has_rex = code(at) == 0x41;
    at += has_rex ? 1 : 0;
    if ((code(at) & 0xf8) != 0x58 || (code(at) == 0x5c && !has_rex)) return false;
    const uint8_t popped = (has_rex ? kPoppedRex : kPopped)[code(at) & 7];
    if (popped != kNone && !read(sp, &saved[popped])) return false;
  }
  if (code(at) != 0xc3 || sp % kWord != 0 || !read(sp, &pc) || !is_behind_call(pc)) return false;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) saved_[i] = saved[i];
  sp_ = sp + kWord;
  pc_ = pc;
  exact_ = false;
  return true;
}

bool StackWalk::step_by_frame_pointer() {
  uint64_t frame = saved_[abi::kRbp], caller = 0, pc = 0;
  if (frame < sp_ || frame % kWord != 0) return false;
  if (!read(frame, &caller) || !read(frame + kWord, &pc)) return false;
  if (!is_behind_call(pc)) return false;  // the register holds something else
  saved_[abi::kRbp] = caller;
  sp_ = frame + 2 * kWord;
  pc_ = pc;
  exact_ = false;
  return true;
}

// Does a call end at `pc`: e8 and four bytes, or ff /2 in one of its lengths?
bool StackWalk::is_behind_call(uint64_t pc) {
  constexpr uint64_t kLongest = 8;
  uint8_t bytes[kLongest];
  if (pc < kLongest || !can_read(bytes, pc - kLongest, kLongest)) return false;
  if (bytes[kLongest - 5] == 0xe8) return true;
  for (uint64_t length = 2; length < kLongest; ++length) {
    const uint8_t* call = bytes + kLongest - length;
    if (call[0] == 0xff && (call[1] & 0x38) == 0x10) return true;
  }
  return false;
}

// Back to the code that a signal interrupted; its stack may be another one.
bool StackWalk::leave_signal_frame() {
  uint64_t pc = 0, sp = 0;
  if (!read(sp_ + kContextPc, &pc) || !read(sp_ + kContextSp, &sp)) return false;
  for (uint32_t i = 0; i < abi::kSavedRegisters; ++i) {
    if (!read(sp_ + kContextSaved[i], &saved_[i])) return false;
  }
  pc_ = pc;
  sp_ = sp;
  exact_ = true;
  return true;
}

bool StackWalk::read(uint64_t address, uint64_t* word) {
  if (address < window_at_ || address + kWord > window_at_ + window_words_ * kWord ||
      (address - window_at_) % kWord != 0) {
    uint64_t to_page_end = (kPageBytes - address % kPageBytes) / kWord;
    uint64_t words = to_page_end < 1 ? 1 : to_page_end < kWindowWords ? to_page_end : kWindowWords;
    window_words_ = 0;
    if (!can_read(window_, address, words * kWord)) return false;
    window_at_ = address;
    window_words_ = words;
  }
  *word = window_[(address - window_at_) / kWord];
  return true;
}

uint64_t module_begin(uint64_t address, uint32_t unwanted) {
  return module_at(address, unwanted).origin;
}

StackSymbolAt symbol_at(uint64_t address, uint32_t unwanted) {
  StackSymbolAt found;
  const abi::StackTables* tables = stack_tables();
  const abi::StackModule module = module_at(address, unwanted);
  if (module.end == 0) return found;
  found.module = abi::in_tables<abi::Str>(tables, module.path);
  const auto* rows = abi::in_tables<abi::SymbolRow>(tables, module.symbols);
  uint64_t offset = address - module.origin;
  found.offset = offset;
  const abi::SymbolRow* row = abi::last_row(rows, module.symbol_count, offset);
  if (row == nullptr || (row->size != 0 && offset - row->at >= row->size)) return found;
  found.name = abi::in_tables<abi::Str>(tables, row->name);
  found.offset = offset - row->at;
  found.size = row->size;
  return found;
}

}  // namespace dj::agent
