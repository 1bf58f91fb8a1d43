// Runs a filter as the kernel does (classic BPF: linux/filter.h, linux/seccomp.h), once for each
// system call that handlers make. The arguments are taken to be 0.
#include "runtime/agent/seccomp.h"

#include "runtime/agent/user_memory.h"
#include "runtime/shared/denied.h"

using namespace dj;
using namespace dj::agent;

namespace {

constexpr uint32_t kMostInstructions = 4096;  // BPF_MAXINSNS
constexpr uint32_t kWords = 16;               // of scratch memory, and of what is looked at

struct Instruction {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t k;
};

struct Program {
  uint16_t length;
  uint64_t code;  // address of Instruction 0
};

// struct seccomp_data.
struct Call {
  int32_t number;
  uint32_t architecture;
  uint64_t address, arguments[6];
};
static_assert(sizeof(Call) == 4 * kWords);

class Machine {
 public:
  Machine(const Instruction* code, uint32_t length) : code_(code), length_(length) {}

  // What the filter returns; of one that the kernel would refuse, 0.
  uint32_t run(const Call& call) {
    a_ = x_ = 0;
    for (uint64_t at = 0; at < length_; ++at) {  // a jump of 2^32 - 1 leads behind the end, too
      const Instruction& insn = code_[at];
      constexpr uint16_t kClass = 7, kJump = 5, kReturn = 6, kAlu = 4, kReturnsA = 0x10;
      if ((insn.code & kClass) == kReturn) return (insn.code & kReturnsA) != 0 ? a_ : insn.k;
      if ((insn.code & kClass) == kJump)
        at += jump(insn);
      else if ((insn.code & kClass) == kAlu && divides_by_zero(insn))
        return 0;
      else if ((insn.code & kClass) == kAlu)
        compute(insn);
      else
        move(insn, call);
    }
    return 0;
  }

 private:
  uint32_t operand(const Instruction& insn) const {
    constexpr uint16_t kSourceX = 8;
    return (insn.code & kSourceX) != 0 ? x_ : insn.k;
  }

  // That ends the filter, and the process with it.
  bool divides_by_zero(const Instruction& insn) const {
    constexpr uint16_t kOperation = 0xf0, kDivide = 0x30;
    return (insn.code & kOperation) == kDivide && operand(insn) == 0;
  }

  uint32_t jump(const Instruction& insn) const {
    const uint32_t with = operand(insn);
    bool taken = false;
    switch (insn.code & 0xf0) {
      case 0x00:
        return insn.k;
      case 0x10:
        taken = a_ == with;
        break;
      case 0x20:
        taken = a_ > with;
        break;
      case 0x30:
        taken = a_ >= with;
        break;
      default:
        taken = (a_ & with) != 0;
    }
    return taken ? insn.if_true : insn.if_false;
  }

  void compute(const Instruction& insn) {
    const uint32_t with = operand(insn);
    switch (insn.code & 0xf0) {
      case 0x00:
        a_ += with;
        break;
      case 0x10:
        a_ -= with;
        break;
      case 0x20:
        a_ *= with;
        break;
      case 0x30:
        a_ /= with;
        break;
      case 0x40:
        a_ |= with;
        break;
      case 0x50:
        a_ &= with;
        break;
      case 0x60:
        a_ <<= with % 32;
        break;
      case 0x70:
        a_ >>= with % 32;
        break;
      case 0x80:
        a_ = 0 - a_;
        break;
      default:
        a_ ^= with;
    }
  }

  // Loads, stores, and from one register to the other.
  void move(const Instruction& insn, const Call& call) {
    uint32_t data[kWords];
    __builtin_memcpy(data, &call, sizeof data);
    uint32_t& word = memory_[insn.k % kWords];
    switch (insn.code) {
      case 0x00:
        a_ = insn.k;
        break;
      case 0x01:
        x_ = insn.k;
        break;
      case 0x02:
        word = a_;
        break;
      case 0x03:
        word = x_;
        break;
      case 0x07:
        x_ = a_;
        break;
      case 0x20:
        a_ = data[insn.k / 4 % kWords];
        break;
      case 0x60:
        a_ = word;
        break;
      case 0x61:
        x_ = word;
        break;
      case 0x80:
        a_ = sizeof call;
        break;
      case 0x81:
        x_ = sizeof call;
        break;
      case 0x87:
        a_ = x_;
        break;
      default:
        break;
    }
  }

  const Instruction* code_;
  uint32_t length_, a_ = 0, x_ = 0, memory_[kWords] = {};
};

bool is_readable(uint64_t at, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes;) {
    char piece[512];
    const uint64_t size = bytes - done < sizeof piece ? bytes - done : sizeof piece;
    const int64_t got = read_user(piece, at + done, size);
    if (got == -kEperm) return true;  // by an earlier filter: the program's pointer is believed
    if (got != static_cast<int64_t>(size)) return false;
    done += size;
  }
  return true;
}

uint64_t denied_by(uint64_t program) {
  constexpr uint32_t kX86 = 0xc000003e, kActions = 0xffff0000, kAllow = 0x7fff0000,
                     kLog = 0x7ffc0000;
  if (!is_readable(program, sizeof(Program))) return 0;
  const auto* asked = reinterpret_cast<const Program*>(program);
  const uint32_t length = asked->length;
  if (length > kMostInstructions || !is_readable(asked->code, length * sizeof(Instruction)))
    return 0;
  Machine machine(reinterpret_cast<const Instruction*>(asked->code), length);
  uint64_t denied = 0;
  for (const int64_t number : abi::kAskedCalls) {
    const uint32_t action = machine.run({static_cast<int32_t>(number), kX86, 0, {}}) & kActions;
    if (action != kAllow && action != kLog) denied |= abi::asked_bit(number);
  }
  return denied;
}

// Strict mode knows read, write, exit and rt_sigreturn.
uint64_t denied_strictly() {
  uint64_t denied = 0;
  for (const int64_t number : abi::kAskedCalls) {
    if (number != kSysRead && number != kSysRtSigreturn) denied |= abi::asked_bit(number);
  }
  return denied;
}

}  // namespace

uint64_t agent::denied_from(uint64_t number, uint64_t a, uint64_t b, uint64_t c) {
  constexpr uint64_t kSetSeccomp = 22;  // PR_SET_SECCOMP, with its modes
  constexpr uint32_t kModeStrict = 1, kModeFilter = 2;
  constexpr uint32_t kSetStrict = 0, kSetFilter = 1;  // of seccomp()
  const auto first = static_cast<uint32_t>(a);
  if (static_cast<uint32_t>(number) == kSysPrctl) {
    if (first != kSetSeccomp) return 0;
    return b == kModeStrict ? denied_strictly() : b == kModeFilter ? denied_by(c) : 0;
  }
  if (static_cast<uint32_t>(number) != kSysSeccomp) return 0;
  return first == kSetStrict ? denied_strictly() : first == kSetFilter ? denied_by(c) : 0;
}
