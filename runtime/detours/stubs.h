// SPDX-License-Identifier: Apache-2.0
// StubSpace and choose_stubs() find addresses for stubs, to which guarded and punned jumps lead.
// Each stub is one e9 rel32 to the site's detour. Stubs that fit on one page share it, so that
// djtap needs few mappings. Pages whose stubs do not overlap share memory.
#pragma once
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/detours/code_area.h"
#include "runtime/detours/code_areas.h"
#include "runtime/patch/site_list.h"
#include "runtime/process/mapped_module.h"

namespace dj {

class StubSpace {
 public:
  static constexpr uint64_t kPage = 4096;
  // `free`: address ranges where djtap may map pages, ascending. `most`: how many mappings it may
  // make (address_space.h).
  StubSpace(std::vector<AddressRange> free, uint64_t most) : free_(std::move(free)), most_(most) {}
  // Takes room for one stub that fits the pattern and lies within reach of every address of `near`,
  // too (the code area with the detour). Empty: there is none.
  std::optional<uint64_t> reserve(const DisplacementPattern& pattern, const AddressRange& near);
  // Whether a stub found no room because djtap may map no more.
  bool is_full() const { return is_full_; }
  // The pages to map, ascending; pages near each other are one range.
  std::vector<AddressRange> pages() const;
  // The same, each with its place in the memory that they share. *bytes: the size of that
  // memory, in which all pages lie.
  std::vector<StubPages> shared_pages(uint64_t* bytes) const;

 private:
  using Bytes = std::bitset<kPage>;
  struct Page {
    uint64_t at;
    Bytes taken;
    bool is_free(uint64_t first, uint64_t last) const;  // bytes of the page
  };
  using Ranges = std::map<uint64_t, uint64_t>;  // begin -> end
  struct Neighbours {
    Ranges::iterator before, after;  // that a page can be one mapping with, or ranges_.end()
  };
  bool is_free(uint64_t at) const;
  bool may_map(uint64_t page);
  void take(uint64_t at);
  Page& page(uint64_t at);
  void map_page(uint64_t page);
  Neighbours neighbours(uint64_t page);
  // In [begin, end), on a page that has stubs already.
  std::optional<uint64_t> beside(const DisplacementPattern& pattern, uint64_t begin, uint64_t end);
  std::optional<uint64_t> beside_few(const DisplacementPattern& pattern, uint64_t begin,
                                     uint64_t end);
  std::optional<uint64_t> take_of(const Page& page, const DisplacementPattern& pattern,
                                  uint64_t begin, uint64_t end);
  std::optional<uint64_t> search(const DisplacementPattern& pattern, uint64_t begin, uint64_t end);
  std::vector<AddressRange> free_;
  uint64_t most_;
  bool is_full_ = false;
  Ranges ranges_;                               // to be mapped
  std::vector<Page> pages_;                     // with stubs, in the order of their first ones
  std::unordered_map<uint64_t, size_t> index_;  // in pages_, by address
  // Of these, in the same order, those of a region and place (stubs.cpp).
  std::map<std::pair<uint64_t, uint32_t>, std::vector<size_t>> places_;
  // By mask, residue and region: the first of them that may have room for such a stub.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, size_t> first_pages_;
  // Where the last stub of this mask, residue and search range was found.
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> hints_;
};

// Chooses form and stub of each Registered site that has a JumpForm. A site for which no address
// fits falls back to int3. `areas`: for each code area the range that it serves, and the range that
// it has.
void choose_stubs(const SiteList& sites, StubSpace& space,
                  const std::vector<std::pair<AddressRange, AddressRange>>& areas);

}  // namespace dj
