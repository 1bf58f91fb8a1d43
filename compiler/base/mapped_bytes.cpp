// SPDX-License-Identifier: Apache-2.0
// The handler of SIGBUS looks the address up in a list of mappings that only grows: a node is free
// again when its mapping is gone, and no handler ever meets a freed one.
#include "compiler/base/mapped_bytes.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <new>

#include "compiler/base/page.h"

namespace dj {

struct Guard {
  std::atomic<uintptr_t> begin = 0, end = 0;  // no bytes: free
  Guard* next = nullptr;
};

namespace {

std::atomic<Guard*> guards = nullptr;

Guard* guard_of(uintptr_t address) {
  for (Guard* guard = guards; guard != nullptr; guard = guard->next) {
    if (guard->begin <= address && address < guard->end) return guard;
  }
  return nullptr;
}

// All pages from that address on lie behind the file's end. An address of no mapping is a crash;
// abort() gives the terminal back.
void on_bus_error(int, siginfo_t* info, void*) {
  const auto page = reinterpret_cast<uintptr_t>(info->si_addr) & ~(kPage - 1);
  const Guard* guard = guard_of(page);
  if (guard == nullptr || mmap(reinterpret_cast<void*>(page), guard->end - page, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    std::abort();
  }
}

void handle_bus_errors() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGBUS, &action, nullptr);
}

Guard* add_guard(uintptr_t begin, uintptr_t end) {
  static std::mutex mutex;
  static std::once_flag handled;
  std::call_once(handled, handle_bus_errors);
  const std::lock_guard lock(mutex);
  Guard* guard = guards;
  while (guard != nullptr && guard->end != 0) guard = guard->next;
  if (guard == nullptr) {
    guard = new Guard;
    guard->next = guards;
    guards = guard;
  }
  guard->begin = begin;
  guard->end = end;
  return guard;
}

}  // namespace

MappedBytes::MappedBytes(int fd, size_t size) {
  void* at = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (at == MAP_FAILED && size > 0 && errno == ENOMEM) throw std::bad_alloc();
  if (at == MAP_FAILED) return;
  begin_ = static_cast<const uint8_t*>(at);
  size_ = size;
  const auto begin = reinterpret_cast<uintptr_t>(at);
  guard_ = add_guard(begin, begin + (size + kPage - 1) / kPage * kPage);
}

MappedBytes::~MappedBytes() {
  if (guard_ == nullptr) return;
  guard_->end = 0;
  munmap(const_cast<uint8_t*>(begin_), size_);
}

}  // namespace dj
