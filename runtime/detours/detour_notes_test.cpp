// SPDX-License-Identifier: Apache-2.0
// What a note says of each place in a detour, against what the detour's instructions do.
#include "runtime/detours/detour_notes.h"

#include <gtest/gtest.h>

#include "arch/x86_64/decode.h"
#include "runtime/shared/detour_note.h"

namespace dj {
namespace {

// push %rbp; mov %rsp,%rbp; sub $16,%rsp
constexpr uint8_t kRegion[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10};

class Notes : public testing::Test {
 protected:
  // A detour in memory of the test's own, so that it can be read as in a target.
  void build(arch::DetourRequest request) {
    if (request.region.empty()) request.region = kRegion;
    request.original = base() + 0x100000;
    auto detour = arch::build_detour(request, base());
    ASSERT_TRUE(detour.ok()) << detour.error().message;
    made = detour.take();
    note_ = make_note(made, base(), request.original);
    ASSERT_FALSE(note_.empty());
    ASSERT_LE(made.bytes.size(), sizeof memory_);
    std::copy(made.bytes.begin(), made.bytes.end(), memory_);
    original = request.original;
  }
  abi::DetourPlace at(uint64_t offset) {
    abi::DetourPlace place;
    const auto note = reinterpret_cast<uint64_t>(note_.data());
    abi::DetourCode code(note, base() + (made.bytes.size() + 15) / 16 * 16);
    EXPECT_EQ(abi::DetourCode(note, 0).behind(), note + note_.size());
    EXPECT_EQ(code.begin(), base());
    EXPECT_TRUE(code.find(base() + offset, &place)) << offset;
    return place;
  }
  // Offset of the copy of the program's instruction at original + offset.
  uint64_t copy(uint64_t offset) {
    const auto note = reinterpret_cast<uint64_t>(note_.data());
    const abi::DetourCode code(note, base() + (made.bytes.size() + 15) / 16 * 16);
    const uint64_t at = code.copy_of(original + offset);
    return at == 0 ? 0 : at - base();
  }
  // The offset behind the first `count` instructions.
  uint64_t behind(int count) {
    uint64_t offset = 0;
    for (; count > 0; count--) {
      arch::Insn insn;
      EXPECT_TRUE(arch::decode(std::span(made.bytes).subspan(offset), base() + offset, insn));
      offset += insn.length;
    }
    return offset;
  }
  uint64_t base() const { return reinterpret_cast<uint64_t>(memory_); }

  arch::Detour made;
  uint64_t original = 0;

 private:
  alignas(16) uint8_t memory_[512] = {};
  Note note_;
};

arch::HandlerCall handler(uint64_t address) {
  arch::HandlerCall call;
  call.address = address;
  call.stack_regs = {arch::kRbx, arch::kRax};
  call.wants_site = true;
  call.site = 1000;
  return call;
}

void expect(const abi::DetourPlace& place, uint64_t original, uint32_t depth, uint32_t r11,
            uint32_t rax) {
  EXPECT_EQ(place.original, original);
  EXPECT_EQ(place.depth, depth);
  EXPECT_EQ(place.r11_at, r11);
  EXPECT_EQ(place.rax_at, rax);
}

TEST_F(Notes, OfFunctionEntries) {
  arch::DetourRequest request;
  request.calls = {handler(base() + 0x1000)};
  build(request);
  expect(at(0), original, 0, 0, 0);
  expect(at(behind(1)), original, 8, 8, 0);        // push %r11
  expect(at(behind(2)), original, 16, 8, 16);      // push %rax
  expect(at(behind(3)), original, 24, 8, 16);      // push %rbx
  expect(at(behind(4)), original, 32, 8, 16);      // push $site
  expect(at(behind(5) - 1), original, 32, 8, 16);  // in the call
  expect(at(behind(5)), original, 32, 8, 16);      // behind it
  expect(at(behind(6)), original, 8, 8, 0);        // lea 24(%rsp),%rsp
  expect(at(behind(7)), original, 0, 0, 0);        // pop %r11
  expect(at(behind(8)), original + 1, 0, 0, 0);    // the program's push %rbp
  expect(at(behind(9)), original + 4, 0, 0, 0);
  expect(at(behind(10)), original + 8, 0, 0, 0);  // the jump back
  EXPECT_EQ(copy(1), behind(8));
  EXPECT_EQ(copy(4), behind(9));
  for (uint64_t none : {0, 2, 8}) EXPECT_EQ(copy(none), 0u) << none;
}

TEST_F(Notes, OfTheMiddleOfFunctions) {
  arch::DetourRequest request;
  request.form = arch::Form::Middle;
  request.handlers_at = 4;
  request.calls = {handler(base() + 0x1000)};
  build(request);
  expect(at(behind(1)), original + 1, 0, 0, 0);
  expect(at(behind(2)), original + 4, 0, 0, 0);
  expect(at(behind(3)), original + 4, 128, 0, 0);
  expect(at(behind(4)), original + 4, 136, 136, 0);
  expect(at(behind(5)), original + 4, 144, 136, 144);  // push %rax
  expect(at(behind(8)), original + 4, 152, 136, 144);  // the flags
  int end = 0;
  while (base() + behind(end) < base() + made.pieces[2].begin) end++;
  expect(at(behind(end)), original + 4, 0, 0, 0);
  expect(at(behind(end - 1)), original + 4, 128, 0, 0);
  expect(at(behind(end - 2)), original + 4, 136, 136, 0);
  expect(at(behind(end - 3)), original + 4, 144, 136, 144);  // %rax comes back
  expect(at(behind(end + 1)), original + 8, 0, 0, 0);
  // Who arrives at the instruction that the handlers precede has not met them.
  for (auto [offset, at] : made.copies) EXPECT_EQ(copy(offset), offset == 0 ? 0 : at) << offset;
}

TEST_F(Notes, AreShort) {
  arch::DetourRequest request;
  arch::HandlerCall count;
  count.count_word = 0x40000000;
  count.count_add = 1;
  request.calls = {count};
  build(request);
  EXPECT_LE(make_note(made, base(), original).size(), 6u);
  expect(at(behind(1)), original, 0, 0, 0);
  expect(at(behind(2)), original + 1, 0, 0, 0);
}

// An exit that leaves or not: the code that finds that out, the jump that stays, the handlers, the
// jump that leaves.
TEST_F(Notes, OfIndirectJumpsThatMayLeave) {
  const std::vector<uint8_t> jumps[] = {{0xff, 0xe0},                     // jmp *%rax
                                        {0x3e, 0x41, 0xff, 0xe3},         // notrack jmp *%r11
                                        {0xff, 0x64, 0x24, 0x08},         // jmp *8(%rsp)
                                        {0x42, 0xff, 0x24, 0xca},         // jmp *(%rdx,%r9,8)
                                        {0xff, 0xa3, 0, 1, 0, 0},         // jmp *256(%rbx)
                                        {0xff, 0x24, 0xc5, 0, 0, 1, 0}};  // jmp *65536(,%rax,8)
  for (const std::vector<uint8_t>& jump : jumps) {
    SCOPED_TRACE(testing::PrintToString(jump));
    std::vector<uint8_t> region = {0x48, 0x83, 0xc4, 0x10};  // add $16,%rsp
    region.insert(region.end(), jump.begin(), jump.end());
    arch::DetourRequest request;
    request.region = region;
    request.handlers_at = 4;
    request.exit_calls = {handler(base() + 0x1000)};
    request.leaving = {
        arch::Leaving::IfOutside,
        {{base() + 0x100000, base() + 0x100100}, {base() + 0x2000, base() + 0x3000}}};
    build(request);
    int jumps_found = 0;
    for (uint64_t offset = 0, i = 0; offset < made.bytes.size(); offset = behind(int(++i))) {
      arch::Insn insn;
      ASSERT_TRUE(arch::decode(std::span(made.bytes).subspan(offset), base() + offset, insn));
      const abi::DetourPlace place = at(offset);
      EXPECT_EQ(place.original, original + (offset == 0 ? 0 : 4));
      if (insn.kind == arch::Kind::JumpIndirect) {
        expect(place, original + 4, 0, 0, 0);
        jumps_found++;
      }
      if (insn.calls()) expect(place, original + 4, 32, 8, 16);  // r11, rax, rbx, the site
    }
    EXPECT_EQ(jumps_found, 2);
    expect(at(behind(3)), original + 4, 136, 136, 0);  // lea -128(%rsp),%rsp; push %r11
  }
}

// Without a jump back the note says where the region is, and is made right for another place.
TEST_F(Notes, SayWhereTheyAre) {
  arch::Detour detour;
  detour.bytes = {0xc3};
  detour.pieces = {{0, 0, 1}};
  detour.end = 1;
  Note note = make_note(detour, base(), base() + 5000);
  ASSERT_FALSE(note.empty());
  place_note(note, base() + 32, base() + 5000);
  EXPECT_EQ(note, make_note(detour, base() + 32, base() + 5000));
}

}  // namespace
}  // namespace dj
