// SPDX-License-Identifier: Apache-2.0
// Contexts and errors, what is rarely called: taking a context from a run that will never give it
// back, and raising.
#include "runtime/agent/event_record.h"
#include "runtime/agent/frame.h"
#include "runtime/agent/scratch.h"
#include "runtime/agent/thread.h"
#include "runtime/shared/entries.h"
#include "runtime/shared/error_text.h"
#include "runtime/shared/format.h"

using namespace dj;
using agent::arena;

// All contexts are taken: the index of one whose thread is gone, or whose frame in this thread is;
// else their count.
extern "C" uint32_t dj_reclaim_context(uint32_t tid, uint64_t stack) {
  const uint32_t count = arena()->context_count;
  uint64_t* owners = abi::thread_table_of(arena())->context_owners;
  for (uint32_t i = 0; i < count; ++i) {
    const abi::Context* ctx = agent::context_at(i);
    const uint64_t owner = abi::load(&owners[i]);
    if (owner == 0 && abi::cas(&owners[i], 0, tid)) return i;
    bool stale = owner == tid ? agent::frame_is_gone(abi::load(&ctx->stack), stack)
                              : owner != 0 && agent::thread_is_gone(static_cast<uint32_t>(owner));
    if (stale && abi::cas(&owners[i], owner, tid)) return i;
  }
  return count;
}

namespace {

// The calls that are not over, innermost first.
void note_calls(const abi::Context* ctx, uint32_t kind, abi::ErrorPayload* error) {
  uint32_t most = arena()->max_nesting, left = static_cast<uint32_t>(ctx->nesting_left);
  if (kind != abi::kErrNesting) ++left;  // else the call that does not happen is the innermost
  error->call_count = left <= most ? most - left + 1 : 0;
  for (uint32_t i = 0; i < abi::kMaxShownCalls && i < error->call_count; ++i)
    error->calls[i] = ctx->calls[(left + i) % abi::kMaxShownCalls];
}

void send_error(const abi::Context* ctx, uint32_t site, uint32_t span, uint32_t kind, int64_t a,
                const abi::Str* about) {
  const abi::Text text = about == nullptr ? abi::Text{} : abi::text_of(about);
  agent::Record record;
  if (!record.open(sizeof(abi::ErrorPayload) + text.len, abi::kEventError, site)) return;
  auto* error = reinterpret_cast<abi::ErrorPayload*>(record.payload());
  error->error = kind;
  error->span = span;
  error->a = a;
  error->pid = static_cast<int32_t>(agent::process_id());
  error->tid = static_cast<int32_t>(agent::thread_id());
  error->call_count = 0;
  if (ctx != nullptr) note_calls(ctx, kind, error);
  constexpr uint32_t kTextAt = sizeof(abi::EventHeader) + sizeof(abi::ErrorPayload);
  error->text = abi::pack_string(kTextAt, text.len);
  for (uint32_t i = 0; i < text.len; ++i)
    record.payload()[sizeof(abi::ErrorPayload) + i] = text.data[i];
  record.commit();
}

// Whether a try block is open, which then finds the error in the context.
bool keep_error(abi::Context* ctx, uint32_t kind, int64_t a, const abi::Str* text) {
  if (ctx->tries == 0) return false;
  ctx->error = kind;
  ctx->error_value = a;
  ctx->error_text = reinterpret_cast<uint64_t>(text);
  return true;
}

}  // namespace

void dj_raise(abi::Context* ctx, uint32_t site, uint32_t span, uint32_t kind, int64_t a) {
  if (ctx != nullptr) {
    ctx->raised = 1;
    if (keep_error(ctx, kind, a, nullptr)) return;
  }
  abi::add(&agent::words().error_count, 1);
  send_error(ctx, site, span, kind, a, nullptr);
}

void dj_user_error(abi::Context* ctx, const abi::Str* text) {
  ctx->raised = 1;
  if (keep_error(ctx, abi::kErrUser, 0, text)) return;
  abi::add(&agent::words().error_count, 1);
  send_error(ctx, ctx->site, ctx->span, abi::kErrUser, 0, text);
}

const abi::Str* dj_caught(abi::Context* ctx) {
  if (ctx->error == abi::kErrUser) return reinterpret_cast<const abi::Str*>(ctx->error_text);
  const char* format = abi::error_format(ctx->error);
  abi::FormatArg value = {static_cast<uint64_t>(ctx->error_value)};
  char text[abi::kMaxErrorText];
  uint32_t length = 0;
  while (format[length] != 0) ++length;
  uint64_t bytes = abi::format_text(text, sizeof text, format, length, &value, 1);
  return agent::make_string(ctx, text, bytes < sizeof text ? bytes : sizeof text);
}
