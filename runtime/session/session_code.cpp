// SPDX-License-Identifier: Apache-2.0
// What a session tells debuggers of its code in the target.
#include "runtime/memory/debug_object.h"
#include "runtime/process/os_error.h"
#include "runtime/session/session.h"

namespace dj {

Island* Session::island_at(uint64_t address) {
  Island* found = installation_->island_at(address);
  for (std::deque<Later>* list : {&later_, &spent_}) {
    for (auto later = list->begin(); found == nullptr && later != list->end(); ++later) {
      found = later->installation.island_at(address);
    }
  }
  return found;
}

// Takes some 10 ms for 76,000 detours: all of them again where objects come one after the other, so
// it takes a small part of the time.
void Session::show_code() {
  constexpr uint64_t kOfTime = 20;
  const uint64_t begin = now_ns();
  if (begin < show_next_ns_) return;
  std::vector<uint64_t> all = installation_->own_code();
  for (const std::deque<Later>* list : {&later_, &spent_}) {
    for (const Later& later : *list) {
      const std::vector<uint64_t> more = later.installation.own_code();
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  if (all.size() == shown_) return;
  shown_ = all.size();
  DebugObject object;
  for (const uint64_t at : all) {
    Island* const island = island_at(at);
    CHECK(island != nullptr);
    const std::span<uint8_t> view = island->view(at, sizeof(abi::OwnIsland));
    object.add(*island, *reinterpret_cast<const abi::OwnIsland*>(view.data()));
  }
  const auto add_stubs = [&object](Installation& installation) {
    for (const PatchSite* site : installation.all_places()) {
      if (site->jump && site->form && site->form->stub != 0) {
        object.add_stub(site->form->stub, site->address);
      }
    }
  };
  add_stubs(*installation_);
  for (Later& later : later_) add_stubs(later.installation);
  debug_list_.show(pid_, header(), object.file());
  show_next_ns_ = now_ns() + kOfTime * (now_ns() - begin);
}

}  // namespace dj
