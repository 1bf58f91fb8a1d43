// Stubs: addresses that guarded and punned jumps can lead to. Each stub is one e9 rel32 to the
// site's detour. Stubs that may lie together do, so that few mappings are needed; pages whose stubs
// do not meet share memory.
#pragma once
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "runtime/control/island.h"
#include "runtime/control/process.h"
#include "runtime/control/session_memory.h"
#include "runtime/control/site_text.h"

namespace dj {

class StubSpace {
 public:
  // `free`: where something may be mapped, ascending (address_space.h).
  explicit StubSpace(std::vector<AddressRange> free) : free_(std::move(free)) {}
  // Room for one stub that fits the pattern and lies within reach of every address of `near` too
  // (the island with the detour); taken. Empty: there is none.
  std::optional<uint64_t> reserve(const DisplacementPattern& pattern, const AddressRange& near);
  // The pages to map, ascending; those that follow one another are one range.
  std::vector<AddressRange> pages() const;
  // The same, each with its place in memory that they share, of which *bytes are used.
  std::vector<StubPages> shared_pages(uint64_t* bytes) const;

 private:
  bool take(uint64_t at);
  // In [begin, end), on a page that has stubs already.
  std::optional<uint64_t> beside(const DisplacementPattern& pattern, uint64_t begin, uint64_t end);
  std::optional<uint64_t> search(const DisplacementPattern& pattern, uint64_t begin, uint64_t end);
  std::vector<AddressRange> free_;
  std::map<uint64_t, uint64_t> taken_;  // begin -> end
  // Where the last stub of this mask, residue and search range was found.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> hints_;
};

// Chooses form and stub of each Registered site that has a JumpForm; one without any address falls
// back to int3. `islands`: what each serves, and where it lies.
void choose_stubs(const SiteList& sites, StubSpace& space,
                  const std::vector<std::pair<AddressRange, AddressRange>>& islands);

}  // namespace dj
