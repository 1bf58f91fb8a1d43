// What a session tells debuggers of its code in the target.
#include "runtime/memory/debug_object.h"
#include "runtime/session/session.h"
#include "runtime/shared/atomic.h"

namespace dj {

Island* Session::island_at(uint64_t address) {
  const auto within = [address](SessionMemory& memory) -> Island* {
    for (Island& island : memory.islands()) {
      if (island.contains(address)) return &island;
    }
    return nullptr;
  };
  Island* found = within(*memory_);
  for (auto later = later_.begin(); found == nullptr && later != later_.end(); ++later) {
    found = within(later->memory);
  }
  for (auto spent = spent_.begin(); found == nullptr && spent != spent_.end(); ++spent) {
    found = within(*spent);
  }
  return found;
}

// Takes some 10 ms for 76,000 detours.
void Session::show_code() {
  const std::pair heads = {abi::load(&header().own_code), abi::load(&header().own_code_later)};
  if (heads == shown_) return;
  shown_ = heads;
  DebugObject object;
  for (const uint64_t head : {heads.first, heads.second}) {
    for (uint64_t at = head; at != 0;) {
      Island* const island = island_at(at);
      CHECK(island != nullptr);
      const std::span<uint8_t> view = island->view(at, sizeof(abi::OwnIsland));
      const auto& own = *reinterpret_cast<const abi::OwnIsland*>(view.data());
      object.add(*island, own);
      at = own.next;
    }
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
}

}  // namespace dj
