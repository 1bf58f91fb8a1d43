// SPDX-License-Identifier: Apache-2.0
// FakeKernel is a KernelLink for tests: its text is a copy of a file's, and the module's own checks
// (kernel/verify.c) decide what is armed. It shows what arrives in the text, and counts nothing by
// itself. (Tests only.)
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "arch/x86_64/text.h"
#include "kernel/verify.h"
#include "runtime/kernel/kernel_link.h"

namespace dj {

// FakeText: what outlives a session.
struct FakeText {
  std::map<uint64_t, std::vector<uint8_t>> ranges;  // by address
  std::vector<dj_range> functions;
  std::vector<dj_range> fixed;

  FakeText(const arch::ModuleText& text, uint64_t bias) {
    for (const arch::TextRange& range : text.text)
      ranges[range.address + bias] = {range.bytes.begin(), range.bytes.end()};
    for (const arch::FunctionRange& function : text.functions)
      functions.push_back({function.begin + bias, function.end + bias});
  }
  uint8_t* at(uint64_t address) {
    auto range = std::prev(ranges.upper_bound(address));
    return &range->second.at(address - range->first);
  }
  dj_range text() const {
    return {ranges.begin()->first, ranges.rbegin()->first + ranges.rbegin()->second.size()};
  }
  dj_range function_at(uint64_t address) const {
    for (const dj_range& function : functions) {
      if (address >= function.begin && address < function.end) return function;
    }
    return {0, 0};
  }
};

class FakeKernel final : public KernelLink {
 public:
  static constexpr uint64_t kCode = 0xffffffffc0001000, kCounters = 0x35010;
  // `text`: outlives this object.
  explicit FakeKernel(FakeText& text) : text_(text) {}

  Result<djtap_hello> hello() override {
    const dj_range range = text_.text();
    return djtap_hello{DJTAP_ABI, DJTAP_COUNTERS, kCounters, range.begin, range.end};
  }
  Result<uint64_t> alloc_code(uint64_t bytes) override {
    if (!code.empty()) return Error{"there is a code block already"};
    code.assign(bytes, 0xcc);
    return kCode;
  }
  Status write_code(uint64_t offset, std::span<const uint8_t> from) override {
    if (sealed || offset + from.size() > code.size()) return Error{"no such code"};
    std::ranges::copy(from, code.begin() + static_cast<long>(offset));
    return ok_status();
  }
  Status seal() override {
    sealed = true;
    return ok_status();
  }
  Result<std::vector<djtap_answer>> arm(std::span<const djtap_site> sites,
                                        std::span<const uint64_t> copies) override {
    const dj_facts facts = {text_.text(),
                            sealed ? dj_range{kCode, kCode + code.size()} : dj_range{0, 0},
                            text_.fixed.data(), text_.fixed.size()};
    std::vector<__u64> ways(copies.begin(), copies.end());
    std::vector<djtap_answer> answers;
    for (const djtap_site& site : sites) {
      uint8_t bytes[DJTAP_WINDOW];
      const dj_place place = {text_.function_at(site.address), site.address == forbidden};
      djtap_answer answer =
          dj_verify(&site, ways.data(), static_cast<uint32_t>(ways.size()), &facts, &place, bytes);
      const uint32_t extent = dj_extent(&site);
      if (answer == DJTAP_ARMED && std::memcmp(text_.at(site.address), site.original, extent) != 0)
        answer = DJTAP_OTHER_BYTES;
      if (answer == DJTAP_ARMED) std::copy_n(bytes, extent, text_.at(site.address));
      answers.push_back(answer);
      armed_.push_back({site, {bytes, bytes + extent}, answer});
    }
    return answers;
  }
  Result<std::vector<djtap_answer>> disarm() override {
    std::vector<djtap_answer> answers;
    for (Armed& place : armed_) {
      if (place.answer == DJTAP_ARMED || place.answer == DJTAP_KEPT) {
        uint8_t* const at = text_.at(place.site.address);
        const bool ours = std::equal(place.bytes.begin(), place.bytes.end(), at);
        if (ours) std::copy_n(place.site.original, place.bytes.size(), at);
        place.answer = ours ? DJTAP_REMOVED : DJTAP_KEPT;
      }
      answers.push_back(place.answer);
    }
    return answers;
  }
  Status counts(std::span<uint64_t> sums) override {
    std::ranges::copy(std::span(words).first(sums.size()), sums.begin());
    return ok_status();
  }

  std::vector<uint8_t> code;
  bool sealed = false;
  uint64_t forbidden = 0;                                               // an address
  std::vector<uint64_t> words = std::vector<uint64_t>(DJTAP_COUNTERS);  // that a test has counted

 private:
  struct Armed {
    djtap_site site;
    std::vector<uint8_t> bytes;
    djtap_answer answer;
  };
  FakeText& text_;
  std::vector<Armed> armed_;
};

}  // namespace dj
