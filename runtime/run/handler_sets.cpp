// SPDX-License-Identifier: Apache-2.0
// Plans are compared by what lower() reads of them.
#include "runtime/run/handler_sets.h"

#include <algorithm>
#include <utility>

#include "compiler/stages/of_children.h"
#include "compiler/stages/result_use.h"

namespace dj {

HandlerSets::Source::Source(const Plan& plan, bool rseq)
    : handlers(plan.handlers),
      function_targets(plan.function_targets),
      waits(handlers_that_wait(plan)),
      of_calls(handlers_of_calls(plan)),
      of_syscalls(handlers_of_syscalls(plan)),
      of_children(handlers_of_children(plan)),
      has_rseq(rseq) {}

std::shared_ptr<const HandlerCode> HandlerSets::find(const Plan& plan, bool has_rseq) const {
  if (plan.sites.empty()) return nullptr;
  const Source source(plan, has_rseq);
  const auto found = std::ranges::find(kept_, source, &Kept::source);
  return found != kept_.end() ? found->code : nullptr;
}

void HandlerSets::keep(const Plan& plan, bool has_rseq, std::shared_ptr<const HandlerCode> code) {
  constexpr size_t kMost = 64;  // a program may open plugins without end, each with its own
  if (plan.sites.empty()) return;
  kept_.push_back({Source(plan, has_rseq), std::move(code)});
  if (kept_.size() > kMost) kept_.pop_front();
}

}  // namespace dj
