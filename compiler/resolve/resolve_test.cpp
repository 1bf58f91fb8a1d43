// SPDX-License-Identifier: Apache-2.0
// Plans and mistakes of whole probe points, over programs built here, with nm as the judge of
// addresses.
#include "compiler/resolve/resolve.h"

#include <gtest/gtest.h>

#include <memory>

#include "compiler/debuginfo/victim_support.h"
#include "compiler/resolve/listing.h"

namespace dj {
namespace {

constexpr const char* kLibc = "/lib/x86_64-linux-gnu/libc.so.6";
constexpr const char* kSource = R"(struct point { int x, y; };
__attribute__((noinline)) int work(int fd, struct point *p) {
  int local = fd * 2;
  return local + p->x;
}
__attribute__((noinline)) int other(int fd, struct point *p) { return work(fd, p) + p->y; }
__attribute__((noinline)) void nothing(long a) { asm volatile("" : : "r"(a)); }
int main(int c, char **v) { struct point p = {1, 2}; nothing(3); return other(c, &p); }
)";

// The program under test, built once.
const Folder& folder() {
  static Folder the_folder;
  return the_folder;
}
const std::string& victim() {
  static const std::string file = folder().build("gcc -O0 -g", folder().file("t.c", kSource), "t");
  return file;
}

using Argument = std::variant<std::monostate, int64_t, std::string>;

// A probe point whose spans tell its components apart: component i begins at 100 * i, its argument
// 50 later.
ast::ProbePoint point(const std::vector<std::pair<std::string, Argument>>& components) {
  ast::ProbePoint p;
  p.span = {0, 1, 9};
  uint32_t at = 100;
  for (const auto& [name, argument] : components) {
    p.components.push_back(
        {name, {0, at, at + uint32_t(name.size())}, argument, {0, at + 50, at + 60}});
    at += 100;
  }
  return p;
}
ast::ProbePoint func(const std::string& name, const std::string& suffix = "") {
  return suffix.empty() ? point({{"func", name}}) : point({{"func", name}, {suffix, {}}});
}

StmtPtr statement(ExprPtr expr) {
  auto s = std::make_unique<Stmt>();
  s->node = ExprStmt{std::move(expr)};
  return s;
}
template <typename Node>
ExprPtr expr(Node node) {
  auto e = std::make_unique<Expr>();
  e->type = Type::Int;
  e->node = std::move(node);
  return e;
}
StmtPtr block(std::vector<StmtPtr> body = {}) {
  auto s = std::make_unique<Stmt>();
  s->node = Block{std::move(body)};
  return s;
}

// A program of one probe that reads the given targets.
Program program(std::vector<ast::ProbePoint> points, const std::vector<std::string>& targets = {}) {
  Program p;
  Probe probe;
  probe.points = std::move(points);
  std::vector<StmtPtr> body;
  for (const std::string& name : targets) {
    TargetExpr t;
    t.name = name;
    t.name_span = {0, 7, 7 + uint32_t(name.size())};
    body.push_back(statement(expr(TargetRef{TargetId(probe.targets.size()), {}})));
    probe.targets.push_back(t);
  }
  probe.body = block(std::move(body));
  p.probes.push_back(std::move(probe));
  return p;
}

TargetFiles files() { return {{victim(), kLibc}, true}; }

struct Outcome {
  Diags diags;
  Plan plan;
  std::string code() const { return diags.all().empty() ? "" : diags.all()[0].code; }
};
Outcome run(const Program& p, const TargetFiles& target = files()) {
  Outcome o;
  o.plan = resolve(p, target, o.diags);
  return o;
}

TEST(Resolve, OneEntryAtTheAddressNmGives) {
  Outcome o = run(program({func("work")}));
  ASSERT_TRUE(o.diags.ok());
  ASSERT_EQ(o.plan.sites.size(), 1u);
  EXPECT_EQ(o.plan.sites[0].address, nm_address(victim(), "work"));
  EXPECT_EQ(o.plan.sites[0].kind, SiteKind::Entry);
  EXPECT_EQ(o.plan.modules.at(o.plan.sites[0].module).path, victim());
}

TEST(Resolve, HandlersAreSharedWhereTargetsAreEqual) {
  Outcome o = run(program({func("work"), func("other")}, {"fd"}));
  ASSERT_TRUE(o.diags.ok());
  EXPECT_EQ(o.plan.sites.size(), 2u);
  EXPECT_EQ(o.plan.handlers.size(), 1u);
  EXPECT_EQ(to_string(std::get<LocExpr>(o.plan.handlers[0].targets[0])), "rdi extend4s");
}

TEST(Resolve, ManySitesOfALibraryShareOneHandler) {
  Outcome o = run(program({func("libc.so.6!*")}));
  ASSERT_TRUE(o.diags.ok());
  EXPECT_GT(o.plan.sites.size(), 2000u);
  EXPECT_EQ(o.plan.handlers.size(), 1u);
}

TEST(Resolve, ReturnProbesReadEntryValuesFromACapture) {
  Outcome o = run(program({func("work", "return")}, {"fd", "return", "fd"}));
  ASSERT_TRUE(o.diags.ok());
  ASSERT_EQ(o.plan.handlers.size(), 2u);
  const Handler& body = o.plan.handlers[0];
  const Handler& capture = o.plan.handlers[1];
  EXPECT_EQ(to_string(std::get<LocExpr>(body.targets[0])), "entry0");
  EXPECT_EQ(to_string(std::get<LocExpr>(body.targets[1])), "rax extend4s");
  EXPECT_EQ(capture.role, Handler::Role::Capture);
  EXPECT_EQ(capture.capture_for, 0u);
  ASSERT_EQ(capture.capture.values.size(), 1u);
  ASSERT_EQ(o.plan.sites.size(), 2u);
  EXPECT_EQ(o.plan.sites[0].kind, SiteKind::Return);
  EXPECT_EQ(o.plan.sites[1].kind, SiteKind::Entry);
  EXPECT_EQ(o.plan.sites[1].handlers, std::vector<HandlerId>{1});
}

TEST(Resolve, ProbesAtOneAddressShareTheSiteInOrder) {
  Program p = program({func("work")});
  Program more = program({func("w?rk")});
  p.probes.push_back(std::move(more.probes[0]));
  Outcome o = run(p);
  ASSERT_EQ(o.plan.sites.size(), 1u);
  EXPECT_EQ(o.plan.sites[0].handlers, (std::vector<HandlerId>{0, 1}));
}

TEST(Resolve, SourceLines) {
  Outcome o = run(program({func("work@t.c:4")}, {"local"}));
  ASSERT_TRUE(o.diags.ok());
  ASSERT_EQ(o.plan.sites.size(), 1u);
  EXPECT_EQ(o.plan.sites[0].kind, SiteKind::Statement);
  EXPECT_EQ(o.plan.sites[0].line, 4u);
  EXPECT_EQ(o.plan.handlers[0].form, Handler::Form::Middle);
  Outcome any = run(program({point({{"process", {}}, {"statement", std::string("*@t.c:4")}})}));
  ASSERT_EQ(any.plan.sites.size(), 1u);
  EXPECT_EQ(any.plan.sites[0].address, o.plan.sites[0].address);
  // The line of the declaration is the function's entry.
  EXPECT_EQ(run(program({func("work@t.c:2")})).plan.sites.at(0).kind, SiteKind::Entry);
  Outcome none = run(program({func("work@t.c:1")}));
  EXPECT_EQ(none.code(), "DJ3007");
  EXPECT_NE(none.diags.all()[0].help.find('2'), std::string::npos);
}

TEST(Resolve, HostProbes) {
  Outcome o = run(program({point({{"begin", int64_t{2}}}), point({{"begin", int64_t{-1}}}),
                           point({{"timer", {}}, {"ms", int64_t{10}}}),
                           point({{"process", {}}, {"end", {}}})}));
  ASSERT_TRUE(o.diags.ok());
  ASSERT_EQ(o.plan.host_probes.size(), 4u);
  EXPECT_EQ(o.plan.host_probes[0].text, "begin(-1)");
  EXPECT_EQ(o.plan.host_probes.back().text, "begin(2)");
  for (const HostProbe& h : o.plan.host_probes) {
    EXPECT_EQ(o.plan.handlers[h.handler].role, Handler::Role::Host);
    if (h.when == HostProbe::When::Timer) {
      EXPECT_EQ(h.interval_ns, 10000000u);
    }
  }
}

TEST(Resolve, OptionalAndSufficientPoints) {
  ast::ProbePoint missing = func("nonesuch"), enough = func("work"), last = func("other");
  missing.optional = true;
  enough.sufficient = true;
  Outcome o = run(program({missing, enough, last}));
  ASSERT_TRUE(o.diags.ok());
  ASSERT_EQ(o.plan.sites.size(), 1u);
  EXPECT_EQ(o.plan.sites[0].symbol, "work");
}

TEST(Resolve, DefinedHidesWhatDoesNotExist) {
  Program p = program({func("work")}, {"nope", "fd"});
  auto choice = std::make_unique<Stmt>();
  std::vector<StmtPtr> dead, alive;
  dead.push_back(statement(expr(TargetRef{0, {}})));
  alive.push_back(statement(expr(TargetRef{1, {}})));
  If branch;
  branch.condition = expr(Unary{ast::UnOp::Not, expr(Unary{ast::UnOp::Not, expr(Defined{0})})});
  branch.then = block(std::move(dead));
  branch.otherwise = block(std::move(alive));
  choice->node = std::move(branch);
  std::vector<StmtPtr> body;
  body.push_back(std::move(choice));
  p.probes[0].body = block(std::move(body));
  Outcome o = run(p);
  ASSERT_TRUE(o.diags.ok());
  EXPECT_TRUE(std::holds_alternative<Undefined>(o.plan.handlers[0].targets[0]));
  EXPECT_TRUE(std::holds_alternative<LocExpr>(o.plan.handlers[0].targets[1]));
}

TEST(Resolve, NoMatchPointsAtTheStringAndSuggests) {
  Outcome o = run(program({func("wrok")}));
  ASSERT_EQ(o.code(), "DJ3004");
  const Diag& d = o.diags.all()[0];
  EXPECT_EQ(d.span.begin, 150u);
  EXPECT_NE(d.help.find("\"work\""), std::string::npos);
  EXPECT_NE(d.notes.at(0).find("libc.so.6"), std::string::npos);
}

TEST(Resolve, EachMistakeHasItsCode) {
  struct {
    Program p;
    const char* code;
  } rows[] = {
      {program({point({{"beginn", {}}})}), "DJ3001"},
      {program({func("work", "retrun")}), "DJ3001"},
      {program({point({{"process", {}}})}), "DJ3001"},
      {program({point({{"timer", {}}, {"s", std::string("x")}})}), "DJ3002"},
      {program({point({{"timer", {}}, {"s", int64_t{0}}})}), "DJ3002"},
      {program({point({{"kernel", {}}, {"trace", std::string("f")}})}), "DJ3003"},
      {program({func("work", "inline")}), "DJ3018"},
      {program({point({{"process", std::string("./nosuch")}, {"function", std::string("f")}})}),
       "DJ3005"},
      {program({func("libx.so!f")}), "DJ3005"},
      {program({func("work@")}), "DJ3008"},
      {program({func("libc.so.6!__restore_rt")}), "DJ3009"},
      {program({func("work")}, {"fdd"}), "DJ3011"},
      {program({func("nothing", "return")}, {"return"}), "DJ3014"},
      {program({point({{"begin", {}}})}, {"fd"}), "DJ3016"},
      {program({func("libc.so.6!strlen")}), "DJ3017"},
  };
  for (const auto& row : rows) {
    Outcome o = run(row.p);
    EXPECT_EQ(o.code(), row.code) << row.p.probes[0].points[0].components[0].name;
    EXPECT_EQ(o.diags.error_count(), 1u) << row.code;
  }
}

TEST(Resolve, AMissingNameIsSaidOncePerProbe) {
  Program p = program({func("work")}, {"fdd", "fdd", "nope"});
  p.probes[0].targets[1].path.push_back({});  // $fdd and $fdd->x are one mistake, $nope another
  Outcome o = run(p);
  EXPECT_EQ(o.code(), "DJ3011");
  EXPECT_EQ(o.diags.error_count(), 2u);
}

TEST(Resolve, WithoutTargetFuncSaysHowToTraceOne) {
  for (const auto& [point, code] :
       {std::pair{"vfs_read", "DJ3006"}, std::pair{"libnone.so.6!vfs_read", "DJ3005"}}) {
    Outcome o = run(program({func(point)}), {});
    ASSERT_EQ(o.code(), code);
    EXPECT_NE(o.diags.all()[0].help.find("-c"), std::string::npos);
    EXPECT_NE(o.diags.all()[0].help.find("-p"), std::string::npos);
  }
}

TEST(Resolve, NoDebugInfoIsSaidOnce) {
  const std::string bare = folder().build("gcc -O1", folder().file("bare.c", kSource), "bare");
  Outcome o = run(program({func("work")}, {"fd", "p"}), {{bare}, true});
  EXPECT_EQ(o.code(), "DJ3010");
  EXPECT_EQ(o.diags.error_count(), 1u);
}

TEST(Listing, ShowsPlacesAndVariables) {
  Diags diags;
  const std::string plain = list({func("w*k")}, {{victim()}, true}, false, diags);
  EXPECT_EQ(plain,
            "process(\"" + victim() + "\").function(\"work@" + folder().path + "/t.c:2\")\n");
  const std::string full = list({func("work", "return")}, {{victim()}, true}, true, diags);
  EXPECT_NE(full.find(".return $return:int $fd:int $p:struct point* $local:int\n"),
            std::string::npos)
      << full;
  EXPECT_TRUE(diags.ok());
  // Without a target a file can be listed by its path.
  EXPECT_EQ(
      list({point({{"process", victim()}, {"function", std::string("work")}})}, {}, false, diags),
      plain);
}

}  // namespace
}  // namespace dj
