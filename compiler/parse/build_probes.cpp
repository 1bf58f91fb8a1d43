// Probes and their points.
#include "compiler/parse/build.h"

namespace dj {

void Builder::add_probe(DjtParser::ProbeDefContext* ctx) {
  if (ctx->op != nullptr) {
    Span alias = span(ctx->probePoints(0));
    not_built({alias.file, alias.begin, span(ctx->op).end}, "probe aliases are").help =
        "write the probe points themselves where the alias would be used";
    return;
  }
  ast::Probe probe;
  probe.span = span(ctx);
  bool ok = true;
  for (DjtParser::ProbePointContext* point : ctx->probePoints(0)->probePoint()) {
    ok &= add_point(point, probe);
  }
  DjtParser::BodyContext* body = ctx->body(0);
  probe.body = body->block() != nullptr ? block(body->block()) : block(body->stmt(), span(body));
  if (ok) {
    script_.probes.push_back(std::move(probe));
  }
}

bool Builder::add_point(DjtParser::ProbePointContext* ctx, ast::Probe& probe) {
  ast::ProbePoint point;
  point.span = span(ctx);
  point.optional = ctx->QUESTION() != nullptr;
  point.sufficient = ctx->NOT() != nullptr;
  for (DjtParser::ComponentContext* part : ctx->component()) {
    if (!component(part, point.components.emplace_back())) {
      return false;
    }
  }
  if (ctx->IF() != nullptr) {
    Span condition = {point.span.file, span(ctx->IF()).begin, point.span.end};
    not_built(condition, "conditions on probe points are").help =
        "test inside the body: if (!(condition)) next";
    return false;
  }
  probe.points.push_back(std::move(point));
  return true;
}

bool Builder::component(DjtParser::ComponentContext* ctx, ast::Component& out) {
  if (ctx->wildName() == nullptr) {
    not_built(span(ctx), "lists { ... } in probe points are").help =
        "write the probe points one by one, with commas between them";
    return false;
  }
  for (size_t i = ctx->wildName()->start->getTokenIndex();
       i <= ctx->wildName()->stop->getTokenIndex(); ++i) {
    out.name += lexemes_.at(i).text;
  }
  out.name_span = span(ctx->wildName());
  if (ctx->literal() != nullptr) {
    ast::ExprPtr value = literal(ctx->literal());
    out.argument_span = value->span;
    if (const auto* number = std::get_if<ast::Number>(&value->node)) {
      out.argument = number->value;
    } else {
      out.argument = std::get<ast::String>(value->node).value;
    }
  }
  return true;
}

}  // namespace dj
