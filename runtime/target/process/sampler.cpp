// SPDX-License-Identifier: Apache-2.0
// Sending running threads through a handler.
#include "runtime/target/process/sampler.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "arch/x86_64/sample.h"
#include "runtime/process/os_error.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

constexpr uint64_t kPatienceNs = 20'000'000;  // for a handler; then the next tick looks again
constexpr int kYields = 20;
constexpr useconds_t kNapUs = 50;
constexpr uint64_t kUserCode64 = 0x33;                         // cs of 64-bit code
constexpr int64_t kRestartFirst = -512, kRestartBlock = -516;  // the kernel's -ERESTART*

// On a processor, or ready for one.
bool is_running(pid_t pid, pid_t tid) {
  std::ifstream in(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  std::string text;
  std::getline(in, text);
  const size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0;
}

std::vector<pid_t> running_threads(pid_t pid) {
  std::vector<pid_t> threads;
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    const pid_t tid = atoi(entry.path().filename().c_str());
    if (is_running(pid, tid)) threads.push_back(tid);
  }
  return threads;
}

bool copy(pid_t pid, uint64_t address, void* here, size_t bytes, bool write) {
  return write ? write_running(pid, address, here, bytes) : read_running(pid, address, here, bytes);
}

// Is it inside a restartable sequence? It would go on in the middle, no longer guarded.
bool in_sequence(pid_t tid, uint64_t area, uint64_t pc) {
  struct Sequence {  // struct rseq_cs, linux/rseq.h
    uint32_t version, flags;
    uint64_t start, length, abort;
  } sequence;
  constexpr uint64_t kPointer = 8;  // of struct rseq: rseq_cs
  uint64_t address = 0;
  if (!copy(tid, area + kPointer, &address, sizeof address, false)) return true;
  if (address == 0) return false;
  return !copy(tid, address, &sequence, sizeof sequence, false) ||
         pc - sequence.start < sequence.length;
}

// As SiteInfo::pc has it: the highest bit of the word is another field's.
constexpr uint64_t kPc = ~uint64_t{0} >> 1;

}  // namespace

bool Sampler::may_interrupt(const Stopped& stopped, pid_t tid, const user_regs_struct& regs) const {
  // A call with a timeout restarts with what is left of it, which only the kernel knows.
  const bool in_call = static_cast<int64_t>(regs.orig_rax) >= 0;
  if (in_call && static_cast<int64_t>(regs.rax) == kRestartBlock) return false;
  if (regs.cs != kUserCode64 || stopped.expects_signal(tid)) return false;
  return !rseq_offset_ ||
         !in_sequence(tid, regs.fs_base + static_cast<uint64_t>(*rseq_offset_), regs.rip);
}

bool Sampler::is_busy(const Point& point) const { return arena_.word(point.done).number() != 0; }

// No target can write there.
void Sampler::set_pc(const Point& point, uint64_t pc) {
  auto* const word = reinterpret_cast<uint64_t*>(point.pc);
  abi::store(word, (*word & ~kPc) | (pc & kPc));
}

bool Sampler::sample(const Point& point, pid_t tid,
                     const std::function<bool(uint64_t)>& is_left_alone) {
  Result<Stopped> stop = Stopped::stop_thread(pid_, tid);
  if (!stop.ok()) return false;
  Stopped& stopped = stop.value();
  Result<user_regs_struct> got = stopped.registers(tid);
  if (!got.ok() || is_left_alone(got.value().rip) || !may_interrupt(stopped, tid, got.value())) {
    return false;
  }
  user_regs_struct regs = got.value();
  const auto result = static_cast<int64_t>(regs.rax);
  if (static_cast<int64_t>(regs.orig_rax) >= 0 && result <= kRestartFirst &&
      result > kRestartBlock) {
    regs.rip -= 2;  // the interrupted call begins anew, as it would have
    regs.rax = regs.orig_rax;
  }
  regs.orig_rax = ~0ull;
  uint64_t pc = regs.rip;
  regs.rsp -= arch::kSampleBytes;
  regs.rip = point.code;
  if (!copy(tid, regs.rsp, &pc, sizeof pc, true)) return false;
  set_pc(point, pc);
  arena_.store<uint64_t>(point.done, 1);
  if (!stopped.set_registers(tid, regs).ok()) {
    arena_.store<uint64_t>(point.done, 0);
    return false;
  }
  stopped.release();
  const uint64_t deadline = now_ns() + kPatienceNs;
  for (int round = 0; is_busy(point) && now_ns() < deadline; ++round) {
    if (round < kYields) {
      sched_yield();
    } else {
      usleep(kNapUs);
    }
  }
  return true;
}

void Sampler::run(const Point& point, const std::function<bool(uint64_t)>& is_left_alone) {
  if (!Stopped::let_go_of_late()) return;
  for (const pid_t tid : running_threads(pid_)) {
    // The row belongs to one thread at a time, also when that one has not come back yet.
    const bool taken = !is_busy(point) && sample(point, tid, is_left_alone);
    (taken ? samples_.taken : samples_.left_out)++;
  }
}

}  // namespace dj
