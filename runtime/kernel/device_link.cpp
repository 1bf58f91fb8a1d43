// SPDX-License-Identifier: Apache-2.0
// The calls of kernel/device_abi.h, one function each.
#include "runtime/kernel/device_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

uint64_t address_of(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

std::vector<djtap_answer> answers_of(std::span<const uint8_t> bytes) {
  std::vector<djtap_answer> answers;
  answers.reserve(bytes.size());
  for (uint8_t byte : bytes) answers.push_back(static_cast<djtap_answer>(byte));
  return answers;
}

}  // namespace

Result<std::unique_ptr<DeviceLink>> DeviceLink::open() {
  const int fd = ::open(DJTAP_DEVICE, O_RDWR | O_CLOEXEC);
  if (fd >= 0) return std::unique_ptr<DeviceLink>(new DeviceLink(fd));
  switch (errno) {
    case ENOENT:
    case ENXIO:
      return Error{"djtap's kernel module is not loaded: there is no " DJTAP_DEVICE,
                   Fail::NotFound};
    case EACCES:
      return Error{"the kernel needs root: only root may open " DJTAP_DEVICE, Fail::Permission};
    case EPERM:
      return Error{"the kernel refuses " DJTAP_DEVICE
                   ": it is locked down, or djtap is root in a container only",
                   Fail::Permission};
    case EBUSY:
      return Error{
          "another session probes the kernel, or has left places on which another tool has "
          "a probe; djtap's module takes these out when that tool lets go"};
    default:
      return os_error(DJTAP_DEVICE);
  }
}

DeviceLink::~DeviceLink() { close(fd_); }

Status DeviceLink::call(unsigned long command, void* argument, const char* what) const {
  if (ioctl(fd_, command, argument) == 0) return ok_status();
  return os_error(fmt::format("djtap's kernel module: {}", what));
}

Result<djtap_hello> DeviceLink::hello() {
  djtap_hello hello = {};
  DJ_TRY_DO(call(DJTAP_HELLO, &hello, "hello"));
  if (hello.abi == DJTAP_ABI) return hello;
  return Error{
      fmt::format("djtap's kernel module is of another version: its interface is {}, this "
                  "djtap has {}",
                  hello.abi, DJTAP_ABI)};
}

Result<uint64_t> DeviceLink::alloc_code(uint64_t bytes) {
  djtap_code code = {.bytes = bytes, .address = 0};
  DJ_TRY_DO(call(DJTAP_ALLOC_CODE, &code, "memory for detours"));
  return uint64_t{code.address};
}

Status DeviceLink::write_code(uint64_t offset, std::span<const uint8_t> code) {
  djtap_write write = {.offset = offset, .bytes = code.size(), .from = address_of(code.data())};
  return call(DJTAP_WRITE, &write, "writing detours");
}

Status DeviceLink::seal() { return call(DJTAP_SEAL, nullptr, "sealing detours"); }

Result<std::vector<djtap_answer>> DeviceLink::arm(std::span<const djtap_site> sites,
                                                  std::span<const uint64_t> copies) {
  std::vector<uint8_t> answers(sites.size());
  djtap_arm arm = {.sites = address_of(sites.data()),
                   .copies = address_of(copies.data()),
                   .answers = address_of(answers.data()),
                   .site_count = static_cast<uint32_t>(sites.size()),
                   .copy_count = static_cast<uint32_t>(copies.size()),
                   .armed = 0,
                   .reserved = 0};
  DJ_TRY_DO(call(DJTAP_ARM, &arm, "arming"));
  sites_ += sites.size();
  return answers_of(answers);
}

Result<std::vector<djtap_answer>> DeviceLink::disarm() {
  std::vector<uint8_t> answers(sites_);
  djtap_disarm disarm = {.answers = address_of(answers.data()),
                         .answer_count = static_cast<uint32_t>(sites_),
                         .kept = 0};
  DJ_TRY_DO(call(DJTAP_DISARM, &disarm, "taking probes out"));
  if (disarm.kept == 0) sites_ = 0;
  return answers_of(answers);
}

Status DeviceLink::counts(std::span<uint64_t> sums) {
  djtap_counts counts = {
      .to = address_of(sums.data()), .first = 0, .count = static_cast<uint32_t>(sums.size())};
  return call(DJTAP_COUNTS, &counts, "reading counters");
}

}  // namespace dj
