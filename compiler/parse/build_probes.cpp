// SPDX-License-Identifier: Apache-2.0
// Probes, aliases and their points; {a,b} in a point stands for several points.
#include "compiler/parse/build.h"

namespace dj {

using namespace ast;

void Builder::add_probe(DjtParser::ProbeDefContext* ctx) {
  if (ctx->op != nullptr) {
    add_alias(ctx);
    return;
  }
  Probe probe;
  probe.span = span(ctx);
  probe.points = points(ctx->probePoints(0));
  probe.body = ctx->body().empty() ? bare_body(probe) : body(ctx->body(0));
  script_.probes.push_back(std::move(probe));
}

// A probe without a body tells of every hit: { print_hit(ppfunc(), $$parms, $$return) }, of the
// texts those that exist. What print_hit() does with them is a tapset's matter.
StmtPtr Builder::bare_body(const Probe& probe) {
  const Span span = probe.points.empty() ? probe.span : probe.points.front().span;
  auto made = [&](auto node) {
    auto expr = std::make_unique<Expr>();
    expr->span = span;
    expr->node = std::move(node);
    return expr;
  };
  auto call = [&](const char* name) { return Call{name, span, {}}; };
  auto text = [&](const char* name) {
    At choice{"choose_defined", span, {}};
    choice.args.push_back(made(Target{name, false, {}, 0}));
    choice.args.push_back(made(String{""}));
    return made(std::move(choice));
  };
  for (const ProbePoint& point : probe.points) {
    const std::string& first = point.components.front().name;
    for (const char* own : {"begin", "end", "error", "never", "oneshot", "timer"}) {
      if (first != own) continue;
      diags_.error("DJ1012", point.span, "a probe needs a body").help =
          "write the statements in braces: { count++ }";
    }
  }
  Call print = call("print_hit");
  print.args.push_back(made(call("ppfunc")));
  print.args.push_back(text("$parms"));
  print.args.push_back(text("$return"));
  auto stmt = std::make_unique<Stmt>();
  stmt->span = span;
  stmt->node = ExprStmt{made(std::move(print))};
  std::vector<StmtPtr> stmts;
  stmts.push_back(std::move(stmt));
  auto body = std::make_unique<Stmt>();
  body->span = span;
  body->node = Block{std::move(stmts)};
  return body;
}

StmtPtr Builder::body(DjtParser::BodyContext* ctx) {
  return ctx->block() != nullptr ? block(ctx->block()) : block(ctx->stmt(), span(ctx));
}

void Builder::add_alias(DjtParser::ProbeDefContext* ctx) {
  Alias alias;
  alias.span = span(ctx);
  alias.names = points(ctx->probePoints(0));
  for (const ProbePoint& name : alias.names) {
    if (name.optional || name.sufficient || name.condition) {
      diags_.error("DJ1025", name.span, "the name of an alias is plain: no '?', '!' or \"if\"")
          .help = "they may stand behind the points of the alias, and where it is used";
    }
    for (const Component& part : name.components) {
      if (part.name.find('*') != std::string::npos) {
        diags_.error("DJ1025", part.name_span, "the name of an alias has no '*'");
      }
    }
  }
  alias.points = points(ctx->probePoints(1));
  bool prologue = ctx->op->getType() == DjtParser::ASSIGN;
  (prologue ? alias.prologue : alias.epilogue) = body(ctx->body(0));
  if (ctx->body().size() > 1) {
    if (!prologue) {
      diags_.error("DJ1025", span(ctx->body(1)), "an alias with += has one body, the epilogue")
          .help = "probe name = point { prologue }, { epilogue }";
    }
    alias.epilogue = body(ctx->body(1));
  }
  script_.aliases.push_back(std::move(alias));
}

std::vector<ProbePoint> Builder::points(DjtParser::ProbePointsContext* ctx) {
  std::vector<ProbePoint> all;
  for (DjtParser::ProbePointContext* each : ctx->probePoint()) {
    for (ProbePoint& made : point(each)) {
      all.push_back(std::move(made));
    }
  }
  return all;
}

// One point as written; each {...} in it multiplies what stands before it.
std::vector<ProbePoint> Builder::point(DjtParser::ProbePointContext* ctx) {
  std::vector<ProbePoint> made(1);
  for (DjtParser::ComponentContext* part : ctx->component()) {
    std::vector<ProbePoint> choices(1);
    if (part->probePoints() != nullptr) {
      choices = points(part->probePoints());
    } else {
      choices[0].components.push_back(component(part));
    }
    std::vector<ProbePoint> longer;
    for (const ProbePoint& head : made) {
      for (const ProbePoint& choice : choices) {
        ProbePoint next = head;
        next.components.insert(next.components.end(), choice.components.begin(),
                               choice.components.end());
        next.optional |= choice.optional;
        next.sufficient |= choice.sufficient;
        next.condition = choice.condition ? choice.condition : head.condition;
        longer.push_back(std::move(next));
      }
    }
    made = std::move(longer);
    if (made.size() > kMaxPoints) {
      diags_.error("DJ1022", span(ctx), "this probe point stands for too many points");
      return {};
    }
  }
  std::shared_ptr<const Expr> condition = ctx->IF() != nullptr ? expr(ctx->expr()) : nullptr;
  for (ProbePoint& each : made) {
    each.span = span(ctx);
    each.optional |= ctx->QUESTION() != nullptr;
    each.sufficient |= ctx->NOT() != nullptr;
    if (condition) {
      each.condition = condition;
    }
  }
  return made;
}

Component Builder::component(DjtParser::ComponentContext* ctx) {
  Component made;
  for (size_t i = ctx->wildName()->start->getTokenIndex();
       i <= ctx->wildName()->stop->getTokenIndex(); ++i) {
    made.name += lexemes_.at(i).text;
  }
  made.name_span = span(ctx->wildName());
  if (ctx->literal() != nullptr) {
    ExprPtr value = literal(ctx->literal());
    made.argument_span = value->span;
    if (const auto* number = std::get_if<Number>(&value->node)) {
      made.argument = number->value;
    } else {
      made.argument = std::get<String>(value->node).value;
    }
  }
  return made;
}

}  // namespace dj
