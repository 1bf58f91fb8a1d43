// Locations executed: registers, stack, sign and bit-field steps, and entry values of return
// probes.
#include <gtest/gtest.h>

#include "compiler/lower/session_test.h"

namespace dj {
namespace {

// Value of a location in a handler that is called with these registers.
int64_t value_of(const LocExpr& location, const Registers& registers) {
  SessionOptions options;
  options.targets["x"] = location;
  TestSession session("global r\nprobe func(\"f\") { r = $x }\nprobe end { print(r) }", options);
  session.hit(0, registers);
  return session.number("r");
}

Registers numbered() {
  Registers registers;
  for (int i = 0; i < 16; ++i) registers.r[i] = 1000 + i;
  return registers;
}

TEST(Location, EveryGeneralRegister) {
  for (int64_t reg = 0; reg < 16; ++reg) {
    if (reg == 7) continue;
    EXPECT_EQ(value_of({{{LocStep::PushReg, reg}}}, numbered()), 1000 + reg) << reg;
  }
}

TEST(Location, TwoStackRegistersAndTheSite) {
  LocExpr both{{{LocStep::PushReg, 3},
                {LocStep::PushConst, 10000},
                {LocStep::Mul},
                {LocStep::PushReg, 12},
                {LocStep::Add}}};
  EXPECT_EQ(value_of(both, numbered()), 1003 * 10000 + 1012);
}

// Whatever the detour pushes in between.
TEST(Location, StackPointerOfTheSite) {
  std::vector<LocStep> steps = {{LocStep::PushReg, 7}};
  for (int64_t reg : {-1, 3, 12, 13}) {  // one more pushed register each time
    if (reg >= 0) steps.insert(steps.end(), {{LocStep::PushReg, reg}, {LocStep::Drop}});
    SessionOptions options;
    options.targets["x"] = LocExpr{steps};
    TestSession session("global r\nprobe func(\"f\") { r = $x }\nprobe end { print(r) }", options);
    uint64_t rsp = session.hit(0, numbered());
    EXPECT_EQ(session.number("r"), static_cast<int64_t>(rsp)) << "with register " << reg;
  }
}

TEST(Location, UncheckedReadOfTheStack) {
  uint64_t memory[2] = {7, 0xffffffff80000000};
  Registers registers;
  registers.r[6] = reinterpret_cast<uint64_t>(memory);
  LocExpr second{{{LocStep::PushReg, 6},
                  {LocStep::PushConst, 8},
                  {LocStep::Add},
                  {LocStep::StackDeref, 4, 1}}};
  EXPECT_EQ(value_of(second, registers), INT32_MIN);
}

TEST(Location, EntryValuesAtTheReturn) {
  TestSession session(
      "global r, n\nprobe func(\"f\").return { r = $a * 1000 + $b; n++ }\nprobe end { print(r, n) "
      "}");
  Registers entry = numbered(), exit;
  entry.r[5] = 12;
  entry.r[4] = 34;
  ASSERT_EQ(session.plan.handlers.size(), 3u);
  session.hit(2, entry);  // the capture: same stack pointer as the exit below
  session.hit(0, exit);
  EXPECT_EQ(session.number("r"), 12034);
  EXPECT_EQ(session.number("n"), 1);
  session.hit(0, exit);  // taken already: a miss leaves
  EXPECT_EQ(session.number("n"), 1);
  EXPECT_EQ(session.header().skipped[abi::kSkipReturnMiss], 1u);
}

TEST(Location, ExtendExtractAndStackOperations) {
  Registers registers;
  registers.r[5] = 0xfff0;
  EXPECT_EQ(value_of({{{LocStep::PushReg, 5}, {LocStep::Extend, 2, 1}}}, registers), -16);
  EXPECT_EQ(value_of({{{LocStep::PushReg, 5}, {LocStep::Extend, 1, 0}}}, registers), 0xf0);
  EXPECT_EQ(value_of({{{LocStep::PushReg, 5}, {LocStep::Extract, 4, 3, 1}}}, registers), -1);
  EXPECT_EQ(value_of({{{LocStep::PushReg, 5}, {LocStep::Extract, 4, 3, 0}}}, registers), 7);
  std::vector<LocStep> abc = {
      {LocStep::PushConst, 3}, {LocStep::PushConst, 50}, {LocStep::PushConst, 700}};
  auto after = [&](std::vector<LocStep> more) {
    std::vector<LocStep> steps = abc;
    steps.insert(steps.end(), more.begin(), more.end());
    return value_of({steps}, registers);
  };
  EXPECT_EQ(after({{LocStep::Rot}}), 50);
  EXPECT_EQ(after({{LocStep::Rot}, {LocStep::Drop}}), 3);
  EXPECT_EQ(after({{LocStep::Swap}, {LocStep::Sub}}), 650);
  EXPECT_EQ(after({{LocStep::Over}}), 50);
  EXPECT_EQ(after({{LocStep::Pick, 2}}), 3);
  EXPECT_EQ(after({{LocStep::Lt}}), 1);
}

TEST(Location, BiasOfTheSitesModule) {
  SessionOptions options;
  options.targets["x"] = LocExpr{{{LocStep::PushBias}, {LocStep::PushConst, 0x10}, {LocStep::Add}}};
  TestSession session("global r\nprobe func(\"f\") { r = $x }\nprobe end { print(r) }", options);
  reinterpret_cast<abi::SiteInfo*>(session.header().sites)[0].bias = 0x555500000000;
  session.hit(0);
  EXPECT_EQ(session.number("r"), 0x555500000010);
}

TEST(Location, ThreadPointer) {
  uint64_t fs;
  asm("mov %%fs:0, %0" : "=r"(fs));
  EXPECT_EQ(value_of({{{LocStep::PushFsBase}}}, numbered()), static_cast<int64_t>(fs));
}

TEST(Location, ParametersAsText) {
  SessionOptions options;
  TargetText text;
  using As = TargetText::Item::As;
  auto add = [&](const char* before, As as, LocExpr value) {
    TargetText::Item item;
    item.before = before;
    item.defined = !value.steps.empty();
    item.as = as;
    item.value = std::move(value);
    text.items.push_back(std::move(item));
  };
  add("n=", As::Signed, {{{LocStep::PushReg, 5}, {LocStep::Extend, 4, 1}}});
  add(" p=", As::Hex, {{{LocStep::PushReg, 4}}});
  add(" gone=", As::Signed, {});
  add(" c=", As::Char, {{{LocStep::PushConst, '\n'}}});
  add(" d=", As::Double, {{{LocStep::PushConst, 0x3ff8000000000000}}});
  add(" bad=", As::Signed, {{{LocStep::PushConst, 8}, {LocStep::Deref, 8}}});
  add(" colour=", As::Signed, {{{LocStep::PushConst, -7}}});
  text.items.back().names = {{5, "GREEN"}, {-7, "BLUE"}};
  text.after = " %";
  options.targets["$parms"] = text;
  TestSession session("global s\nprobe func(\"f\") { s = $$parms }\nprobe end { print(s) }",
                      options);
  Registers registers;
  registers.r[5] = 0xfffffffe;
  registers.r[4] = 0xabc;
  session.hit(0, registers);
  EXPECT_EQ(session.text("s"), "n=-2 p=0xabc gone=? c='\\n' d=1.5 bad=? colour=BLUE %");
}

TEST(Location, TextsLeaveOutWhatIsNotWanted) {
  using As = TargetText::Item::As;
  TargetText text;
  auto add = [&](const char* before, As as, LocExpr value, uint32_t limit = 0) {
    TargetText::Item item;
    item.before = before;
    item.defined = as != As::Nothing;
    item.as = as;
    item.value = std::move(value);
    item.limit = limit;
    text.items.push_back(std::move(item));
  };
  const LocExpr argument{{{LocStep::PushReg, 5}}};
  const LocExpr unreadable{{{LocStep::PushConst, 8}, {LocStep::Deref, 8}}};
  const LocExpr is_two{{{LocStep::PushReg, 5}, {LocStep::PushConst, 2}, {LocStep::Eq}}};
  add("[", As::If, argument, 4);
  add("n=", As::Signed, argument);
  add(" ", As::If, is_two, 1);
  add("two%", As::Signed, argument);
  add("]", As::Nothing, {});
  add("", As::If, unreadable, 1);
  add("never", As::Signed, unreadable);
  add(" end=", As::Signed, argument);
  SessionOptions options;
  options.targets["$parms"] = text;
  TestSession session("global s\nprobe func(\"f\") { s = $$parms }\nprobe end { print(s) }",
                      options);
  Registers registers;
  auto hit = [&](uint64_t value) {
    registers.r[5] = value;
    session.hit(0, registers);
    return session.text("s");
  };
  EXPECT_EQ(hit(0), "[ end=0");
  EXPECT_EQ(hit(1), "[n=1 ] end=1");
  EXPECT_EQ(hit(2), "[n=2 two%2] end=2");
}

TEST(Location, DefinedIsAConstant) {
  SessionOptions options;
  options.targets["gone"] = Undefined{"optimized out"};
  TestSession session(
      "global r\nprobe func(\"f\") { r = (@defined($gone) ? $gone : 5) + @defined($a) }\nprobe end "
      "{ print(r) }",
      options);
  session.hit(0);
  EXPECT_EQ(session.number("r"), 6);
}

}  // namespace
}  // namespace dj
