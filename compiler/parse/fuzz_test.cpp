// SPDX-License-Identifier: Apache-2.0
// Mutation test of lexer and parser: broken scripts never crash or hang them, and what they accept
// prints as a script that reads as the same. DJTAP_FUZZ_SECONDS sets how long (2), DJTAP_FUZZ_SEED
// where it starts.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/stages/print_ast.h"

namespace dj {

namespace {

// Between them, these use every rule of the grammar.
const char* const kSeeds[] = {
    "global a, b[10], c%[5], d = 0\nprivate global s = \"x\" \"y\"\n",
    "private function f:long(x:long, y:string):2 { if (x > 1) return x; else return -y . \"z\" }",
    R"(probe process("/bin/x").{function("f").return?,mark("m")}, sys*open** ! if (a > 2) { n++ })",
    "probe a.b = timer.ms(-1), end? { p = 1 }, { q = 2 }  probe a.c += begin { x = 0x1f + 017 }",
    "probe a < count++ foreach ([k+, v] in b[*, 3] limit 2) { print(k) } > # comment",
    "probe a { foreach (v = [k-] in s@count-) if ([v, *] in c) delete c[v, *]; else next }",
    "probe a { for (i = 0; i < 9; ++i) { while (! ~i) break; continue } try { e() } catch (m) {} }",
    "probe a { x = $p->q[i + 1]->r$$ . @cast(p, \"t\")->u[0] . &$v . $$vars$; s <<< a ? b : c }",
    "probe a { y = a =~ \"^b\" && c !~ \"d\" || e in f; z = @hist_log(s)[2] >>> 3 & 4 ^ 5 | 6 }",
    "@define m(a, b) %( (@a * @b) %)\nprobe a { x = @m(1, f(2, 3)) }",
    "%( kernel_v >= \"2.6\" && $# == 1 %? probe a { x = $1 . @1 } %: probe b { %{ c %} } %)",
};

const char* const kPieces[] = {
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "*",
    "@",
    "$",
    "%(",
    "%?",
    "%:",
    "%)",
    "%{",
    "\"",
    "probe ",
    "if (",
    "return ",
    ";",
    ",",
    "->",
    "@1",
    "$1",
    "++",
    "--",
    "=",
    "in",
    ".",
    "?",
    "!",
    " 0x1 ",
    "/*",
    "//",
    "\n",
    "\\",
    "\xff",
    "&",
    "=~",
    "@define m %( ",
};

std::string mutated(std::mt19937_64& random) {
  auto pick = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  std::string text = kSeeds[pick(std::size(kSeeds))];
  if (pick(3) == 0) text += std::string("\n") + kSeeds[pick(std::size(kSeeds))];
  for (size_t changes = pick(6); changes > 0; --changes) {
    size_t at = pick(text.size() + 1);
    switch (pick(4)) {
      case 0:
        text.insert(at, kPieces[pick(std::size(kPieces))]);
        break;
      case 1:
        text.erase(at, pick(8));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      default: {
        size_t from = pick(text.size() + 1);
        text.insert(at, text.substr(from, pick(24)));
      }
    }
    if (text.empty()) text = ";";
  }
  return text;
}

// The script as the printer writes it; "" when it is wrong.
std::string canonical(const std::string& text) {
  Sources sources;
  uint32_t file = sources.add("fuzz", text);
  Diags diags;
  ParseOptions options;
  options.args = {"7"};
  ast::Script script = parse(sources, file, options, diags);
  for (const Diag& diag : diags.all()) render(diag, sources, false);  // every place exists
  return diags.ok() ? print(script) : "";
}

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST(ParserFuzz, SeedsAreRight) {
  for (const char* seed : kSeeds) EXPECT_NE(canonical(seed), "") << seed;
}

TEST(ParserFuzz, MutatedScriptsDoNoHarm) {
  uint64_t seed = setting("DJTAP_FUZZ_SEED", 1);
  std::mt19937_64 random(seed);
  auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(setting("DJTAP_FUZZ_SECONDS", 2));
  size_t rounds = 0, accepted = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::string text = mutated(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(rounds++) + ": " +
                 text);
    auto start = std::chrono::steady_clock::now();
    std::string once = canonical(text);
    accepted += !once.empty();
    if (!once.empty()) {
      ASSERT_EQ(canonical(once), once);
    }
    Sources sources;
    uint32_t file = sources.add("fuzz", text);
    Diags diags;
    std::string tidied = tidy(sources, file, diags);
    if (!once.empty()) {
      ASSERT_EQ(canonical(tidied), once) << "tidied: " << tidied;
    }
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
  EXPECT_GT(accepted, rounds / 20) << "too few of the mutated scripts are right";
  std::printf("%zu scripts, %zu accepted\n", rounds, accepted);
}

}  // namespace dj
