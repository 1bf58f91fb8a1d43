// SPDX-License-Identifier: Apache-2.0
// Reads the kernel by its own files, and tells an instruction that can be moved by its bytes.
#include "tests/kernel/device_plan.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

namespace dj {

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t kDetourBytes = 64, kEntryBytes = 64;

bool stand_at(const Bytes& code, size_t at, std::initializer_list<uint8_t> bytes) {
  return at + bytes.size() <= code.size() && std::equal(bytes.begin(), bytes.end(), &code[at]);
}

// The length of a push of a register or a move between two; 0: another instruction.
size_t movable_bytes(const Bytes& code, size_t at) {
  const auto byte = [&](size_t i) { return at + i < code.size() ? code[at + i] : uint8_t{0}; };
  const size_t prefix = byte(0) == 0x41 ? 1 : 0;
  if ((byte(prefix) & 0xf8) == 0x50) return prefix + 1;
  const bool wide = byte(0) == 0x48 || byte(0) == 0x49 || byte(0) == 0x4c || byte(0) == 0x4d;
  const size_t opcode = wide ? 1 : 0;
  return byte(opcode) == 0x89 && byte(opcode + 1) >= 0xc0 ? opcode + 2 : 0;
}

bool find_entry(const Bytes& code, Entry& entry) {
  size_t at = 0;
  if (stand_at(code, 0, {0xf3, 0x0f, 0x1e, 0xfa}) || stand_at(code, 0, {0x66, 0x0f, 0x1f, 0}))
    at = 4;  // endbr64, sealed
  if (!stand_at(code, at, {0x0f, 0x1f, 0x44, 0, 0})) return false;
  const size_t begin = at += 5;
  while (at < begin + 5) {
    const size_t bytes = movable_bytes(code, at);
    if (bytes == 0) return false;
    at += bytes;
  }
  entry.address += begin;
  entry.moved.assign(code.begin() + long(begin), code.begin() + long(at));
  return true;
}

void put_u32(Bytes& code, uint64_t value) {
  for (int i = 0; i < 4; i++) code.push_back(uint8_t(value >> 8 * i));
}

// Flags are dead at a function's entry.
Bytes counting_detour(uint64_t at, const Entry& entry, uint64_t word) {
  Bytes code = {0x65, 0x48, 0xff, 0x04, 0x25};  // incq %gs:word
  put_u32(code, word);
  code.insert(code.end(), entry.moved.begin(), entry.moved.end());
  code.push_back(0xe9);
  put_u32(code, entry.address + entry.moved.size() - (at + code.size() + 4));
  code.resize(kDetourBytes, 0xcc);
  return code;
}

struct Segment {
  uint64_t address, bytes, offset;
};

class Memory {
 public:
  Memory() : fd_(open("/proc/kcore", O_RDONLY | O_CLOEXEC)) {
    Elf64_Ehdr head;
    read_at(0, &head, sizeof head);
    for (size_t i = 0; i < head.e_phnum; i++) {
      Elf64_Phdr p;
      read_at(head.e_phoff + i * sizeof p, &p, sizeof p);
      if (p.p_type == PT_LOAD) segments_.push_back({p.p_vaddr, p.p_filesz, p.p_offset});
    }
  }
  Bytes read(uint64_t address, uint64_t bytes) const {
    Bytes to(bytes);
    for (const Segment& s : segments_) {
      if (address - s.address >= s.bytes) continue;
      read_at(s.offset + (address - s.address), to.data(), bytes);
      return to;
    }
    fail("/proc/kcore has not all memory");
  }

 private:
  void read_at(uint64_t offset, void* to, size_t bytes) const {
    for (size_t done = 0; done < bytes;) {
      const ssize_t count =
          pread(fd_, static_cast<char*>(to) + done, bytes - done, off_t(offset + done));
      if (count <= 0) fail("/proc/kcore cannot be read");
      done += size_t(count);
    }
  }

  int fd_;
  std::vector<Segment> segments_;
};

std::vector<NamedAddress> all_symbols;

}  // namespace

void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

const std::vector<NamedAddress>& text_symbols() {
  if (all_symbols.empty()) read_symbols();
  return all_symbols;
}

void read_symbols() {
  all_symbols.clear();
  std::ifstream lines("/proc/kallsyms");
  std::string line;
  while (std::getline(lines, line)) {
    char type = 0, name[512] = {}, module[128] = {};
    NamedAddress symbol;
    const int words =
        std::sscanf(line.c_str(), "%lx %c %511s [%127[^]]]", &symbol.address, &type, name, module);
    if (words < 3 || std::strchr("tTwW", type) == nullptr) continue;
    symbol.name = name;
    symbol.module = module;
    all_symbols.push_back(symbol);
  }
  std::ranges::stable_sort(all_symbols, {}, &NamedAddress::address);
}

Bytes read_memory(uint64_t address, uint64_t bytes) {
  static const Memory memory;
  return memory.read(address, bytes);
}

std::vector<Entry> movable_entries(const std::string& module, const std::vector<std::string>& names,
                                   size_t most) {
  std::vector<NamedAddress> candidates;
  for (const NamedAddress& symbol : text_symbols()) {
    const bool named = names.empty() || std::ranges::count(names, symbol.name) != 0;
    if (symbol.module == module && named) candidates.push_back(symbol);
  }
  uint64_t begin = 0, end = ~uint64_t{0};
  for (const NamedAddress& symbol : text_symbols()) {
    if (module.empty() && symbol.name == "_stext") begin = symbol.address;
    if (module.empty() && symbol.name == "_etext") end = symbol.address - kEntryBytes;
  }
  std::vector<Entry> found;
  for (const NamedAddress& symbol : candidates) {
    const bool is_new = found.empty() || found.back().address < symbol.address;
    if (symbol.address < begin || symbol.address >= end || !is_new || found.size() == most)
      continue;
    Entry entry{symbol.address, {}, symbol.name};
    if (find_entry(read_memory(symbol.address, kEntryBytes), entry)) found.push_back(entry);
  }
  return found;
}

Device::Device() : fd_(open(DJTAP_DEVICE, O_RDWR | O_CLOEXEC)) {
  if (fd_ < 0) fail(DJTAP_DEVICE);
}

void Device::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int Device::call(unsigned long command, void* argument) const {
  return ioctl(fd_, command, argument) == 0 ? 0 : errno;
}

DevicePlan::DevicePlan(const Device& device, std::vector<Entry> entries)
    : device_(device), entries_(std::move(entries)) {
  djtap_hello hello = {};
  djtap_code code = {entries_.size() * kDetourBytes, 0};
  if (device.call(DJTAP_HELLO, &hello) || device.call(DJTAP_ALLOC_CODE, &code))
    fail("no memory for detours");
  Bytes block;
  for (size_t i = 0; i < entries_.size(); i++) {
    const Entry& entry = entries_[i];
    djtap_site site = {};
    site.address = entry.address;
    site.detour = code.address + block.size();
    site.length = uint8_t(entry.moved.size());
    site.form = DJTAP_JUMP;
    std::ranges::copy(entry.moved, site.original);
    const uint64_t word = hello.counter_offset + i % DJTAP_COUNTERS * sizeof(uint64_t);
    const Bytes detour = counting_detour(site.detour, entry, word);
    block.insert(block.end(), detour.begin(), detour.end());
    sites_.push_back(site);
  }
  djtap_write write = {0, block.size(), reinterpret_cast<uint64_t>(block.data())};
  if (device.call(DJTAP_WRITE, &write) || device.call(DJTAP_SEAL, nullptr))
    fail("detours cannot be written");
}

Bytes DevicePlan::arm() const {
  Bytes answers(sites_.size());
  djtap_arm arm = {};
  arm.sites = reinterpret_cast<uint64_t>(sites_.data());
  arm.answers = reinterpret_cast<uint64_t>(answers.data());
  arm.site_count = uint32_t(sites_.size());
  if (device_.call(DJTAP_ARM, &arm)) fail("arm");
  return answers;
}

uint32_t DevicePlan::disarm(Bytes& answers) const {
  answers.assign(sites_.size(), 0xff);
  djtap_disarm disarm = {};
  disarm.answers = reinterpret_cast<uint64_t>(answers.data());
  disarm.answer_count = uint32_t(answers.size());
  if (device_.call(DJTAP_DISARM, &disarm)) fail("disarm");
  return disarm.kept;
}

std::vector<uint64_t> DevicePlan::counts() const {
  std::vector<uint64_t> sums(DJTAP_COUNTERS);
  djtap_counts counts = {reinterpret_cast<uint64_t>(sums.data()), 0, DJTAP_COUNTERS};
  if (device_.call(DJTAP_COUNTS, &counts)) fail("counts");
  return sums;
}

uint64_t DevicePlan::count() const {
  uint64_t sum = 0;
  for (const uint64_t word : counts()) sum += word;
  return sum;
}

uint64_t DevicePlan::count_of(size_t entry) const { return counts()[entry % DJTAP_COUNTERS]; }

std::vector<Bytes> DevicePlan::text() const {
  std::vector<Bytes> now;
  for (const Entry& entry : entries_) now.push_back(read_memory(entry.address, DJTAP_WINDOW));
  return now;
}

std::string tally(const Bytes& answers) {
  std::map<int, int> counts;
  for (const uint8_t answer : answers) counts[answer]++;
  std::string text;
  for (const auto& [answer, count] : counts)
    text +=
        (text.empty() ? "\"" : ", \"") + std::to_string(answer) + "\": " + std::to_string(count);
  return "{" + text + "}";
}

}  // namespace dj
