// Built-ins that take strings apart.
#include "runtime/agent/scratch.h"
#include "stdlib/entries.h"

using namespace dj;

namespace {

bool has(const abi::Str* set, char c) {
  for (uint32_t i = 0; i < set->len; ++i) {
    if (set->data[i] == c) return true;
  }
  return false;
}

}  // namespace

// The next part of the text that was given last, in this run of the handler, as C's strtok does.
const abi::Str* dj_tokenize(abi::Context* ctx, const abi::Str* input, const abi::Str* delimiters) {
  if (input->len > 0) {
    ctx->token_text = reinterpret_cast<uint64_t>(input);
    ctx->token_at = 0;
  }
  if (ctx->token_text == 0) return agent::empty_string();
  const auto* text = reinterpret_cast<const abi::Str*>(ctx->token_text);
  uint32_t begin = ctx->token_at;
  while (begin < text->len && has(delimiters, text->data[begin])) ++begin;
  uint32_t end = begin;
  while (end < text->len && !has(delimiters, text->data[end])) ++end;
  ctx->token_at = end;
  return agent::make_string(ctx, text->data + begin, end - begin);
}

// Where `part` begins in `text`, from 0; -1: nowhere.
int64_t dj_strpos(const abi::Str* text, const abi::Str* part) {
  for (uint32_t at = 0; at + part->len <= text->len; ++at) {
    if (abi::same_bytes(part, text->data + at, part->len)) return at;
  }
  return -1;
}
