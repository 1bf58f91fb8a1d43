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
#include <cstring>

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

// Bytes of an XSAVE area with these features in the standard format.
uint64_t area_bytes(uint64_t features) {
  uint64_t end = kLegacyBytes + kXsaveHeader;
  for (uint32_t i = 2; i < 63; i++) {
    uint32_t size = 0, offset = 0, c, d;
    if ((features >> i & 1) != 0 && __get_cpuid_count(0xd, i, &size, &offset, &c, &d) != 0) {
      end = std::max<uint64_t>(end, uint64_t{offset} + size);
    }
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

Gadgets search_gadgets(const Stopped& stopped) {
  Gadgets found;
  Result<std::vector<Mapping>> maps = read_maps(stopped.pid());
  if (!maps.ok()) {
    return found;
  }
  std::vector<Mapping> code = maps.take();
  // Nothing of ours: what a session has left may be unmapped, and by this very system call.
  std::erase_if(code, [](const Mapping& m) {
    return !m.exec || m.path == "[vsyscall]" || is_session_memory(m);
  });
  std::sort(code.begin(), code.end(), [](const Mapping& a, const Mapping& b) {
    return a.end - a.begin < b.end - b.begin;  // the C library before a huge program
  });
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

}  // namespace

// Text changes between two calls, so what was found before is looked at again.
Gadgets find_gadgets(const Stopped& stopped) {
  static pid_t pid = 0;
  static Gadgets last;
  bool usable =
      pid == stopped.pid() && stands_at(stopped, last.syscall_ret, kSyscallRet) &&
      stands_at(stopped, last.syscall, std::span(kSyscallRet).first(2)) &&
      (stands_at(stopped, last.sigreturn, kLong) || stands_at(stopped, last.sigreturn, kShort));
  if (!usable) {
    last = search_gadgets(stopped);
    pid = stopped.pid();
  }
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
  home.begin_ = home.frame_ - kScratchBytes;
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

}  // namespace dj
