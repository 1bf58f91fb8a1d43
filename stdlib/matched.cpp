// SPDX-License-Identifier: Apache-2.0
// What the last =~ of a handler has matched.
#include "runtime/agent/scratch.h"
#include "runtime/shared/regex.h"
#include "stdlib/entries.h"

using namespace dj;

// Group 0 is the whole match; one that took no part is "".
const abi::Str* dj_matched(abi::Context* ctx, int64_t group) {
  if (ctx->match_groups == 0) {
    dj_raise(ctx, ctx->site, ctx->span, abi::kErrNoMatch, 0);
    return agent::empty_string();
  }
  if (group < 0 || group >= ctx->match_groups) {
    dj_raise(ctx, ctx->site, ctx->span, abi::kErrNoGroup, group);
    return agent::empty_string();
  }
  uint32_t begin = ctx->match_at[2 * group], end = ctx->match_at[2 * group + 1];
  if (begin == abi::kNoMatch || end == abi::kNoMatch) return agent::empty_string();
  // The text may have become shorter since the match.
  const abi::Text text = abi::text_of(reinterpret_cast<const abi::Str*>(ctx->match_text));
  if (end > text.len) return agent::empty_string();
  return agent::make_string(ctx, text.data + begin, end - begin);
}

const abi::Str* dj_matched_str(abi::Context* ctx) { return dj_matched(ctx, 0); }

int64_t dj_ngroups(abi::Context* ctx) {
  if (ctx->match_groups == 0) dj_raise(ctx, ctx->site, ctx->span, abi::kErrNoMatch, 0);
  return ctx->match_groups;
}
