// Finds the target once.
#include "runtime/run/lazy_target.h"

#include "compiler/resolve/target_index.h"

namespace dj {

Result<std::optional<TracedProcess>>& LazyTarget::find() {
  if (!found_) found_.emplace(find_target(options_, child_mask_));
  return *found_;
}

TargetIndex* LazyTarget::index() {
  if (!find().ok()) return nullptr;
  if (!index_) index_ = make_target_index(target_files(find().value()));
  return index_.get();
}

}  // namespace dj
