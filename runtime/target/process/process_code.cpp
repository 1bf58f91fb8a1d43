// SPDX-License-Identifier: Apache-2.0
// What debuggers are told of djtap's code in a process.
#include "runtime/memory/debug_object.h"
#include "runtime/process/os_error.h"
#include "runtime/target/process/process_target.h"

namespace dj {

CodeArea* ProcessTarget::area_at(uint64_t address) {
  for (std::deque<ProbeSet>* sets : {&sets_, &spent_}) {
    for (ProbeSet& set : *sets) {
      if (CodeArea* found = set.installation.area_at(address)) return found;
    }
  }
  return nullptr;
}

// Takes some 10 ms for 76,000 detours: all of them again where objects come one after the other, so
// it takes a small part of the time.
void ProcessTarget::show_code() {
  constexpr uint64_t kOfTime = 20;
  const uint64_t begin = now_ns();
  if (begin < watch_.show_next_ns) return;
  std::vector<uint64_t> all;
  for (const std::deque<ProbeSet>* sets : {&sets_, &spent_}) {
    for (const ProbeSet& set : *sets) {
      const std::vector<uint64_t> more = set.installation.own_code();
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  if (all.size() == watch_.shown) return;
  watch_.shown = all.size();
  DebugObject object;
  for (const uint64_t at : all) {
    CodeArea* const area = area_at(at);
    CHECK(area != nullptr);
    const std::span<uint8_t> view = area->view(at, sizeof(abi::OwnArea));
    object.add(*area, *reinterpret_cast<const abi::OwnArea*>(view.data()));
  }
  for (ProbeSet& set : sets_) {
    for (const PatchSite* site : set.installation.detours().places()) {
      if (site->jump && site->form && site->form->stub != 0)
        object.add_stub(site->form->stub, site->address);
    }
  }
  watch_.debug_list.show(process_.pid, objects_.known, header_, object.file());
  watch_.show_next_ns = now_ns() + kOfTime * (now_ns() - begin);
}

}  // namespace dj
