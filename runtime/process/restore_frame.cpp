// SPDX-License-Identifier: Apache-2.0
// Builds what the kernel builds when it delivers a signal (struct rt_sigframe, sigcontext(5)).
#include "runtime/process/restore_frame.h"

#include <cpuid.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

constexpr uint64_t kRedZone = 128;
constexpr uint64_t kLegacyBytes = 512, kXsaveHeader = 64;  // of the XSAVE area
constexpr uint64_t kSoftwareAt = 464;                      // bytes for software in the former
constexpr uint32_t kMagic1 = 0x46505853, kMagic2 = 0x46505845;
constexpr uint64_t kAmxTiles = uint64_t{1} << 18;  // state that a thread has only on request
// uc_flags: the frame has an XSAVE area and a stack segment.
constexpr uint64_t kHasXstate = 1, kHasSegment = 2, kStrictSegment = 4;
constexpr int kNoSuchStack = 0x1234;  // refused silently: the signal stack stays as it is

struct HomeFrame {
  uint64_t restorer;
  ucontext_t context;  // the kernel's sigset is the first word of glibc's
};
constexpr uint64_t kFrameBytes = offsetof(HomeFrame, context.uc_sigmask) + 8;

// What the kernel puts into the legacy area's bytes for software.
struct Software {
  uint32_t magic1, extended_size;
  uint64_t features;
  uint32_t size;
};

constexpr uint32_t kMostFeatures = 63;

// Where each feature's part of an XSAVE area ends in the standard format (CPUID leaf 0xd).
std::array<uint64_t, kMostFeatures> feature_ends() {
  std::array<uint64_t, kMostFeatures> ends = {};
  for (uint32_t i = 2; i < kMostFeatures; i++) {
    uint32_t size = 0, offset = 0, c, d;
    if (__get_cpuid_count(0xd, i, &size, &offset, &c, &d) != 0) ends[i] = uint64_t{offset} + size;
  }
  return ends;
}

// Bytes of an XSAVE area with these features in the standard format. The ends are asked for once:
// in a virtual machine each CPUID leaves it.
uint64_t area_bytes(uint64_t features) {
  static const std::array<uint64_t, kMostFeatures> ends = feature_ends();
  uint64_t end = kLegacyBytes + kXsaveHeader;
  for (uint32_t i = 2; i < kMostFeatures; i++) {
    if ((features >> i & 1) != 0) end = std::max(end, ends[i]);
  }
  return end;
}

// Bytes of an XSAVE area with all that the kernel lets a thread have (CPUID leaf 0xd, ecx).
uint64_t most_area_bytes() {
  constexpr uint64_t kLeast = 4096;
  uint32_t a = 0, b = 0, most = 0, d = 0;
  __get_cpuid_count(0xd, 0, &a, &b, &most, &d);
  return std::max<uint64_t>(most, kLeast);
}

// The thread's vector registers as a signal frame holds them; empty: the kernel does not tell.
std::vector<uint8_t> vector_state(pid_t tid) {
  static const uint64_t most = most_area_bytes();
  std::vector<uint8_t> area(most);
  iovec io = {area.data(), area.size()};
  if (trace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &io) != 0 ||
      io.iov_len < kLegacyBytes + kXsaveHeader) {
    return {};
  }
  uint64_t features, present;
  memcpy(&features, &area[kSoftwareAt], sizeof features);
  memcpy(&present, &area[kLegacyBytes], sizeof present);
  if ((present & kAmxTiles) == 0) {
    features &= ~kAmxTiles;
  }
  uint64_t size = area_bytes(features);
  if (size > io.iov_len) {
    return {};
  }
  area.resize(size + sizeof kMagic2);
  Software software = {kMagic1, static_cast<uint32_t>(area.size()), features,
                       static_cast<uint32_t>(size)};
  memcpy(&area[kSoftwareAt], &software, sizeof software);
  memcpy(&area[size], &kMagic2, sizeof kMagic2);
  return area;
}

// An interrupted system call begins anew.
user_regs_struct at_home(user_regs_struct regs) {
  int64_t result = static_cast<int64_t>(regs.rax);
  if (static_cast<int64_t>(regs.orig_rax) >= 0 && result <= -512 && result >= -516) {
    regs.rip -= 2;
    regs.rax = regs.orig_rax;
  }
  return regs;
}

HomeFrame frame_for(const user_regs_struct& regs, uint64_t mask, uint64_t restorer, uint64_t area) {
  HomeFrame frame = {};
  frame.restorer = restorer;
  ucontext_t& c = frame.context;
  c.uc_flags = kHasXstate | kHasSegment | kStrictSegment;
  c.uc_stack.ss_flags = kNoSuchStack;
  auto put = [&](int name, uint64_t value) {
    c.uc_mcontext.gregs[name] = static_cast<greg_t>(value);
  };
  put(REG_R8, regs.r8), put(REG_R9, regs.r9), put(REG_R10, regs.r10), put(REG_R11, regs.r11);
  put(REG_R12, regs.r12), put(REG_R13, regs.r13), put(REG_R14, regs.r14), put(REG_R15, regs.r15);
  put(REG_RDI, regs.rdi), put(REG_RSI, regs.rsi), put(REG_RBP, regs.rbp), put(REG_RBX, regs.rbx);
  put(REG_RDX, regs.rdx), put(REG_RAX, regs.rax), put(REG_RCX, regs.rcx), put(REG_RSP, regs.rsp);
  put(REG_RIP, regs.rip), put(REG_EFL, regs.eflags);
  put(REG_CSGSFS, (regs.cs & 0xffff) | (regs.gs & 0xffff) << 16 | (regs.fs & 0xffff) << 32 |
                      (regs.ss & 0xffff) << 48);
  c.uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(area);
  memcpy(&c.uc_sigmask, &mask, sizeof mask);
  return frame;
}

}  // namespace

namespace {

constexpr uint8_t kSyscallRet[] = {0x0f, 0x05, 0xc3};
constexpr uint8_t kLong[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
constexpr uint8_t kShort[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

// GadgetParts: code of a process, read in parts that overlap by the longest pattern; a program may
// have mapped terabytes.
class GadgetParts {
 public:
  GadgetParts(const Stopped& stopped, const std::vector<Mapping>& code)
      : stopped_(stopped), code_(code) {}
  // Reads the next part that can be read. False: there is none, or too much was looked at.
  bool next() {
    while (map_ < code_.size() && looked_at_ < kMost) {
      const Mapping& m = code_[map_];
      begin_ = m.begin + offset_;
      bytes_.resize(std::min(m.end - begin_, kPart));
      looked_at_ += bytes_.size();
      const bool is_last = begin_ + bytes_.size() == m.end;
      const bool readable = stopped_.read(begin_, bytes_).ok();
      map_ += is_last || !readable ? 1 : 0;
      offset_ = is_last || !readable ? 0 : offset_ + bytes_.size() - sizeof kLong;
      if (readable) return true;
    }
    return false;
  }
  uint64_t begin() const { return begin_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  static constexpr uint64_t kPart = 4 << 20, kMost = uint64_t{1} << 30;
  const Stopped& stopped_;
  const std::vector<Mapping>& code_;
  size_t map_ = 0;
  uint64_t offset_ = 0, begin_ = 0, looked_at_ = 0;
  std::vector<uint8_t> bytes_;
};

// Code of files comes before other code, which the next process has elsewhere, and the C library
// before a huge program. Nothing of ours: what a session has left may be unmapped, and by this very
// system call.
std::vector<Mapping> code_to_search(const Stopped& stopped) {
  Result<std::vector<Mapping>> maps = stopped.maps();
  if (!maps.ok()) return {};
  std::vector<Mapping> code = maps.take();
  std::erase_if(code, [](const Mapping& m) {
    return !m.exec || m.path == "[vsyscall]" || is_session_memory(m);
  });
  std::ranges::sort(code, {},
                    [](const Mapping& m) { return std::pair(m.inode == 0, m.end - m.begin); });
  return code;
}

Gadgets search_gadgets(const Stopped& stopped, const std::vector<Mapping>& code) {
  Gadgets found;
  GadgetParts parts(stopped, code);
  while (parts.next()) {
    const std::vector<uint8_t>& bytes = parts.bytes();
    auto look = [&](uint64_t& gadget, std::span<const uint8_t> pattern) {
      const void* at = gadget != 0
                           ? nullptr
                           : memmem(bytes.data(), bytes.size(), pattern.data(), pattern.size());
      if (at != nullptr) {
        gadget =
            parts.begin() + static_cast<uint64_t>(static_cast<const uint8_t*>(at) - bytes.data());
      }
    };
    look(found.syscall, std::span(kSyscallRet).first(2));
    look(found.syscall_ret, kSyscallRet);
    look(found.sigreturn, kLong);
    look(found.sigreturn, kShort);
    if (found.syscall_ret != 0 && found.sigreturn != 0) {
      break;
    }
  }
  return found;
}

bool stands_at(const Stopped& stopped, uint64_t address, std::span<const uint8_t> pattern) {
  std::vector<uint8_t> bytes(pattern.size());
  return address != 0 && stopped.read(address, bytes).ok() &&
         std::equal(bytes.begin(), bytes.end(), pattern.begin());
}

// Text changes between two calls, so what was found before is looked at again.
bool are_there(const Stopped& stopped, const Gadgets& gadgets) {
  return stands_at(stopped, gadgets.syscall_ret, kSyscallRet) &&
         stands_at(stopped, gadgets.syscall, std::span(kSyscallRet).first(2)) &&
         (stands_at(stopped, gadgets.sigreturn, kLong) ||
          stands_at(stopped, gadgets.sigreturn, kShort));
}

// GadgetPlace: where in a file a gadget lies, which other processes have mapped, too.
struct GadgetPlace {
  uint64_t device = 0, inode = 0, offset = 0;
};

GadgetPlace place_of(uint64_t gadget, const std::vector<Mapping>& code) {
  for (const Mapping& m : code) {
    if (m.begin <= gadget && gadget < m.end)
      return {m.device, m.inode, m.offset + (gadget - m.begin)};
  }
  return {};
}

// 0: it is not mapped.
uint64_t gadget_at(const GadgetPlace& place, const std::vector<Mapping>& code) {
  for (const Mapping& m : code) {
    const bool is_it = place.inode != 0 && m.inode == place.inode && m.device == place.device;
    if (is_it && m.offset <= place.offset && place.offset - m.offset < m.end - m.begin)
      return m.begin + (place.offset - m.offset);
  }
  return 0;
}

}  // namespace

Gadgets find_gadgets(const Stopped& stopped) {
  static pid_t pid = 0;
  static Gadgets last;
  static GadgetPlace syscall, syscall_ret, sigreturn;
  if (pid == stopped.pid() && are_there(stopped, last)) return last;
  const std::vector<Mapping> code = code_to_search(stopped);
  last = {gadget_at(syscall, code), gadget_at(syscall_ret, code), gadget_at(sigreturn, code)};
  if (!are_there(stopped, last)) {
    last = search_gadgets(stopped, code);
    syscall = place_of(last.syscall, code);
    syscall_ret = place_of(last.syscall_ret, code);
    sigreturn = place_of(last.sigreturn, code);
  }
  pid = stopped.pid();
  return last;
}

uint64_t signal_frame_bytes(pid_t tid) {
  constexpr uint64_t kAlignment = 64 + 16;
  const uint64_t area = vector_state(tid).size();
  return area == 0 ? 0 : kRedZone + area + kFrameBytes + sizeof(siginfo_t) + kAlignment;
}

std::optional<RestoreFrame> RestoreFrame::make(const Stopped& stopped, pid_t tid,
                                               const Gadgets& gadgets, const user_regs_struct& regs,
                                               uint64_t mask) {
  std::vector<uint8_t> area = vector_state(tid);
  if (gadgets.syscall_ret == 0 || gadgets.sigreturn == 0 || area.empty()) {
    return std::nullopt;
  }
  uint64_t area_at = (regs.rsp - kRedZone - area.size()) & ~uint64_t{63};
  RestoreFrame home;
  home.frame_ = (area_at - kFrameBytes) & ~uint64_t{15};
  home.begin_ = home.scratch_ = home.frame_ - kScratchBytes;
  home.area_ = area_at;
  home.sigreturn_ = gadgets.sigreturn;
  HomeFrame frame = frame_for(at_home(regs), mask, gadgets.sigreturn, area_at);
  std::vector<uint8_t> bytes(area_at + area.size() - home.begin_);
  memcpy(&bytes[kScratchBytes], &frame, kFrameBytes);
  std::copy(area.begin(), area.end(), bytes.begin() + static_cast<long>(area_at - home.begin_));
  home.before_.resize(bytes.size());
  if (!stopped.read(home.begin_, home.before_).ok() || !stopped.write(home.begin_, bytes).ok()) {
    return std::nullopt;  // not enough stack
  }
  return home;
}

// Each frame has the registers with which its call is made; the stack pointer among them leads to
// the next frame.
std::optional<user_regs_struct> RestoreFrame::add_calls(const Stopped& stopped,
                                                        const user_regs_struct& regs,
                                                        std::span<const ChainedCall> calls,
                                                        uint64_t last_mask) {
  constexpr uint64_t kStride = (kFrameBytes + 15) & ~uint64_t{15};
  const uint64_t begin = begin_ - calls.size() * kStride;
  std::vector<uint8_t> bytes(begin_ - begin), before(bytes.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    const bool is_last = i + 1 == calls.size();
    const auto& [number, a] = calls[i];
    user_regs_struct making = regs;
    making.rax = static_cast<uint64_t>(number);
    making.rdi = a[0], making.rsi = a[1], making.rdx = a[2];
    making.r10 = a[3], making.r8 = a[4], making.r9 = a[5];
    making.rsp = is_last ? frame_ : begin + (i + 1) * kStride;
    const uint64_t mask = is_last ? last_mask : ~uint64_t{0};
    const HomeFrame frame = frame_for(making, mask, sigreturn_, area_);
    memcpy(&bytes[i * kStride], &frame, kFrameBytes);
  }
  if (!stopped.read(begin, before).ok() || !stopped.write(begin, bytes).ok()) return std::nullopt;
  before_.insert(before_.begin(), before.begin(), before.end());
  begin_ = begin;
  user_regs_struct first = regs;
  first.rip = sigreturn_;
  first.rsp = begin + 8;  // as if returned to
  return first;
}

}  // namespace dj
