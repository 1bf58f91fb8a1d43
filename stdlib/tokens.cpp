// SPDX-License-Identifier: Apache-2.0
// Built-ins that take strings apart.
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

bool has(abi::Text set, char c) {
  for (uint32_t i = 0; i < set.len; ++i) {
    if (set.data[i] == c) return true;
  }
  return false;
}

}  // namespace

// The next part of the text that was given last, in this run of the handler, as C's strtok does.
const abi::Str* dj_tokenize(abi::Context* ctx, const abi::Str* input, const abi::Str* between) {
  const abi::Text delimiters = abi::text_of(between);
  if (abi::text_of(input).len > 0) {
    ctx->token_text = reinterpret_cast<uint64_t>(input);
    ctx->token_at = 0;
  }
  if (ctx->token_text == 0) return agent::empty_string();
  // The text may have become shorter since the last part.
  const abi::Text text = abi::text_of(reinterpret_cast<const abi::Str*>(ctx->token_text));
  uint32_t begin = ctx->token_at < text.len ? ctx->token_at : text.len;
  while (begin < text.len && has(delimiters, text.data[begin])) ++begin;
  uint32_t end = begin;
  while (end < text.len && !has(delimiters, text.data[end])) ++end;
  ctx->token_at = end;
  return agent::make_string(ctx, text.data + begin, end - begin);
}

// Where `wanted` begins in `whole`, from 0; -1: nowhere.
int64_t dj_strpos(const abi::Str* whole, const abi::Str* wanted) {
  const abi::Text text = abi::text_of(whole), part = abi::text_of(wanted);
  for (uint32_t at = 0; at + part.len <= text.len; ++at) {
    if (abi::same_bytes(part, text.data + at, part.len)) return at;
  }
  return -1;
}
