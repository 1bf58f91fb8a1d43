// SPDX-License-Identifier: Apache-2.0
// =~: runs a compiled pattern over a string, all alternatives side by side, so that the time is
// bounded by the product of both lengths. Of the matches the leftmost, of these the longest counts;
// inside it the groups are those of the first alternative that gives it.
#include "runtime/shared/regex.h"

#include "runtime/agent/scratch.h"
#include "runtime/shared/entries.h"

using namespace dj;

namespace {

// One way through the pattern: the step it stands at, and the slots it has filled.
struct Thread {
  uint32_t step;
  uint32_t slots[1];  // really 2 * groups
};

struct List {
  char* threads;
  uint32_t count;
};

// A step that is still to be looked at, or (step kNoMatch) a slot to put back.
struct Pending {
  uint32_t step, slot, value;
};

struct Matcher {
  const abi::RegexStep* steps;
  const char* classes;
  uint32_t step_count, slots, thread_bytes;
  abi::Text text;
  List now, next;
  uint32_t* seen;  // by step: position + 1 at which it came on the list
  Pending* pending;
  uint32_t* best;  // slots of the best match
  bool found;

  static constexpr uint32_t kPendingMost = 3 * abi::kMaxRegexSteps;

  static uint64_t bytes(uint32_t step_count, uint32_t groups) {
    uint64_t thread = sizeof(uint32_t) * (1 + 2 * uint64_t{groups});
    return 2 * thread * step_count + sizeof(uint32_t) * step_count +
           kPendingMost * sizeof(Pending) + sizeof(uint32_t) * 4 * uint64_t{groups};
  }

  Thread* thread(const List& list, uint32_t i) const {
    return reinterpret_cast<Thread*>(list.threads + uint64_t{i} * thread_bytes);
  }

  void keep(List& list, uint32_t step, const uint32_t* filled) const {
    Thread* made = thread(list, list.count++);
    made->step = step;
    for (uint32_t i = 0; i < slots; ++i) made->slots[i] = filled[i];
  }

  // Follows what takes no byte; steps that do take one, and the end, come on the list.
  void add(List& list, uint32_t first, uint32_t at, uint32_t* filled) const {
    uint32_t count = 0;
    pending[count++] = {first, 0, 0};
    while (count > 0) {
      Pending todo = pending[--count];
      if (todo.step == abi::kNoMatch) {
        filled[todo.slot] = todo.value;
        continue;
      }
      if (seen[todo.step] == at + 1) continue;
      seen[todo.step] = at + 1;
      const abi::RegexStep& step = steps[todo.step];
      switch (step.op) {
        case abi::kRegexJump:
          pending[count++] = {step.a, 0, 0};
          break;
        case abi::kRegexSplit:
          pending[count++] = {step.b, 0, 0};
          pending[count++] = {step.a, 0, 0};
          break;
        case abi::kRegexSave:
          pending[count++] = {abi::kNoMatch, step.a, filled[step.a]};
          filled[step.a] = at;
          pending[count++] = {todo.step + 1, 0, 0};
          break;
        case abi::kRegexBegin:
          if (at == 0) pending[count++] = {todo.step + 1, 0, 0};
          break;
        case abi::kRegexEnd:
          if (at == text.len) pending[count++] = {todo.step + 1, 0, 0};
          break;
        default:
          keep(list, todo.step, filled);
      }
    }
  }

  bool takes(const abi::RegexStep& step, uint8_t byte) const {
    if (step.op == abi::kRegexByte) return byte == step.a;
    if (step.op == abi::kRegexAny) return true;
    const char* set = classes + uint64_t{step.a} * abi::kRegexClassBytes;
    return (set[byte / 8] >> (byte % 8) & 1) != 0;
  }

  // Slot 0 is where a match begins, slot 1 where it ends.
  void finish(const uint32_t* filled) {
    bool better = !found || filled[0] < best[0] || (filled[0] == best[0] && filled[1] > best[1]);
    if (!better) return;
    found = true;
    for (uint32_t i = 0; i < slots; ++i) best[i] = filled[i];
  }

  void run(uint32_t* filled) {
    for (uint32_t at = 0; at <= text.len; ++at) {
      if (!found) {
        for (uint32_t i = 0; i < slots; ++i) filled[i] = abi::kNoMatch;
        add(now, 0, at, filled);
      }
      if (now.count == 0 && found) return;
      next.count = 0;
      for (uint32_t i = 0; i < now.count; ++i) {
        Thread* each = thread(now, i);
        const abi::RegexStep& step = steps[each->step];
        if (step.op == abi::kRegexMatch) {
          finish(each->slots);
        } else if (at < text.len && takes(step, static_cast<uint8_t>(text.data[at])) &&
                   (!found || each->slots[0] <= best[0])) {
          add(next, each->step + 1, at + 1, each->slots);
        }
      }
      List swap = now;
      now = next;
      next = swap;
    }
  }
};

}  // namespace

int64_t dj_match(abi::Context* ctx, const abi::Str* text, const abi::Str* program) {
  ctx->match_groups = 0;
  const auto* head = reinterpret_cast<const abi::RegexHead*>(program->data);
  uint64_t bytes = Matcher::bytes(head->steps, head->groups);
  uint32_t from = agent::round_word(ctx->scratch_used);
  if (from + bytes > ctx->iterators) {
    dj_raise(ctx, ctx->site, ctx->span, abi::kErrScratch, static_cast<int64_t>(bytes));
    return 0;
  }
  char* memory = ctx->scratch + from;
  auto take = [&memory](uint64_t size) {
    char* taken = memory;
    memory += size;
    return taken;
  };
  Matcher matcher = {};
  matcher.steps = reinterpret_cast<const abi::RegexStep*>(head + 1);
  matcher.classes = reinterpret_cast<const char*>(matcher.steps + head->steps);
  matcher.step_count = head->steps;
  matcher.slots = 2 * head->groups;
  matcher.thread_bytes = sizeof(uint32_t) * (1 + matcher.slots);
  matcher.text = abi::text_of(text);
  matcher.now.threads = take(uint64_t{head->steps} * matcher.thread_bytes);
  matcher.next.threads = take(uint64_t{head->steps} * matcher.thread_bytes);
  matcher.seen = reinterpret_cast<uint32_t*>(take(sizeof(uint32_t) * head->steps));
  matcher.pending = reinterpret_cast<Pending*>(take(Matcher::kPendingMost * sizeof(Pending)));
  matcher.best = reinterpret_cast<uint32_t*>(take(sizeof(uint32_t) * matcher.slots));
  auto* filled = reinterpret_cast<uint32_t*>(take(sizeof(uint32_t) * matcher.slots));
  for (uint32_t i = 0; i < head->steps; ++i) matcher.seen[i] = 0;
  matcher.run(filled);
  if (!matcher.found) return 0;
  ctx->match_text = reinterpret_cast<uint64_t>(text);
  ctx->match_groups = head->groups;
  for (uint32_t i = 0; i < matcher.slots; ++i) ctx->match_at[i] = matcher.best[i];
  return 1;
}
