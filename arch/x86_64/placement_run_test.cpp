// SPDX-License-Identifier: Apache-2.0
// Every form of a jump is executed: victims run bare and patched, with traps at guards sent to the
// copies as the agent does, and must end in the same state.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "arch/x86_64/test_patched.h"
#include "arch/x86_64/test_victim.h"

namespace dj::arch {
namespace {

using test::State;

// High enough that rel32's top byte may be 0xcc.
constexpr uint64_t kVictim = uint64_t(7) << 32, kData = kVictim + 0x1000;
constexpr uint64_t kHelper = kVictim + 0x2000, kBack = kVictim + 0x3000, kStack = kVictim + 0x7000;
constexpr size_t kBytes = 0x8000;

struct Case {
  const char* name;
  const char* body;  // of the function at kVictim; data is 0x1000 behind, a callee 0x2000
  int size;          // of the probed function; 0: all
  int enter;         // where the run begins
};

const Case kCases[] = {
    {"plain", "mov $1,%eax; add %rcx,%rbx; ret", 0, 0},
    {"loop_head", "push %rax; 1: add $3,%ebx; dec %ecx; jg 1b; pop %rax; ret", 0, 0},
    {"returns_into_window", "push %rdi; call *%rdx; mov %rax,%rbx; pop %rdi; ret", 0, 0},
    {"call_first", "call *%rdx; mov %rax,%rbx; ret; nop; nop; nop; nop", 0, 0},
    {"short_function", "xor %eax,%eax; ret; push %rbx; mov $7,%ecx; pop %rbx; ret", 3, 0},
    {"its_neighbour", "xor %eax,%eax; ret; push %rbx; mov $7,%ecx; pop %rbx; ret", 3, 3},
    {"loop", "mov $3,%cl; 1: add $2,%rbx; movzbl %cl,%ecx; loop 1b; ret", 0, 0},
    {"loop_first", "1: loope 1f; inc %rbx; 1: dec %rdi; nop; ret", 0, 0},
    {"jrcxz", "jrcxz 1f; inc %rbx; 1: dec %rdi; nop; ret", 0, 0},
    {"jecxz", "jecxz 1f; inc %rbx; 1: dec %rdi; nop; ret", 0, 0},
    {"jcc", "jc 1f; inc %rbx; inc %rdi; 1: dec %rdi; ret", 0, 0},
    {"push_rip", "push .+0x1000(%rip); pop %rbx; ret", 0, 0},
    {"load_rip", "mov .+0x1000(%rip),%eax; adc .+0x1000(%rip),%bl; ret", 0, 0},
    {"imm_rip", "cmpl $0x12345678,.+0x1000(%rip); seta %al; ret", 0, 0},
    {"vex_rip", "movdqu .+0x1000(%rip),%xmm1; movq %xmm1,%rbx; ret", 0, 0},
    {"avx_rip", "vmovdqu .+0x1000(%rip),%xmm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"avx_imm_rip", "vpalignr $5,.+0x1000(%rip),%xmm0,%xmm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"avx2_broadcast_rip", "vpbroadcastd .+0x1000(%rip),%ymm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"bmi2_rip", "rorx $3,.+0x1000(%rip),%rbx; ret; nop; nop", 0, 0},
    {"bmi2_mulx_rip", "mulx .+0x1000(%rip),%rax,%rbx; ret", 0, 0},
    {"fma_rip", "vfmadd213ss .+0x1000(%rip),%xmm0,%xmm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"avx512_rip", "vmovdqu64 .+0x1000(%rip),%zmm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"avx512_imm_rip", "vpternlogd $0x1b,.+0x1000(%rip),%xmm0,%xmm1; vmovq %xmm1,%rbx; ret", 0, 0},
    {"avx512_broadcast_rip", "vpaddd .+0x1000(%rip){1to4},%xmm0,%xmm1; vmovq %xmm1,%rbx; ret", 0,
     0},
    {"avx512_high_rip", "vmovdqu64 .+0x1000(%rip),%xmm17; vmovq %xmm17,%rbx; ret", 0, 0},
    {"call_rip", "call *.+0x1008(%rip); mov %rax,%rbx; ret", 0, 0},
    {"call_stack", "push %rdx; call *(%rsp); mov %rax,%rbx; pop %rdx; ret", 0, 0},
    {"call_below_stack", "push %rdx; pop %rbx; call *-8(%rsp); mov %rax,%rbx; ret", 0, 0},
    {"call_indexed_stack", "push %rdx; xor %ecx,%ecx; call *(%rsp,%rcx,8); pop %rdx; ret", 0, 0},
    {"call_direct", "call .+0x2000; mov %rax,%rbx; ret", 0, 0},
    {"data_behind_jump", "jmp 1f; 0: .quad 0x9090909090909088; 1: mov 0b(%rip),%rbx; ret", 0, 0},
    {"prefixes", "lock xadd %rbx,-8(%rsp); rep stosb; ret", 0, 0},
    {"interrupt", "mov $20,%eax; int $0x80; xor %ecx,%ecx; ret", 0, 0},
    {"syscall", "mov $39,%eax; syscall; xor %ecx,%ecx; ret", 0, 0},
};

// Some kernels do without system calls of 32 bits.
bool has_old_system_calls() {
  const pid_t child = fork();
  if (child == 0) {
    int result = 20;  // getpid
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    _exit(result == getpid() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

// What this processor lacks for the case; null: nothing.
const char* missing_unit(std::string_view name) {
  if (name.starts_with("avx512_") && !__builtin_cpu_supports("avx512vl"))
    return "no AVX-512VL here";
  if (name.starts_with("avx2_") && !__builtin_cpu_supports("avx2")) return "no AVX2 here";
  if (name.starts_with("avx_") && !__builtin_cpu_supports("avx")) return "no AVX here";
  if (name.starts_with("bmi2_") && !__builtin_cpu_supports("bmi2")) return "no BMI2 here";
  if (name == "interrupt" && !has_old_system_calls()) return "no int $0x80 here";
  if (name.starts_with("fma_") && !__builtin_cpu_supports("fma")) return "no FMA here";
  return nullptr;
}

class Run : public testing::TestWithParam<Case> {
 protected:
  Run() : memory_(kBytes, kVictim) {
    memory_.put(kHelper, test::assemble("mov (%rsp),%rax; ret"));
    memory_.put_exit(kBack);
    code_ = test::assemble(GetParam().body);
  }

  // A victim as a module: what is probed, then the neighbour.
  ModuleText module() const {
    ModuleText text;
    text.image_begin = kVictim;
    text.image_end = kVictim + kBytes;
    text.text.push_back({kVictim, code_});
    const uint64_t end = kVictim + code_.size();
    const uint64_t own = GetParam().size != 0 ? kVictim + uint64_t(GetParam().size) : end;
    text.functions.push_back({kVictim, own});
    if (own != end) text.functions.push_back({own, end});
    return text;
  }

  State run(uint64_t seed) {
    std::mt19937_64 random(seed);
    State in;
    for (uint64_t& reg : in.regs) reg = random();
    in.regs[1] = seed % 4;      // rcx
    in.regs[2] = kHelper;       // rdx
    in.regs[4] = kStack;        // rsp
    in.regs[7] = kData + 0x40;  // rdi
    in.flags = 0x202 | (random() & 0x8d5);
    for (uint64_t i = 0; i < 0x400; i++) *memory_.at(kData + i) = uint8_t(random());
    memcpy(memory_.at(kData + 8), &kHelper, 8);
    memset(memory_.at(kStack - 0x200), 0x5a, 0x400);
    memcpy(memory_.at(kStack), &kBack, 8);
    return test::run(kVictim + uint64_t(GetParam().enter), in);
  }

  // The outcomes with `form` in place; its detour in fresh memory.
  void compare(const Region& region, const Placement& form, uint64_t target,
               const std::vector<State>& bare) {
    SCOPED_TRACE(std::string(tactic_name(form.tactic)) + " prefix " + std::to_string(form.prefix) +
                 " length " + std::to_string(form.length));
    const test::Patched patched(memory_, region, form, target);
    for (size_t seed = 0; seed < bare.size(); seed++) EXPECT_EQ(run(seed), bare[seed]) << seed;
  }

  test::Memory memory_;
  test::GuardTraps traps_;
  std::vector<uint8_t> code_;
};

TEST_P(Run, EndsInTheSameState) {
  if (const char* missing = missing_unit(GetParam().name)) GTEST_SKIP() << missing;
  memory_.put(kVictim, code_);
  std::vector<State> bare;
  for (uint64_t seed = 0; seed < 20; seed++) bare.push_back(run(seed));
  for (const Guards guards : {Guards::WhereNeeded, Guards::Everywhere}) {
    std::vector<Region> regions(1);
    regions[0].address = kVictim;
    const ModuleText text = module();
    Checker(text).check(regions, guards);
    ASSERT_EQ(regions[0].verdict, Verdict::Ok) << verdict_name(regions[0].verdict);
    int forms = 0;
    for (const Placement& form : placements(regions[0])) {
      const auto target = reachable(form, space_of(text));
      if (!target) continue;
      compare(regions[0], form, *target, bare);
      forms++;
    }
    EXPECT_GT(forms, 0);
  }
  if (GetParam().name == std::string_view("loop_head")) {
    EXPECT_GT(test::GuardTraps::count, 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Table, Run, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace dj::arch
