// SPDX-License-Identifier: Apache-2.0
// hot: Contexts: a handler run takes one that is free, first where its thread's number points.
#include "runtime/agent/frame.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/thread.h"

using namespace dj;
using agent::arena;
using agent::context_at;

extern "C" uint32_t dj_reclaim_context(uint32_t tid, uint64_t stack);

namespace {

// Its index; `count`: none is free.
inline uint32_t take_free(abi::ThreadTable* table, uint32_t tid, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t index = (tid + i) % count;
    uint64_t* owner = &table->context_owners[index];
    if (abi::load(owner) == 0 && abi::cas(owner, 0, tid)) return index;
  }
  return count;
}

}  // namespace

abi::Context* dj_enter(uint32_t site) {
  const abi::Header* header = arena();
  uint32_t tid = agent::thread_id(), count = header->context_count;
  uint64_t stack = agent::stack_pointer();
  abi::ThreadTable* table = abi::thread_table_of(header);
  uint32_t index = count;
  do {
    index = take_free(table, tid, count);
    if (index == count) index = dj_reclaim_context(tid, stack);
    if (index == count) {
      agent::count_skip(abi::kSkipNoContext);
      return nullptr;
    }
    abi::store(&table->context_runs[index], agent::run_of_thread());
    // A signal handler may have forked before that, and then it is free in the child.
  } while (__builtin_expect(abi::load(&table->context_owners[index]) != tid, 0));
  abi::Context* ctx = context_at(index);
  ctx->index = index;
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
  abi::ThreadTable* table = abi::thread_table_of(arena());
  const uint64_t index = ctx->index;
  ctx->stack = 0;
  abi::store(&table->context_runs[index], uint64_t{0});
  abi::store(&table->context_owners[index], uint64_t{0});
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
