// SPDX-License-Identifier: Apache-2.0
// Calls of the kernel module's device, half of them mutated from valid ones. Runs in a guest.
//
//   device_fuzzer CALLS SECONDS SEED   ends after so many calls or seconds, and prints a line of
//       JSON: how many calls there were, how often each error came, sessions, places that were
//       armed, and whether the text is as before
//
// A place that is armed costs two grace periods of the kernel, which are as long as some hundred
// calls. So nearly all sites are wrong in at least one way, and few calls of ARM are right.
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <span>

#include "tests/kernel/device_plan.h"

namespace dj {
namespace {

constexpr size_t kSites = 8, kCopies = 8, kMemory = 1 << 20, kAround = 1 << 26;
constexpr uint64_t kCallsOfASession = 5000, kRightArms = 500;

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

class Fuzzer {
 public:
  explicit Fuzzer(uint64_t seed) : chance_(seed), entries_(movable_entries("", {}, kSites)) {
    // What a call wants to read or write behind it is not there.
    void* const around = mmap(nullptr, kAround, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (around == MAP_FAILED || entries_.size() != kSites) fail("no memory or functions");
    memory_ = static_cast<uint8_t*>(around);
    if (mprotect(around, kMemory, PROT_READ | PROT_WRITE) != 0) fail("mprotect");
  }

  void run(uint64_t calls, uint64_t seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::vector<std::vector<uint8_t>> before;
    bool same = true;
    while (made_ < calls && same && std::chrono::steady_clock::now() < end) {
      open();
      if (plan_ && before.empty()) before = plan_->text();
      for (uint64_t i = 0; i < kCallsOfASession && made_ < calls; i++) call();
      device_->close();
      same = !plan_ || plan_->text() == before;
    }
    print(same);
  }

 private:
  bool one_in(uint64_t n) { return chance_() % n == 0; }

  // Of two sessions one has its detours from the start.
  void open() {
    plan_.reset();
    device_ = std::make_unique<Device>();
    if (sessions_++ % 2 == 0) plan_ = std::make_unique<DevicePlan>(*device_, entries_);
  }

  void mutate(std::span<uint8_t> bytes) {
    const uint64_t edges[] = {0,
                              1,
                              5,
                              31,
                              32,
                              255,
                              1ull << 31,
                              0xffffffff,
                              1ull << 63,
                              ~0ull,
                              entries_[0].address,
                              address_of(memory_)};
    for (uint64_t times = uint64_t{1} << chance_() % 3; times > 0; times--) {
      const size_t at = chance_() % bytes.size();
      if (one_in(2)) {
        bytes[at] ^= uint8_t(1 << chance_() % 8);
        continue;
      }
      const uint64_t edge = edges[chance_() % std::size(edges)];
      const size_t word = at / 4 * 4;
      std::memcpy(&bytes[word], &edge, std::min(sizeof edge, bytes.size() - word));
    }
  }

  // Wrong for sure: one of the module's checks fails.
  void spoil(djtap_site& site) {
    switch (chance_() % 7) {
      case 0:
        site.address = chance_();
        return;
      case 1:
        site.detour = chance_();
        return;
      case 2:
        site.length = 0;
        return;
      case 3:
        site.form = uint8_t(2 + chance_() % 254);
        return;
      case 4:
        site.reserved[chance_() % sizeof site.reserved] = uint8_t(1 + chance_() % 255);
        return;
      case 5:
        site.guards = 1 | uint32_t(chance_());
        return;
      default:
        site.original[0] ^= uint8_t(1 + chance_() % 255);
    }
  }

  djtap_arm some_arm() {
    auto* const sites = reinterpret_cast<djtap_site*>(memory_);
    auto* const copies = reinterpret_cast<uint64_t*>(memory_ + 4096);
    const bool right = one_in(kRightArms);
    const size_t count = 1 + chance_() % kSites;
    for (size_t i = 0; i < count; i++) {
      djtap_site site = {};
      if (plan_) site = plan_->sites()[i];
      auto* const bytes = reinterpret_cast<uint8_t*>(&site);
      if (one_in(2)) mutate({bytes, sizeof site});
      if (!right) spoil(site);
      sites[i] = site;
    }
    for (size_t i = 0; i < kCopies; i++) copies[i] = plan_ ? plan_->sites()[0].detour : chance_();
    djtap_arm arm = {};
    arm.sites = address_of(sites);
    arm.copies = address_of(copies);
    arm.answers = address_of(memory_ + 8192);
    arm.site_count = uint32_t(count);
    arm.copy_count = kCopies;
    return arm;
  }

  struct Call {
    unsigned long command = 0;
    size_t bytes = 0;
    size_t writes_at = ~size_t{0};  // where the address stands that the module writes to
    alignas(8) std::array<uint8_t, 1 << 14> argument = {};  // as many as a command can say
    template <typename T>
    void set(unsigned long number, const T& value, size_t to = ~size_t{0}) {
      command = number;
      bytes = sizeof value;
      writes_at = to;
      std::memcpy(argument.data(), &value, sizeof value);
    }
  };

  void choose(Call& call) {
    switch (chance_() % 8) {
      case 0:
        return call.set(DJTAP_HELLO, djtap_hello{});
      case 1:
        return call.set(DJTAP_ALLOC_CODE, djtap_code{4096, 0});
      case 2:
        return call.set(DJTAP_WRITE, djtap_write{0, 16, address_of(memory_)});
      case 3:
        return call.set(DJTAP_COUNTS, djtap_counts{address_of(memory_ + 8192), 0, DJTAP_COUNTERS},
                        0);
      case 4:
        return call.set(DJTAP_DISARM, djtap_disarm{address_of(memory_ + 8192), 64, 0}, 0);
      case 5:
        call.command = plan_ || one_in(50) ? DJTAP_SEAL : DJTAP_HELLO;
        call.bytes = 0;
        return;
      default:
        return call.set(DJTAP_ARM, some_arm(), offsetof(djtap_arm, answers));
    }
  }

  void call() {
    Call call;
    choose(call);
    if (call.bytes != 0 && one_in(2)) mutate({call.argument.data(), call.bytes});
    if (call.writes_at != ~size_t{0}) keep_alive(&call.argument[call.writes_at]);
    if (one_in(20)) call.command ^= 1u << chance_() % 32;
    made_++;
    const bool arms = call.command == DJTAP_ARM;
    const int error = device_->call(call.command, call.argument.data());
    errors_[error]++;
    if (!arms || error != 0) return;
    djtap_arm arm;
    std::memcpy(&arm, call.argument.data(), sizeof arm);
    armed_ += arm.armed;
  }

  // The module may write to memory of this program's that is meant for it, or to none.
  void keep_alive(uint8_t* at) {
    const uint64_t addresses[] = {0, 8, uint64_t{1} << 63, entries_[0].address, ~uint64_t{0}};
    uint64_t to = 0;
    std::memcpy(&to, at, sizeof to);
    if (to == address_of(memory_) || to == address_of(memory_ + 8192)) return;
    to = addresses[chance_() % std::size(addresses)];
    std::memcpy(at, &to, sizeof to);
  }

  void print(bool same) const {
    std::string errors;
    for (const auto& [error, count] : errors_) {
      const char* const name = error == 0 ? "none" : strerrorname_np(error);
      errors += (errors.empty() ? "\"" : ", \"") + std::string(name ? name : "?") +
                "\": " + std::to_string(count);
    }
    std::printf(
        "{\"calls\": %lu, \"sessions\": %lu, \"armed\": %lu, \"same\": %s, \"errors\": {%s}}\n",
        made_, sessions_, armed_, same ? "true" : "false", errors.c_str());
  }

  std::mt19937_64 chance_;
  std::vector<Entry> entries_;
  uint8_t* memory_ = nullptr;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DevicePlan> plan_;
  uint64_t made_ = 0, sessions_ = 0, armed_ = 0;
  std::map<int, uint64_t> errors_;
};

}  // namespace
}  // namespace dj

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: device_fuzzer CALLS SECONDS SEED\n");
    return 2;
  }
  dj::Fuzzer(std::stoull(words[3])).run(std::stoull(words[1]), std::stoull(words[2]));
  return 0;
}
