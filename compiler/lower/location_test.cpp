// SPDX-License-Identifier: Apache-2.0
// Locations executed: registers, stack, sign and bit-field steps, and entry values of return
// probes.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "compiler/lower/session_test.h"
#include "runtime/shared/error_text.h"

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

// The error that reading it raises, as catch sees it; "" when it raises none.
std::string error_of(const LocExpr& location, const Registers& registers) {
  SessionOptions options;
  options.targets["x"] = location;
  TestSession session(
      "global r, s\nprobe func(\"f\") { try { r = $x } catch (m) { s = m } }\n"
      "probe end { print(r, s) }",
      options);
  session.hit(0, registers);
  return session.text("s");
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
  EXPECT_EQ(session.words().skipped[abi::kSkipReturnMiss], 1u);
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

TEST(Location, JumpsAndLoops) {
  using Step = LocStep;
  Registers registers;
  registers.r[5] = 40;
  registers.r[4] = 7;
  // 40 + 39 + .. + 1: the sum, the number; round again while the number is not 0.
  const std::vector<Step> sum = {{Step::PushConst, 0}, {Step::PushReg, 5},   {Step::Label, 0},
                                 {Step::Dup},          {Step::Rot},          {Step::Add},
                                 {Step::Swap},         {Step::PushConst, 1}, {Step::Sub},
                                 {Step::Dup},          {Step::JumpIf, 0, 1}, {Step::Drop}};
  EXPECT_EQ(value_of({sum}, registers), 820);
  // The same twice: each jump means its own label.
  std::vector<Step> twice = sum;
  twice.insert(twice.end(), sum.begin(), sum.end());
  twice.push_back({Step::Sub});
  EXPECT_EQ(value_of({twice}, registers), 0);
  // The smaller of two, by a jump forward over one operation, or over none.
  const std::vector<Step> least = {{Step::PushReg, 5}, {Step::PushReg, 4}, {Step::Over},
                                   {Step::Over},       {Step::Lt},         {Step::JumpIf, 0},
                                   {Step::Swap},       {Step::Label, 0},   {Step::Drop}};
  EXPECT_EQ(value_of({least}, registers), 7);
  registers.r[5] = 3;
  EXPECT_EQ(value_of({least}, registers), 3);
  const std::vector<Step> other = {{Step::PushReg, 5}, {Step::JumpIf, 1}, {Step::PushConst, 1},
                                   {Step::Jump, 2},    {Step::Label, 1},  {Step::PushConst, 2},
                                   {Step::Label, 2}};
  EXPECT_EQ(value_of({other}, registers), 2);
}

// Unless the parameter is 0.
const LocExpr kEndless{
    {{LocStep::PushReg, 5}, {LocStep::Label, 0}, {LocStep::Dup}, {LocStep::JumpIf, 0, 1}}};

TEST(Location, ALoopWithoutAnEndIsAnErrorOfTheScript) {
  Registers registers;
  EXPECT_EQ(error_of(kEndless, registers), "");
  registers.r[5] = 1;
  EXPECT_EQ(error_of(kEndless, registers),
            "debug info's expression for the value goes round more than 4096 times");
  EXPECT_STREQ(abi::error_code(abi::kErrEndless), "DJ5011");
}

TEST(Location, ATextGoesOnWithoutAValueThatNeverEnds) {
  TargetText text;
  text.items.resize(2);
  for (TargetText::Item& item : text.items) item.defined = true;
  text.items[0].value = kEndless;
  text.items[1].before = " ";
  text.items[1].value = {{{LocStep::PushReg, 5}}};
  SessionOptions options;
  options.targets = {{"$parms", text}};
  TestSession session("global s\nprobe func(\"f\") { s = $$parms }\nprobe end { print(s) }",
                      options);
  Registers registers;
  registers.r[5] = 1;
  session.hit(0, registers);
  EXPECT_EQ(session.text("s"), "? 1");
}

TEST(Location, NumbersWithAFraction) {
  using Step = LocStep;
  const auto word = [](double number) { return std::bit_cast<int64_t>(number); };
  const auto of_two = [&](Step::Op op, double a, double b) {
    return value_of(
        {{{Step::PushConst, word(a)}, {Step::PushConst, word(b)}, {Step::DoubleCompute, op}}}, {});
  };
  EXPECT_EQ(of_two(Step::Add, 0.1, 0.2), word(0.1 + 0.2));
  EXPECT_EQ(of_two(Step::Sub, 0.1, 0.2), word(0.1 - 0.2));
  EXPECT_EQ(of_two(Step::Mul, 0.1, 0.2), word(0.1 * 0.2));
  EXPECT_EQ(of_two(Step::Div, 0.1, 0.3), word(0.1 / 0.3));
  EXPECT_EQ(of_two(Step::Lt, -0.1, 0.2), 1);
  EXPECT_EQ(of_two(Step::Ge, -0.1, 0.2), 0);
  EXPECT_EQ(of_two(Step::Eq, 0.0, -0.0), 1);
  EXPECT_EQ(of_two(Step::Ne, NAN, NAN), 1);
  const auto of_one = [&](Step step, int64_t a) {
    return value_of({{{Step::PushConst, a}, step}}, {});
  };
  EXPECT_EQ(of_one({Step::IntOfDouble}, word(-2.75)), -2);
  EXPECT_EQ(of_one({Step::IntOfDouble, 1}, word(0x1p63)), INT64_MIN);
  EXPECT_EQ(of_one({Step::DoubleOfInt, 1}, -1), word(0x1p64));
  EXPECT_EQ(of_one({Step::DoubleOfInt}, -1), word(-1));
  EXPECT_EQ(of_one({Step::FloatOfDouble}, word(0.1)), std::bit_cast<int32_t>(0.1F));
}

// Two numbers of a form, each as low and high word, then the steps.
int64_t of_two_wide(std::vector<int64_t> words, std::vector<LocStep> more) {
  using Step = LocStep;
  std::vector<Step> steps;
  for (size_t i = 0; i < words.size(); i += 2)
    steps.insert(steps.end(),
                 {{Step::PushConst, words[i]}, {Step::PushConst, words[i + 1]}, {Step::Join}});
  steps.insert(steps.end(), more.begin(), more.end());
  return value_of({steps}, {});
}

TEST(Location, WideNumbers) {
  using Step = LocStep;
  const auto form = [](NumberForm f) { return static_cast<int64_t>(f); };
  const int64_t s = form(NumberForm::WideSigned), u = form(NumberForm::WideUnsigned);
  const auto high_of = [&](Step::Op op, std::vector<int64_t> words, int64_t f) {
    return of_two_wide(std::move(words), {{Step::WideCompute, op, f}, {Step::Half, 1}});
  };
  EXPECT_EQ(high_of(Step::Add, {-1, 5, 1, 7}, s), 13);
  EXPECT_EQ(high_of(Step::Sub, {0, 5, 1, 7}, s), -3);
  EXPECT_EQ(high_of(Step::Mul, {INT64_MIN, 0, 6, 0}, u), 3);
  EXPECT_EQ(high_of(Step::Shl, {3, 0, 70, 0}, s), 192);
  EXPECT_EQ(high_of(Step::Sar, {0, -64, 3, 0}, u), -8);
  EXPECT_EQ(high_of(Step::Shr, {0, -64, 63, 0}, s), 1);
  EXPECT_EQ(high_of(Step::Xor, {0, 6, 0, 3}, s), 5);
  EXPECT_EQ(high_of(Step::Div, {0, -64, -8, -1}, s), 8);
  EXPECT_EQ(high_of(Step::Mod, {0, 64, 0, 7}, u), 1);
  const auto truth = [&](Step::Op op, std::vector<int64_t> words, int64_t f) {
    return of_two_wide(std::move(words), {{Step::WideCompute, op, f}});
  };
  EXPECT_EQ(truth(Step::Lt, {0, -1, 0, 1}, s), 1);
  EXPECT_EQ(truth(Step::Lt, {0, -1, 0, 1}, u), 0);
  EXPECT_EQ(truth(Step::Ge, {1, -1, 1, -1}, u), 1);
  const auto word = [](double number) { return std::bit_cast<int64_t>(number); };
  const auto as_double = [&](std::vector<int64_t> words, NumberForm from) {
    return of_two_wide(std::move(words), {{Step::Convert, form(from), form(NumberForm::Double)}});
  };
  EXPECT_EQ(as_double({0, -1}, NumberForm::WideSigned), word(-0x1p64));
  EXPECT_EQ(as_double({0, -1}, NumberForm::WideUnsigned), word(0x1p128));
  const int64_t two_and_half = int64_t(0xa000000000000000), exponent = 0x4000;  // of the x87
  EXPECT_EQ(as_double({two_and_half, exponent}, NumberForm::Extended), word(2.5));
  const int64_t x = form(NumberForm::Extended);
  const std::vector<int64_t> pair = {two_and_half, exponent, two_and_half, exponent | 0x8000};
  EXPECT_EQ(of_two_wide(pair, {{Step::WideCompute, Step::Mul, x},
                               {Step::Convert, x, form(NumberForm::Double)}}),
            word(-6.25));
  EXPECT_EQ(truth(Step::Gt, pair, x), 1);
  const std::vector<int64_t> none = {-1, 0x7fff, two_and_half, exponent};
  for (const auto op : {Step::Lt, Step::Le, Step::Eq, Step::Gt, Step::Ge})
    EXPECT_EQ(truth(op, none, x), 0);
  EXPECT_EQ(truth(Step::Ne, none, x), 1);
  // A long one is rounded once: a double would forget its last bit.
  EXPECT_EQ(value_of({{{Step::PushConst, 0x4000004000000001},
                       {Step::Convert, form(NumberForm::Signed), form(NumberForm::Float)}}},
                     {}),
            std::bit_cast<int32_t>(static_cast<float>(0x4000004000000001)));
}

TEST(Location, DivisionOfAWideNumberByZeroIsAnErrorOfTheScript) {
  const LocExpr share{
      {{LocStep::PushConst, 1},
       {LocStep::PushConst, 1},
       {LocStep::Join},
       {LocStep::PushReg, 5},
       {LocStep::PushConst, 0},
       {LocStep::Join},
       {LocStep::WideCompute, LocStep::Div, static_cast<int64_t>(NumberForm::WideSigned)},
       {LocStep::Half, 1}}};
  EXPECT_EQ(error_of(share, Registers()), "division by 0");
}

TEST(Location, WideWordsAcrossJumps) {
  using Step = LocStep;
  const int64_t s = static_cast<int64_t>(NumberForm::WideSigned);
  Registers registers;
  registers.r[5] = 9;
  // A wide 9, or its square where it is not 0.
  const std::vector<Step> steps = {{Step::PushReg, 5}, {Step::PushConst, 3},
                                   {Step::Join},       {Step::PushReg, 5},
                                   {Step::JumpIf, 0},  {Step::PushConst, 0},
                                   {Step::Drop},       {Step::Label, 0},
                                   {Step::Dup},        {Step::WideCompute, Step::Mul, s},
                                   {Step::Half, 1}};
  EXPECT_EQ(value_of({steps}, registers), 54);
}

TEST(Location, BiasOfTheSitesModule) {
  SessionOptions options;
  options.targets["x"] = LocExpr{{{LocStep::PushBias}, {LocStep::PushConst, 0x10}, {LocStep::Add}}};
  TestSession session("global r\nprobe func(\"f\") { r = $x }\nprobe end { print(r) }", options);
  session.header().sites.get(session.layout.arena())[0].bias = 0x555500000000;
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
