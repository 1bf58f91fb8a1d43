// SPDX-License-Identifier: Apache-2.0
// Detours are executed: registers, flags, stack and red zone afterwards must be those of the bare
// code.
#include "arch/x86_64/detour.h"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <random>

#include "arch/x86_64/test_machine.h"
#include "arch/x86_64/test_victim.h"

extern "C" {
dj::arch::test::State dj_test_state;
uint64_t dj_test_code, dj_test_host_sp;
}

// Register file in and out, by encoding number: rax rcx rdx rbx rsp rbp rsi rdi r8-r15, then flags.
asm(R"(
.text
.globl dj_test_run
dj_test_run:
  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
  mov %rsp, dj_test_host_sp(%rip)
  lea dj_test_state(%rip), %rax
  push 128(%rax)
  popfq
  mov 8(%rax),%rcx;  mov 16(%rax),%rdx;  mov 24(%rax),%rbx;  mov 40(%rax),%rbp
  mov 48(%rax),%rsi; mov 56(%rax),%rdi;  mov 64(%rax),%r8;   mov 72(%rax),%r9
  mov 80(%rax),%r10; mov 88(%rax),%r11;  mov 96(%rax),%r12;  mov 104(%rax),%r13
  mov 112(%rax),%r14; mov 120(%rax),%r15; mov 32(%rax),%rsp; mov (%rax),%rax
  jmp *dj_test_code(%rip)
.globl dj_test_exit
dj_test_exit:
  mov %rax, dj_test_state(%rip)
  lea dj_test_state(%rip), %rax
  mov %rcx,8(%rax);  mov %rdx,16(%rax);  mov %rbx,24(%rax);  mov %rsp,32(%rax); mov %rbp,40(%rax)
  mov %rsi,48(%rax); mov %rdi,56(%rax);  mov %r8,64(%rax);   mov %r9,72(%rax)
  mov %r10,80(%rax); mov %r11,88(%rax);  mov %r12,96(%rax);  mov %r13,104(%rax)
  mov %r14,112(%rax); mov %r15,120(%rax)
  mov dj_test_host_sp(%rip), %rsp
  pushfq
  pop 128(%rax)
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
  cld
  ret
)");

namespace dj::arch {
namespace {

using test::State;

constexpr uint64_t kBase = 0x10000000;  // victim, detour, handlers and stack, a page or more each
constexpr uint64_t kVictim = kBase, kDetour = kBase + 0x10000, kHandler = kBase + 0x20000;
constexpr uint64_t kRecord = kBase + 0x30000, kStack = kBase + 0x48000, kHelper = kBase + 0x50000;

// Handler: notes how often, rdi, and the three first stack arguments; then changes all that a
// preserve_most function may change: r11 and the flags.
constexpr const char* kHandlerSource =
    "push %rax; mov $0x10030000,%eax; incq (%rax); mov %rdi,8(%rax);"
    "mov 16(%rsp),%r11; mov %r11,16(%rax); mov 24(%rsp),%r11; mov %r11,24(%rax);"
    "mov 32(%rsp),%r11; mov %r11,32(%rax); mov %rax,%r11; pop %rax; cmp $0x7f,%r11b; ret";

class DetourRun : public testing::Test {
 protected:
  DetourRun() : memory_(0x60000, kBase) {
    memory_.put(kHandler, test::assemble(kHandlerSource));
    // A callee for relocated calls: tells its return address in rax.
    memory_.put(kHelper, test::assemble("mov (%rsp),%rax; ret"));
  }

  State random_state(std::mt19937_64& random) {
    State state;
    for (uint64_t& reg : state.regs) reg = random();
    state.regs[4] = kStack;
    state.regs[2] = kHelper;
    state.flags = 0x202 | (random() & 0x8d5);  // CF PF AF ZF SF OF
    return state;
  }

  void fill_stack() { memset(memory_.at(kStack - 0x1000), 0x5a, 0x2000); }
  std::vector<uint8_t> stack(int64_t from, int64_t to) {
    return {memory_.at(uint64_t(int64_t(kStack) + from)),
            memory_.at(uint64_t(int64_t(kStack) + to))};
  }
  uint64_t record(int i) {
    uint64_t value;
    memcpy(&value, memory_.at(kRecord + uint64_t(i) * 8), 8);
    return value;
  }

  // Runs source bare and probed and compares everything. Returns how often the handlers ran.
  uint64_t compare(const std::string& source, DetourRequest request, size_t region_bytes,
                   uint64_t seed) {
    SCOPED_TRACE(source + " seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto code = test::assemble(source);
    if (region_bytes == 0) region_bytes = code.size();
    memory_.put(kVictim, code);
    memory_.put_exit(kVictim + code.size());
    const State in = random_state(random);
    fill_stack();
    const State bare = test::run(kVictim, in);
    const auto bare_stack = stack(-128, 512);
    request.region = std::span(code).first(region_bytes);
    request.original = kVictim;
    auto detour = build_detour(request, kDetour);
    EXPECT_TRUE(detour.ok()) << detour.error().message;
    if (!detour.ok()) return 0;
    EXPECT_LE(detour.value().bytes.size(), detour_bytes_max(request));
    memory_.put(kDetour, detour.value().bytes);
    memory_.put(kVictim, encode_jump(kVictim, kDetour).take());
    memset(memory_.at(kRecord), 0, 64);
    fill_stack();
    const State probed = test::run(kVictim, in);
    for (int i = 0; i < 16; i++) EXPECT_EQ(probed.regs[i], bare.regs[i]) << "register number " << i;
    if (request.form == Form::Middle) {
      EXPECT_EQ(probed.flags, bare.flags);
      EXPECT_EQ(stack(-128, 512), bare_stack);
    } else {
      EXPECT_EQ(stack(0, 512), std::vector<uint8_t>(bare_stack.begin() + 128, bare_stack.end()));
    }
    input_ = in;
    return record(0);
  }

  test::Memory memory_;
  State input_;
};

HandlerCall plain_call() { return {kHandler, {}, false, 0}; }

TEST_F(DetourRun, MiddleKeepsFlagsRegistersAndRedZone) {
  const char* sources[] = {
      "lea 0x100(%rip),%rbx; nop",
      "mov %rax,-8(%rsp); nop",
      "adc %rbx,%rcx; setc %r9b",
      "jc 1f; mov $1,%ebx; 1: nop",
      "lahf; nop; nop; nop; nop",
      "seto %r10b; nop",
      "push %r11; pop %rbx; nop; nop",
      "mov -0x40(%rsp),%rbx",
      "cmovs %r11,%r12; nop",
      "nop; nop; nop; call *%rdx; nop",
      "mov $3,%ecx; 1: add $2,%rbx; loop 1b",
      "nop; nop; nop; pushfq; popfq",
  };
  for (uint64_t seed = 1; seed <= 40; seed++) {
    for (const char* source : sources) {
      DetourRequest request;
      request.form = Form::Middle;
      request.calls = {plain_call()};
      const bool call =
          std::string(source).find("call") != std::string::npos;  // a call ends its region
      EXPECT_EQ(compare(source, request, call ? 5 : 0, seed), 1u);
    }
  }
}

TEST_F(DetourRun, BoundaryGivesStackArgumentsInOrder) {
  DetourRequest request;
  HandlerCall call = plain_call();
  call.wants_site = true;
  call.site = 0x1234;
  call.stack_regs = {kRax, kR11};
  request.calls = {call, call};  // the second gets r11 although the first changed it
  EXPECT_EQ(compare("push %rbp; mov %rsp,%rbp; push %r11", request, 0, 7), 2u);
  EXPECT_EQ(record(1), input_.regs[7]);  // rdi in place
  EXPECT_EQ(record(2), 0x1234u);
  EXPECT_EQ(record(3), input_.regs[0]);   // rax
  EXPECT_EQ(record(4), input_.regs[11]);  // r11
}

TEST_F(DetourRun, MiddleGivesSavedCopies) {
  DetourRequest request;
  request.form = Form::Middle;
  HandlerCall call = plain_call();
  call.stack_regs = {kRbx, kR11, kRax};
  request.calls = {call, call};
  EXPECT_EQ(compare("mov %rsi,%rdi; adc $0,%rdi", request, 0, 8), 2u);
  EXPECT_EQ(record(2), input_.regs[3]);
  EXPECT_EQ(record(3), input_.regs[11]);
  EXPECT_EQ(record(4), input_.regs[0]);
}

// Its displacement is right in both forms, and what the word holds is what runs.
TEST_F(DetourRun, ACallThroughASlotIsSwitchedByOneWord) {
  constexpr uint64_t kSlot = kRecord + 0x200, kReturn = kHandler + 0x800;
  memory_.put(kReturn, test::assemble("ret"));
  auto set = [&](uint64_t target) { memcpy(memory_.at(kSlot), &target, sizeof target); };
  for (const Form form : {Form::Boundary, Form::Middle}) {
    DetourRequest request;
    request.form = form;
    HandlerCall switched = plain_call();
    switched.stack_regs = {kRbx, kR11};
    switched.wants_site = true;
    switched.slot = kSlot;
    request.calls = {switched, plain_call()};
    set(kHandler);
    EXPECT_EQ(compare("mov %rsi,%rdi; mov %rdi,%rcx", request, 0, 10), 2u);
    set(kReturn);
    EXPECT_EQ(compare("mov %rsi,%rdi; mov %rdi,%rcx", request, 0, 11), 1u);
  }
}

// A counter that the detour changes itself: in the row that the thread's gs base leads to.
TEST_F(DetourRun, ACountIsAddedInTheThreadsRow) {
  constexpr uint64_t kRow = 0x100;
  for (const uint64_t row : {uint64_t{0}, kRow}) {
    for (const Form form : {Form::Boundary, Form::Middle}) {
      uint64_t sum = 0;
      for (const int32_t add : {1, -1, 127, -128, 5000, -70000}) {
        DetourRequest request;
        request.form = form;
        HandlerCall count;
        count.count_word = kRecord + 0x200;
        count.count_add = add;
        request.calls = {count, plain_call(), count};
        memset(memory_.at(kRecord + 0x200), 0, 0x200);
        ASSERT_EQ(syscall(SYS_arch_prctl, ARCH_SET_GS, row), 0);
        const char* source = form == Form::Middle ? "adc %rsi,%rdi; mov %r11,-8(%rsp)"
                                                  : "add %rsi,%rdi; mov %r11,-8(%rsp)";
        EXPECT_EQ(compare(source, request, 0, 12), 1u);
        request.calls = {count};
        compare("lea 1(%rdi),%rsi; push %r11; pop %rcx", request, 0, 13);
        ASSERT_EQ(syscall(SYS_arch_prctl, ARCH_SET_GS, 0), 0);
        memcpy(&sum, memory_.at(kRecord + 0x200 + row), 8);
        EXPECT_EQ(int64_t(sum), int64_t{3} * add);
      }
    }
  }
}

TEST(DetourForm, ACountAloneNeedsNoFrame) {
  const auto code = test::assemble("push %rbp; mov %rsp,%rbp; push %rbx");
  DetourRequest request;
  request.region = code;
  request.original = 0x10000;
  HandlerCall count;
  count.count_word = 0x20000;
  count.count_add = 1;
  request.calls = {count};
  auto detour = build_detour(request, 0x10020);
  ASSERT_TRUE(detour.ok());
  EXPECT_EQ(detour.value().bytes,
            test::assemble("incq %gs:0x20000; push %rbp; mov %rsp,%rbp; push %rbx; "
                           ".byte 0xe9, 0xd2, 0xff, 0xff, 0xff"));
}

TEST_F(DetourRun, FrameBytesTellWhereTheArgumentsLie) {
  // The handler's own frame: return address and its push, so 16(%rsp) is the first argument; its
  // address relative to the site's stack pointer is -(kFrameBytes + 8 * arguments).
  memory_.put(kHandler,
              test::assemble("lea 8(%rsp),%r11; mov %r11,0x10030008; incq 0x10030000; ret"));
  for (const Form form : {Form::Boundary, Form::Middle}) {
    DetourRequest request;
    request.form = form;
    HandlerCall call = plain_call();
    call.stack_regs = {kRcx, kRsi};
    request.calls = {call};
    EXPECT_EQ(compare("nop; nop; nop; nop; nop", request, 0, 9), 1u);
    EXPECT_EQ(record(1), kStack - kFrameBytes[size_t(form)] - 16);
  }
}

TEST_F(DetourRun, ExitHandlersRunBetweenTheInstructionsAndTheReturn) {
  // The victim is called; its region is mov $77,%edi; ret with the handlers on the ret.
  DetourRequest request;
  request.calls = {plain_call()};
  request.handlers_at = 5;
  const std::string source = "mov $77,%edi; ret";
  const auto code = test::assemble(source);
  memory_.put(kVictim, code);
  request.region = code;
  request.original = kVictim;
  auto detour = build_detour(request, kDetour);
  ASSERT_TRUE(detour.ok()) << detour.error().message;
  ASSERT_EQ(detour.value().copies.size(), 2u);
  EXPECT_EQ(detour.value().copies[0], std::make_pair(0u, 0u));
  EXPECT_EQ(detour.value().copies[1].first, 5u);
  EXPECT_NE(detour.value().bytes[detour.value().copies[1].second], 0xc3);  // the handler first
  memory_.put(kDetour, detour.value().bytes);
  memory_.put_exit(kHelper);
  std::mt19937_64 random(1);
  State in = random_state(random);
  memcpy(memory_.at(kStack), &kHelper, 8);  // where the victim returns to
  const State out = test::run(kDetour, in);
  EXPECT_EQ(record(0), 1u);
  EXPECT_EQ(record(1), 77u);  // rdi as the relocated mov left it
  EXPECT_EQ(out.regs[4], kStack + 8);
}

// Also where the text keeps the bytes of the call: from there nobody would come to the handlers.
TEST_F(DetourRun, SystemCallsBeforeTheHandlersAreMadeInTheDetour) {
  const auto code = test::assemble("mov $39,%eax; syscall; mov %rax,%rdi; ret");
  memory_.put(kVictim, code);
  memory_.put_exit(kHelper);
  DetourRequest request;
  request.calls = {plain_call()};
  request.handlers_at = 10;
  request.intact_from = 5;
  request.region = code;
  request.original = kVictim;
  const auto detour = build_detour(request, kDetour);
  ASSERT_TRUE(detour.ok()) << detour.error().message;
  memory_.put(kDetour, detour.value().bytes);
  std::mt19937_64 random(1);
  const State in = random_state(random);
  memcpy(memory_.at(kStack), &kHelper, 8);  // where the victim returns to
  test::run(kDetour, in);
  EXPECT_EQ(record(0), 1u);
  EXPECT_EQ(record(1), uint64_t(getpid()));
}

// The exit handlers run exactly when the instruction leaves the function; registers, flags and red
// zone are those of the bare code on the way that stays, and all but flags and red zone on the
// other.
TEST_F(DetourRun, ExitHandlersRunOnlyOnTheWayOut) {
  const struct {
    const char* source;  // ends with its exit; rdx holds kHelper, where the way out leads
    Leaving::How how;
    bool leaves;
    uint8_t target = kNoReg;
  } cases[] = {
      {"s: mov $5,%esi; xor %ecx,%ecx; je s+0x50000", Leaving::IfTaken, true},
      {"s: mov $5,%esi; xor %ecx,%ecx; jne s+0x50000", Leaving::IfTaken, false},
      {"xor %ecx,%ecx; jrcxz 1f; nop; 1: nop", Leaving::IfTaken, true},
      {"mov $1,%ecx; jrcxz 1f; nop; 1: nop", Leaving::IfTaken, false},
      {"mov %rdx,-8(%rsp); stc; jmp *%rdx", Leaving::IfOutside, true},
      {"mov %rdx,8(%rsp); stc; jmp *8(%rsp)", Leaving::IfOutside, true},
      {"lea 24(%rsp),%rax; mov %rdx,(%rax); xor %r9d,%r9d; jmp *(%rax,%r9,4)", Leaving::IfOutside,
       true},
      {"mov %rdx,%r11; jmp *%r11", Leaving::IfOutside, true},
      {"lea 2f(%rip),%rax; mov $7,%ecx; add $1,%cl; jmp *%rax; 2: nop", Leaving::IfOutside, false},
      {"lea 2f(%rip),%r11; mov %r11,8(%rsp); cmp %esp,%edi; jmp *8(%rsp); 2: nop",
       Leaving::IfOutside, false},
      {"s: mov %rdx,%r9; stc; jmp s+0x50000", Leaving::IfOutside, true, 9},
      {"lea 2f(%rip),%r9; stc; jmp 2f; 2: nop", Leaving::IfOutside, false, 9},
      {"mov %rdx,(%rsp); stc; ret", Leaving::IfOutside, true, kOnStack},
      {"lea 2f(%rip),%rdx; mov %rdx,(%rsp); stc; ret; 2: nop", Leaving::IfOutside, false, kOnStack},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.source);
    const auto code = test::assemble(c.source);
    const size_t tail = std::string(c.source).ends_with("nop") ? 1 : 0;
    Insn insn;
    uint32_t at = 0, exit = 0;
    while (at < code.size() - tail && decode(std::span(code).subspan(at), kVictim + at, insn)) {
      exit = at;
      at += insn.length;
      if (insn.kind == Kind::Loop) break;
    }
    memory_.put(kVictim, code);
    memory_.put_exit(kVictim + code.size());
    memory_.put_exit(kHelper);
    std::mt19937_64 random(11);
    const State in = random_state(random);
    fill_stack();
    const State bare = test::run(kVictim, in);
    const auto bare_stack = stack(-128, 512);
    DetourRequest request;
    request.region = std::span(code).first(at);
    request.original = kVictim;
    request.handlers_at = exit;
    request.exit_calls = {plain_call(), plain_call()};
    request.leaving.how = c.how;
    request.leaving.target = c.target;
    if (c.how == Leaving::IfOutside)
      request.leaving.inside = {{kHandler, kHandler + 64}, {kVictim, kVictim + code.size()}};
    auto detour = build_detour(request, kDetour);
    ASSERT_TRUE(detour.ok()) << detour.error().message;
    EXPECT_LE(detour.value().bytes.size(), detour_bytes_max(request));
    memory_.put(kDetour, detour.value().bytes);
    memset(memory_.at(kRecord), 0, 64);
    fill_stack();
    const State probed = test::run(kDetour, in);
    EXPECT_EQ(record(0), c.leaves ? 2u : 0u);
    for (int i = 0; i < 16; i++) EXPECT_EQ(probed.regs[i], bare.regs[i]) << "register number " << i;
    if (c.leaves) continue;
    EXPECT_EQ(probed.flags, bare.flags);
    EXPECT_EQ(stack(-128, 512), bare_stack);
  }
}

// A detour of getpid's system call, which a hook may answer.
class HookRun : public DetourRun {
 protected:
  // Runs it with these hooks (none: no hook); `text` is what stands where the program has the call.
  // Checks that the stack is as before.
  State call(const char* hook, const char* child, const char* text, uint32_t intact_from) {
    const auto code = test::assemble(kCall), stands = test::assemble(text);
    memory_.put(kVictim, stands);
    memory_.put_exit(kVictim + stands.size());
    DetourRequest request;
    request.region = code;
    request.original = kVictim;
    request.handlers_at = 5;
    request.intact_from = intact_from;
    if (hook != nullptr) {
      memory_.put(kHandler, test::assemble(hook));
      memory_.put(kHelper, test::assemble(child));
      request.syscall_hook = kHandler;
      request.child_hook = kHelper;
    }
    auto detour = build_detour(request, kDetour);
    EXPECT_TRUE(detour.ok()) << detour.error().message;
    if (!detour.ok()) return {};
    memory_.put(kDetour, detour.value().bytes);
    memset(memory_.at(kRecord), 0, 8);
    fill_stack();
    std::mt19937_64 random(4);
    const auto before = stack(-128, 128);
    const State out = test::run(kDetour, random_state(random));
    EXPECT_EQ(out.regs[4], kStack);
    EXPECT_EQ(stack(-128, 128), before);
    return out;
  }
  static constexpr const char* kCall = "mov $39,%eax; syscall";
  static constexpr const char* kForks = "or $1,%ecx; clc; ret";
  static constexpr const char* kDoesNot = "xor %ecx,%ecx; ret";
};

// Behind a call that may start a thread, whoever comes back runs the other hook.
TEST_F(HookRun, ChildHookRunsBehindTheCallWhenTheHookSaysSo) {
  for (const bool forks : {false, true}) {
    const State out = call(forks ? kForks : kDoesNot, "incq 0x10030000; ret", kCall, 0);
    EXPECT_EQ(record(0), forks ? 1u : 0u);
    EXPECT_EQ(out.regs[0], uint64_t(getpid()));
  }
}

TEST_F(HookRun, SyscallHookSkipsTheCallWhenItSaysSo) {
  // The hook answers 4321 itself with CF set, or lets the call happen.
  for (const bool skip : {false, true}) {
    const State out =
        call(skip ? "incq 0x10030000; mov $4321,%eax; stc; ret" : "incq 0x10030000; clc; ret",
             "ret", kCall, 0);
    EXPECT_EQ(record(0), 1u);
    EXPECT_EQ(out.regs[0], skip ? 4321u : uint64_t(getpid()));
  }
}

// What stands in the system call's place tells where it was made.
TEST_F(HookRun, SystemCallsAreMadeInTheirPlaceWhereItIsLeft) {
  const char* elsewhere = "mov $39,%eax; xor %eax,%eax";
  EXPECT_EQ(call(nullptr, nullptr, elsewhere, 5).regs[0], 0u);
  EXPECT_EQ(call(kDoesNot, "ret", elsewhere, 5).regs[0], 0u);
  EXPECT_EQ(call(kForks, "ret", elsewhere, 5).regs[0], uint64_t(getpid()));
}

TEST(DetourRefusal, HandlersAtMustBeAnInstruction) {
  const auto code = test::assemble("mov $1,%eax; ret");
  DetourRequest request;
  request.region = code;
  request.original = 0x1000;
  request.handlers_at = 3;
  EXPECT_FALSE(build_detour(request, 0x9000).ok());
}

TEST(DetourRefusal, CallMustBeLast) {
  const auto code = test::assemble("call *%rax; nop; nop; nop");
  DetourRequest request;
  request.region = code;
  request.original = 0x1000;
  EXPECT_FALSE(build_detour(request, 0x9000).ok());
}

TEST(DetourForm, NothingBehindAReturnIsCopied) {
  const auto code = test::assemble("xor %eax,%eax; ret; nop; nop");
  DetourRequest request;
  request.region = code;
  request.original = 0x1000;
  auto detour = build_detour(request, 0x9000);
  ASSERT_TRUE(detour.ok());
  EXPECT_EQ(detour.value().bytes, test::assemble("xor %eax,%eax; ret"));
}

}  // namespace
}  // namespace dj::arch
