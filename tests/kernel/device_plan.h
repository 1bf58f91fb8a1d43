// SPDX-License-Identifier: Apache-2.0
// DevicePlan: sites of functions whose first instructions mean the same anywhere, and the code of
// their detours, for the programs that test the kernel module in a guest. It needs none of djtap's
// own analysis. Errors end the program.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/device_abi.h"

namespace dj {

[[noreturn]] void fail(const std::string& what);

struct NamedAddress {
  uint64_t address = 0;
  std::string name, module;  // module: empty for the kernel's own
};

// Text symbols, ascending; as they were at the first call, or at the last of read_symbols().
const std::vector<NamedAddress>& text_symbols();
void read_symbols();

// The kernel's memory, by /proc/kcore.
std::vector<uint8_t> read_memory(uint64_t address, uint64_t bytes);

// Entry: where a function's own instructions begin, behind the nop of the tracer.
struct Entry {
  uint64_t address = 0;
  std::vector<uint8_t> moved;  // the instructions there, five bytes or more
  std::string name;
};

// Functions of a module (empty: of the kernel) whose entries can be moved, `most` at most; with
// those names, or any if there are none.
std::vector<Entry> movable_entries(const std::string& module, const std::vector<std::string>& names,
                                   size_t most);

// Device: an open session. A call that fails gives its errno.
class Device {
 public:
  Device();
  ~Device() { close(); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  int call(unsigned long command, void* argument) const;
  int fd() const { return fd_; }
  void close();

 private:
  int fd_ = -1;
};

class DevicePlan {
 public:
  // Allocates, writes and seals the detours of the entries. Entry i counts in word i modulo the
  // number of words.
  DevicePlan(const Device& device, std::vector<Entry> entries);

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<djtap_site>& sites() const { return sites_; }
  // Returns the answers.
  std::vector<uint8_t> arm() const;
  // Returns how many places are kept, and fills in the answers.
  uint32_t disarm(std::vector<uint8_t>& answers) const;
  uint64_t count() const;  // of all words
  uint64_t count_of(size_t entry) const;
  // The bytes of all sites, now.
  std::vector<std::vector<uint8_t>> text() const;

 private:
  std::vector<uint64_t> counts() const;

  const Device& device_;
  std::vector<Entry> entries_;
  std::vector<djtap_site> sites_;
};

// How many answers of each number there are, as JSON {"0": 3}.
std::string tally(const std::vector<uint8_t>& answers);

}  // namespace dj
