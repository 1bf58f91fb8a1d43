// SPDX-License-Identifier: Apache-2.0
// Globals and functions.
#include "compiler/parse/build.h"

namespace dj {

void Builder::add_global(DjtParser::GlobalDefContext* ctx) {
  for (DjtParser::GlobalVarContext* var : ctx->globalVar()) {
    script_.globals.push_back(global_var(var, ctx->PRIVATE() != nullptr));
  }
}

ast::GlobalDecl Builder::global_var(DjtParser::GlobalVarContext* ctx, bool is_private) {
  ast::GlobalDecl global;
  global.name = text(ctx->ID());
  global.span = span(ctx->ID());
  global.is_private = is_private;
  global.wrap = ctx->PERCENT() != nullptr;
  if (ctx->NUMBER() != nullptr) {
    size_t errors = diags_.error_count();
    global.capacity = number(ctx->NUMBER());
    if (*global.capacity < 1 && diags_.error_count() == errors) {
      diags_.error("DJ1018", span(ctx->NUMBER()), "an array needs room for at least one element");
    }
  }
  if (ctx->initial() != nullptr) {
    global.init = initial(ctx->initial());
    if (global.capacity || global.wrap) {
      Diag& diag = diags_.error("DJ1019", global.init->span, "an array has no initial value");
      diag.labels.push_back({global.span, "an array, because of its size"});
      diag.help = "fill it in a probe begin { ... }";
    }
  }
  return global;
}

void Builder::add_function(DjtParser::FunctionDefContext* ctx) {
  auto type_name = [&](DjtParser::TypeContext* type) {
    return type == nullptr ? std::string() : type->LONG() != nullptr ? "long" : "string";
  };
  ast::FunctionDecl function;
  function.name = text(ctx->ID());
  function.name_span = span(ctx->ID());
  function.is_private = ctx->PRIVATE() != nullptr;
  function.type = type_name(ctx->type());
  for (DjtParser::ParamContext* param : ctx->param()) {
    function.params.push_back({text(param->ID()), span(param->ID()), type_name(param->type())});
  }
  if (ctx->priority() != nullptr) {
    function.priority = number(ctx->priority()->NUMBER(), ctx->priority()->SIGN_MINUS() != nullptr);
  }
  function.body = block(ctx->block());
  script_.functions.push_back(std::move(function));
}

}  // namespace dj
