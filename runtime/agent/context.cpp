// hot: Contexts: a handler run takes one that is free, first where its thread's number points.
#include "runtime/agent/frame.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;

extern "C" abi::Context* dj_reclaim_context(uint32_t tid, uint64_t stack);

namespace {

inline abi::Context* context_at(uint32_t index) {
  return reinterpret_cast<abi::Context*>(arena()->contexts +
                                         uint64_t{index} * arena()->context_bytes);
}

}  // namespace

abi::Context* dj_enter(uint32_t site) {
  const abi::Header* header = arena();
  uint32_t tid = agent::thread_id(), count = header->context_count;
  uint64_t stack = agent::stack_pointer();
  abi::Context* ctx = nullptr;
  for (uint32_t i = 0; i < count && ctx == nullptr; ++i) {
    abi::Context* tried = context_at((tid + i) % count);
    if (abi::load(&tried->owner) == 0 && abi::cas(&tried->owner, 0, tid)) ctx = tried;
  }
  if (ctx == nullptr) ctx = dj_reclaim_context(tid, stack);
  if (ctx == nullptr) {
    agent::count_skip(abi::kSkipNoContext);
    return nullptr;
  }
  ctx->stack = stack;
  ctx->raised = 0;
  ctx->site = site;
  ctx->actions_left = ctx->action_limit = static_cast<int32_t>(header->max_action);
  ctx->nesting_left = static_cast<int32_t>(header->max_nesting);
  ctx->scratch_used = 0;
  ctx->tries = 0;
  ctx->match_groups = 0;
  ctx->token_text = 0;
  ctx->scratch_bytes =
      header->context_bytes - static_cast<uint32_t>(offsetof(abi::Context, scratch));
  ctx->iterators = ctx->scratch_bytes;
  return ctx;
}

void dj_leave(abi::Context* ctx) {
  ctx->stack = 0;
  abi::store(&ctx->owner, uint64_t{0});
}

uint32_t dj_action(abi::Context* ctx) {
  if (__builtin_expect(--ctx->actions_left >= 0, 1)) return 1;
  if (ctx->raised == 0) {
    agent::count_skip(abi::kSkipMaxAction);
    dj_raise(ctx, ctx->site, abi::kNoSpan, abi::kErrMaxAction, ctx->action_limit);
  }
  return 0;
}

uint32_t dj_nest(abi::Context* ctx) {
  if (!dj_action(ctx)) return 0;
  if (__builtin_expect(--ctx->nesting_left >= 0, 1)) return 1;
  ++ctx->nesting_left;  // the call that does not happen
  if (ctx->raised == 0) {
    agent::count_skip(abi::kSkipNestedCalls);
    dj_raise(ctx, ctx->site, abi::kNoSpan, abi::kErrNesting, arena()->max_nesting);
  }
  return 0;
}

void dj_unnest(abi::Context* ctx) { ++ctx->nesting_left; }
