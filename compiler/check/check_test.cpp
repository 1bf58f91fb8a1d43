// SPDX-License-Identifier: Apache-2.0
// Right scripts: what is global, how it is kept, which types are found, what formats become.
#include "compiler/check/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/check/check_support.h"
#include "compiler/check/dump_program.h"
#include "compiler/check/signature.h"
#include "stdlib/builtins.h"

namespace dj {
namespace {

const Global* find_global(const Checked& checked, const std::string& name) {
  for (const Global& global : checked.program.globals) {
    if (global.name == name) return &global;
  }
  return nullptr;
}

Checked good(const std::string& script, bool strict = false) {
  Checked checked = check_text(script, strict);
  EXPECT_EQ(checked.diags.error_count(), 0u) << script << "\n" << checked.rendered();
  return checked;
}

TEST(Check, TheOneLiner) {
  Checked checked = good("probe func(\"vfs_read\") { count++ }");
  EXPECT_EQ(dump(checked.program),
            "global @count: int counter implicit shown-at-exit\n"
            "probe func(\"vfs_read\")\n"
            "  (@count++)\n");
  EXPECT_TRUE(checked.diags.all().empty()) << checked.rendered();
}

struct AutoGlobal {
  const char* script;
  bool global;  // is `n`
};

// What globals.h says, case by case.
TEST(Check, AutoGlobalRule) {
  const AutoGlobal cases[] = {
      {"probe func(\"f\") { n++ }", true},
      {"probe func(\"f\") { n += $x } probe func(\"g\") { --n }", true},
      {"probe func(\"f\") { n .= \"x\" }", true},
      {"probe func(\"f\") { n <<< 1 }", true},
      {"probe func(\"f\") { n[tid()]++ }", true},
      {"probe func(\"f\") { n[tid()] = 1 } probe func(\"g\") { println(n[tid()]) }", true},
      {"probe func(\"f\") { n++ } probe end { println(n) }", true},
      {"probe func(\"f\") { for (n = 0; n < 3; n++) println(n) }", false},
      {"probe func(\"f\") { n++ } probe end { n = 0; println(n) }", false},
      {"probe func(\"f\") { n++; println(n) }", false},
      {"probe func(\"f\") { n++; println(n) } probe end { println(n) }", false},
      {"probe func(\"f\") { println(n++) }", false},
      {"probe func(\"f\") { n++ } probe func(\"g\") { a[1]++ } probe end { foreach (n in a) "
       "println(n) }",
       false},
      {"function f(n) { n++; return n } probe begin { println(f(1)) }", false},
      {"function f() { n++; return 1 } probe begin { println(f()) }", false},
  };
  for (const AutoGlobal& each : cases) {
    SCOPED_TRACE(each.script);
    Checked checked = good(each.script);
    const Global* n = find_global(checked, "n");
    EXPECT_EQ(n != nullptr, each.global);
    EXPECT_TRUE(n == nullptr || n->by == Global::By::Use);
  }
  EXPECT_EQ(find_global(good("probe func(\"f\") { n++ }", true), "n"), nullptr) << "strict";
}

struct Kept {
  const char* script;
  Storage storage;  // of the global `n`
};

TEST(Check, StorageClasses) {
  const Kept cases[] = {
      {"global n probe func(\"f\") { n++; n += 2; n -= 1; --n }", Storage::Counter},
      {"global n = 0 probe func(\"f\") { n++ } probe end { println(n) }", Storage::Counter},
      {"global n probe func(\"f\") { n++ } probe timer.s(1) { println(n); delete n }",
       Storage::Counter},
      {"global n function show() { println(n) } probe func(\"f\") { n++ } probe end { show() }",
       Storage::Counter},
      {"global n function get() { return n } probe func(\"f\") { n++; if (get() > 2) exit() }",
       Storage::Scalar},
      {"global n probe func(\"f\") { n++; if (n > 9) exit() }", Storage::Scalar},
      {"global n = 1 probe func(\"f\") { n++ }", Storage::Scalar},
      {"global n probe func(\"f\") { n++ } probe begin { n = 3 }", Storage::Scalar},
      {"global n probe func(\"f\") { n *= 2; n++ }", Storage::Scalar},
      {"global n probe func(\"f\") { println(n++) }", Storage::Scalar},
      {"global n probe func(\"f\") { n .= \"x\" }", Storage::Scalar},
      {"global n probe func(\"f\") { n <<< 1 }", Storage::Stats},
      {"global n probe func(\"f\") { n[1]++ }", Storage::Array},
      {"global n probe begin { println(n) }", Storage::Scalar},
  };
  for (const Kept& each : cases) {
    SCOPED_TRACE(each.script);
    Checked checked = good(each.script);
    const Global* n = find_global(checked, "n");
    ASSERT_NE(n, nullptr);
    EXPECT_EQ(n->storage, each.storage);
  }
}

struct Grows {
  const char* script;
  bool grows, sums;  // of the global `n`
};

TEST(Check, WhatIsNeverDeletedFromGrows) {
  const Grows cases[] = {
      {"global n probe func(\"f\") { n[1]++; n[2] -= 3 } probe end { println(n[1]) }", true, true},
      {"global n probe func(\"f\") { n[1]++; if (n[1] > 2) exit() }", true, true},
      {"global n probe func(\"f\") { n[1]++ } probe end { foreach (k in n-) println(k) }", true,
       true},
      {"global n probe func(\"f\") { n[1]++ } probe end { delete n[1] }", false, false},
      {"global n probe func(\"f\") { n[1]++ } probe end { delete n }", false, false},
      {"global n probe func(\"f\") { n[1]++ } probe end { x = snapshot(n[1]); println(x) }", false,
       false},
      {"global n probe func(\"f\") { n[1]++ } probe end { snapshot(n) { println(n[1]) } }", false,
       false},
      {"global n% probe func(\"f\") { n[1]++ }", false, false},
      {"global n probe func(\"f\") { println(n[1]++) }", true, false},
      {"global n probe func(\"f\") { n[1] = 2; n[1]++ }", true, false},
      {"global n probe func(\"f\") { n[1] *= 2 }", true, false},
      {"global n probe func(\"f\") { n[1] .= \"x\" }", true, false},
      {"global n probe func(\"f\") { n[1] <<< 2 }", true, false},
      {"global n probe func(\"f\") { n <<< 2 } probe timer.s(1) { delete n }", false, false},
      {"global n probe func(\"f\") { n <<< 2 } probe end { println(@count(n)) }", true, false},
  };
  for (const Grows& each : cases) {
    SCOPED_TRACE(each.script);
    Checked checked = good(each.script);
    const Global* n = find_global(checked, "n");
    ASSERT_NE(n, nullptr);
    EXPECT_EQ(n->array.grows, each.grows);
    EXPECT_EQ(n->array.sums, each.sums);
  }
}

// It is emptied for each snapshot, though no statement of the script says so.
TEST(Check, ASnapshotsCopyDoesNotGrow) {
  Checked checked =
      good("global n probe func(\"f\") { n[1]++ } probe end { snapshot(n) { n[1]++ } }");
  const Global* copy = find_global(checked, "n@snapshot");
  ASSERT_NE(copy, nullptr);
  EXPECT_FALSE(copy->array.grows);
  EXPECT_FALSE(copy->array.sums);
}

struct Shown {
  const char* script;
  bool shown;  // at exit, the global `n`
};

TEST(Check, DisplayedWhenWrittenAndNeverRead) {
  const Shown cases[] = {
      {"global n probe begin { n = 1 }", true},
      {"global n probe begin { n = 1; n++ }", true},
      {"global n probe begin { n = 1; println(n) }", false},
      {"global n probe begin { x = n++; println(x) }", false},
      {"global n probe begin { n[1] = 1; if (1 in n) exit() }", false},
      {"global n probe begin { n[1] = 1 } probe end { foreach (k in n) println(k) }", false},
      {"global n probe begin { n <<< 1 }", true},
      {"global n probe begin { n <<< 1; println(@count(n)) }", false},
      {"global n probe begin { n <<< 1; print(@hist_log(n)) }", false},
      {"global n probe begin { delete n }", false},
      {"global n = 5 probe begin { exit() }", false},
  };
  for (const Shown& each : cases) {
    SCOPED_TRACE(each.script);
    Checked checked = good(each.script);
    const Global* n = find_global(checked, "n");
    ASSERT_NE(n, nullptr);
    EXPECT_EQ(n->ever_written && !n->ever_read, each.shown);
  }
}

// The type comes from a use that stands behind, or in another body.
TEST(Check, TypesFlowBackwards) {
  Checked checked = good(
      "global last, who\n"
      "function pick(a, b) { if (a > 3) return b; return pick(a + 1, b) }\n"
      "function id(x) { return x }\n"
      "probe begin { last = who; t = id(1); println(t) }\n"
      "probe func(\"f\") { who = pick(1, execname()) }\n"
      "probe end { println(last) }\n");
  EXPECT_EQ(find_global(checked, "last")->value, Type::Str);
  EXPECT_EQ(find_global(checked, "who")->value, Type::Str);
  const Function& pick = checked.program.functions[0];
  EXPECT_EQ(pick.frame.locals[0].type, Type::Int);
  EXPECT_EQ(pick.frame.locals[1].type, Type::Str);
  EXPECT_EQ(pick.result, Type::Str);
  EXPECT_EQ(checked.program.probes[0].frame.locals[0].type, Type::Int);
}

struct Formatted {
  const char* call;
  const char* text;
  std::vector<Type> arguments;
};

TEST(Check, Formats) {
  const Formatted cases[] = {
      {"printf(\"%d %-8s|%05lld%%\\n\", 1, \"a\", pid())",
       "%d %-8s|%05d%%\n",
       {Type::Int, Type::Str, Type::Int}},
      {"printf(\"%*.*s\", 5, 2, \"abc\")", "%*.*s", {Type::Int, Type::Int, Type::Str}},
      {"printf(\"%#lx %p %c\", 1, 2, 3)", "%#x %p %c", {Type::Int, Type::Int, Type::Int}},
      {"print(execname())", "%s", {Type::Str}},
      {"print(pid())", "%d", {Type::Int}},
      {"println(\"50% of \", pid(), \" is \", execname())",
       "50%% of %d is %s\n",
       {Type::Int, Type::Str}},
      {"println()", "\n", {}},
      {"printd(\"%,\", pid(), tid())", "%d%%,%d", {Type::Int, Type::Int}},
      {"printdln(\" \", pid(), \"x\", tid())", "%d x %d\n", {Type::Int, Type::Int}},
  };
  for (const Formatted& each : cases) {
    SCOPED_TRACE(each.call);
    Checked checked = good(std::string("probe begin { ") + each.call + " }");
    ASSERT_EQ(checked.program.formats.size(), 1u);
    EXPECT_EQ(checked.program.formats[0].text, each.text);
    EXPECT_EQ(checked.program.formats[0].arguments, each.arguments);
  }
}

TEST(Check, TargetsAreSharedByShape) {
  Checked checked = good(
      "probe func(\"f\") { i = 1; println($p->a[i], $p->a[2], $p->a[i + 1], $p, &$p->a[2], "
      "$$parms, $p) "
      "if (@defined($p->a[2]) && @defined($q)) println(1) }");
  ASSERT_EQ(checked.program.probes[0].targets.size(), 6u) << dump(checked.program);
  const std::vector<TargetExpr>& targets = checked.program.probes[0].targets;
  EXPECT_EQ(checked.sources.text(targets[0].name_span), "$p");
  EXPECT_EQ(checked.sources.text(targets[0].span), "$p->a[i]");
  EXPECT_EQ(checked.sources.text(targets[3].name_span), "$p");
  EXPECT_EQ(checked.sources.text(targets[5].name_span), "$q");
}

TEST(Check, LoopVariableThatIsAGlobal) {
  Checked checked =
      good("global k probe func(\"f\") { a[\"x\"]++ } probe end { foreach (k in a) println(k) }");
  EXPECT_EQ(find_global(checked, "k")->value, Type::Str);
  EXPECT_THAT(dump(checked.program), testing::HasSubstr("(@k = %k)"));
}

TEST(Check, DefinedIsFalseWhereNothingIsTraced) {
  Checked checked = good("probe begin { if (@defined($x)) exit() }");
  EXPECT_TRUE(checked.program.probes[0].targets.empty());
}

// Each row of builtins.def has a signature that can be read.
TEST(Check, Signatures) {
  for (const Builtin& row : builtins()) {
    Signature signature = parse_signature(row.signature);
    EXPECT_LE(signature.required, signature.params.size()) << row.name;
  }
  EXPECT_EQ(prototype("f", parse_signature("int(str,int?)")), "f(string, [number])");
}

}  // namespace
}  // namespace dj
