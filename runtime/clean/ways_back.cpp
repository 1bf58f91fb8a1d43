// SPDX-License-Identifier: Apache-2.0
// A saved context is known by its segment registers: the kernel writes them as one word, the same
// for all threads of 64-bit programs, and hardly anything else does. The agent changes that word in
// the frames of its own SIGTRAP (agent/trap.cpp), which lie about on stacks in thousands.
#include "runtime/clean/ways_back.h"

#include <fcntl.h>
#include <sys/user.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "compiler/base/page.h"
#include "runtime/process/os_error.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/signal_actions.h"
#include "runtime/text/thread_moves.h"

namespace dj {
namespace {

constexpr uint64_t kWord = 8, kPiece = 1 << 20;
constexpr uint64_t kSegments = 0x002b'0000'0000'0033;  // cs 0x33, ss 0x2b; gs and fs are 0 there
constexpr uint64_t kStackLimit = 64 << 20;  // nobody's used stack is deeper; keeps the stop short

// Words of a signal frame in order, up to the segments by which it is known. Where the registers
// alone were copied, the first ones are something else.
constexpr size_t kGateReturn =
    0;  // of a gate that calls the program's handler (agent/fault_gates.S)
constexpr size_t kRestorer = 12;   // the frame's first word; that of SIGTRAP's is the agent's
constexpr size_t kRegisters = 18;  // as in REG_R8 and the following
constexpr size_t kLast = kRegisters + size_t{REG_CSGSFS};
static_assert(kRestorer + 1 + offsetof(ucontext_t, uc_mcontext.gregs) / kWord == kRegisters);
using SavedFrame = std::array<uint64_t, kLast + 1>;

// TextRanges: asks for an address which of the ranges has it.
class TextRanges {
 public:
  explicit TextRanges(const std::vector<AddressRange>& ranges) {
    for (size_t i = 0; i < ranges.size(); i++) by_end_[ranges[i].end] = {ranges[i], i};
  }
  std::optional<size_t> of(uint64_t address) const {
    const auto found = by_end_.upper_bound(address);
    if (found == by_end_.end() || !found->second.first.contains(address)) return std::nullopt;
    return found->second.second;
  }

 private:
  std::map<uint64_t, std::pair<AddressRange, size_t>> by_end_;
};

template <typename T>
std::span<uint8_t> bytes_of(T& value) {
  return {reinterpret_cast<uint8_t*>(&value), sizeof value};
}

// The words of a frame that can lead back: all but the stack pointer, flags and segments. The
// caller looks at rcx (Search::see_rcx).
template <typename See>
void see_words(const SavedFrame& frame, const See& see) {
  see(frame[kGateReturn]);
  see(frame[kRestorer]);
  for (int i = REG_R8; i <= REG_RIP; i++) {
    if (i != REG_RSP && i != REG_RCX) see(frame[kRegisters + static_cast<size_t>(i)]);
  }
}

uint64_t rcx_of(const SavedFrame& frame) { return frame[kRegisters + size_t{REG_RCX}]; }

// Calls each(address of the segments) for what may be a saved context in these words.
template <typename Each>
void each_context(std::span<const uint64_t> words, uint64_t address, const Each& each) {
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == kSegments) each(address + i * kWord);
  }
}

// The frame that ends at `segments`; what cannot be read of its begin is 0.
template <typename Read>
std::optional<SavedFrame> frame_at(uint64_t segments, const Read& read) {
  SavedFrame frame = {};
  const uint64_t begin = segments - kLast * kWord;
  constexpr uint64_t kCopied = kRegisters * kWord;
  if (!read(begin, bytes_of(frame)) && !read(begin + kCopied, bytes_of(frame).subspan(kCopied)))
    return std::nullopt;
  return frame[kLast] == kSegments ? std::optional(frame) : std::nullopt;
}

// Effort of a look at all memory.
class Clock {
 public:
  bool is_over() const { return now_ns() - begin_ > kMostNs; }

 private:
  static constexpr uint64_t kMostNs = 200'000'000;
  uint64_t begin_ = now_ns();
};

// Pages of a mapping that are there, in memory or swapped out: to read others would make them.
class PresentPages {
 public:
  explicit PresentPages(pid_t pid)
      : fd_(open(("/proc/" + std::to_string(living_thread(pid)) + "/pagemap").c_str(),
                 O_RDONLY | O_CLOEXEC)) {}
  PresentPages(const PresentPages&) = delete;
  ~PresentPages() {
    if (fd_ >= 0) close(fd_);
  }
  // Calls each(range), of at most a piece, until it returns false. False then, and where the kernel
  // does not tell.
  template <typename Each>
  bool each(const AddressRange& range, const Each& each) {
    for (uint64_t at = range.begin; at < range.end;) {
      const uint64_t pages = std::min((range.end - at) / kPage, uint64_t{kPiece} / kWord);
      entries_.resize(pages);
      const auto bytes = static_cast<ssize_t>(pages * kWord);
      if (pread(fd_, entries_.data(), pages * kWord, static_cast<off_t>(at / kPage * kWord)) !=
          bytes)
        return false;
      if (!each_run(at, each)) return false;
      at += pages * kPage;
    }
    return true;
  }

 private:
  template <typename Each>
  bool each_run(uint64_t address, const Each& each) const {
    constexpr uint64_t kThere = uint64_t{3} << 62;
    for (size_t i = 0; i < entries_.size();) {
      size_t end = i;
      while (end < entries_.size() && (entries_[end] & kThere) != 0 && end - i < kPiece / kPage)
        end++;
      if (end > i && !each(AddressRange{address + i * kPage, address + end * kPage})) return false;
      i = std::max(end, i + 1);
    }
    // Where nothing is there, time passes all the same.
    return each(AddressRange{address, address});
  }
  int fd_;
  std::vector<uint64_t> entries_;
};

// The C library's own handlers (SIGCANCEL, SIGSETXID) exchange nothing.
bool catches_signals(pid_t pid) {
  constexpr uint64_t kOfLibrary = uint64_t{3} << 31;
  return (caught_signals(pid) & ~kOfLibrary) != 0;
}

}  // namespace

SavedContexts find_saved_contexts(pid_t pid, const std::vector<Mapping>& maps,
                                  const std::vector<AddressRange>& code) {
  SavedContexts found;
  if (code.empty() || !catches_signals(pid)) return found;
  const TextRanges ranges(code);
  const RunningMemory memory(pid);
  PresentPages present(pid);
  const Clock clock;
  const auto read = [&](uint64_t at, std::span<uint8_t> to) {
    return memory.read(at, to.data(), to.size());
  };
  const auto keep = [&](uint64_t segments) {
    const std::optional<SavedFrame> frame = frame_at(segments, read);
    bool leads = frame && ranges.of(rcx_of(*frame));
    if (frame) see_words(*frame, [&](uint64_t word) { leads = leads || ranges.of(word); });
    if (leads) found.at.push_back(segments);
  };
  std::vector<uint64_t> words(kPiece / kWord);
  const auto look = [&](const AddressRange& pages) {
    const size_t count = (pages.end - pages.begin) / kWord;
    const bool readable = count > 0 && memory.read(pages.begin, words.data(), count * kWord);
    if (readable) each_context(std::span(words).first(count), pages.begin, keep);
    return !clock.is_over();
  };
  for (const Mapping& m : maps) {
    if (!m.write || m.shared || !m.read) continue;
    if (!present.each({m.begin, m.end}, look)) {
      found.are_all = false;
      break;
    }
  }
  std::sort(found.at.begin(), found.at.end());
  return found;
}

namespace {

// Search: of all threads.
class Search {
 public:
  Search(const Stopped& stopped, const std::vector<Mapping>& maps,
         const std::vector<AddressRange>& code)
      : stopped_(stopped), maps_(maps), ranges_(code) {
    ways_.used.resize(code.size());
  }

  Status look_at(pid_t tid) {
    DJ_TRY(const user_regs_struct regs, stopped_.registers(tid));
    for (const uint64_t word :
         {regs.rip, regs.rax, regs.rbx, regs.rdx, regs.rsi, regs.rdi, regs.rbp, regs.r8, regs.r9,
          regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15})
      see(word);
    see_rcx(regs.rcx);
    const bool in_call = static_cast<int64_t>(regs.orig_rax) >= 0;
    ways_.runs = ways_.runs || (!in_call && ranges_.of(regs.rip));
    see_pushed(regs.rsp);
    DJ_TRY_DO(leave_sequence(tid, regs));
    look_at_stacks(regs.rsp);
    note_unused(regs);
    return ok_status();
  }
  // Behind all threads.
  void look_at_saved(uint64_t segments) {
    const bool is_over = std::ranges::any_of(
        unused_, [&](const AddressRange& range) { return range.contains(segments); });
    if (!is_over) look_at_context(segments);
  }
  // Gives the stack pointer that was saved; 0: it is no context.
  uint64_t look_at_context(uint64_t segments) {
    const auto read = [&](uint64_t at, std::span<uint8_t> to) {
      return stopped_.read(at, to).ok();
    };
    const std::optional<SavedFrame> frame = frame_at(segments, read);
    if (!frame) return 0;
    see_words(*frame, [this](uint64_t word) { see(word); });
    see_rcx(rcx_of(*frame));
    const uint64_t rsp = (*frame)[kRegisters + size_t{REG_RSP}];
    see_pushed(rsp);
    return rsp;
  }
  const WaysBack& ways() const { return ways_; }

 private:
  void see(uint64_t word) {
    if (const std::optional<size_t> i = ranges_.of(word)) ways_.used[*i] = true;
  }
  // The `syscall` instruction leaves the address behind it in rcx (Intel SDM, volume 2). No thread
  // goes to that address, and a program that never sets rcx again keeps it for good.
  void see_rcx(uint64_t rcx) {
    constexpr std::array<uint8_t, 2> kSyscall = {0x0f, 0x05};
    std::array<uint8_t, 2> before = {};
    const bool is_left =
        ranges_.of(rcx) && stopped_.read(rcx - 2, before).ok() && before == kSyscall;
    if (!is_left) see(rcx);
  }
  // A retpoline of the program jumps by a return, to the address on top of the stack.
  void see_pushed(uint64_t stack_pointer) {
    uint64_t word = 0;
    if (stopped_.read(stack_pointer, bytes_of(word)).ok()) see(word);
  }
  const Mapping* mapping_of(uint64_t address) const {
    const auto m = std::ranges::upper_bound(maps_, address, {}, &Mapping::end);
    return m != maps_.end() && m->begin <= address ? &*m : nullptr;
  }
  // A thread may be in several handlers, each on its own stack.
  void look_at_stacks(uint64_t stack_pointer) {
    std::map<uint64_t, uint64_t> seen_from;  // by the mapping's begin
    std::vector<uint64_t> todo = {stack_pointer};
    while (!todo.empty()) {
      const uint64_t from = todo.back() & ~(kWord - 1);
      todo.pop_back();
      const Mapping* const m = mapping_of(from);
      if (m == nullptr || !m->write || !m->read) continue;
      const auto [seen, first] = seen_from.try_emplace(m->begin, m->end);
      const uint64_t to = std::min(seen->second, from + kStackLimit);
      if (from >= to) continue;
      seen->second = from;
      if (const auto left = stack_left_for_own(stopped_, from)) todo.push_back(*left);
      look_at_stack(from, to, todo);
    }
  }
  void look_at_stack(uint64_t begin, uint64_t end, std::vector<uint64_t>& todo) {
    words_.resize(kPiece / kWord);
    for (uint64_t at = begin; at < end; at += kPiece) {
      const size_t count = std::min(kPiece, end - at) / kWord;
      const std::span<uint64_t> words = std::span(words_).first(count);
      if (!stopped_.read(at, {reinterpret_cast<uint8_t*>(words.data()), words.size_bytes()}).ok())
        return;
      each_context(words, at, [&](uint64_t segments) {
        if (const uint64_t rsp = look_at_context(segments)) todo.push_back(rsp);
      });
    }
  }
  // The kernel asks what a thread has left in rseq_cs when it goes on, and asks that memory.
  Status leave_sequence(pid_t tid, const user_regs_struct& regs) {
    constexpr uint64_t kDescriptor = 8;  // struct rseq: rseq_cs
    DJ_TRY(const std::optional<int64_t> offset, rseq_offset(tid));
    if (!offset) return ok_status();
    const uint64_t at = regs.fs_base + static_cast<uint64_t>(*offset) + kDescriptor;
    uint64_t descriptor = 0;
    if (!stopped_.read(at, bytes_of(descriptor)).ok() || !ranges_.of(descriptor) ||
        ranges_.of(regs.rip))
      return ok_status();
    descriptor = 0;
    return stopped_.write(at, bytes_of(descriptor));
  }
  // Empty: the thread has none.
  Result<std::optional<int64_t>> rseq_offset(pid_t tid) {
    DJ_TRY(const std::optional<RseqArea> area, stopped_.rseq(tid));
    if (area) return std::optional<int64_t>(area->offset);
    if (!asked_library_) {  // a kernel that does not tell (before 5.13)
      asked_library_ = true;
      DJ_TRY(const std::vector<MappedModule> modules, mapped_modules(stopped_.pid()));
      library_offset_ = glibc_rseq_offset(stopped_.pid(), modules);
    }
    return library_offset_;
  }
  // What lies below the stack pointer on a thread's own stack is over: the first thread's, or one
  // with a guard below and the thread's control block above. Frames of signals that came at a hit
  // stay there for long.
  void note_unused(const user_regs_struct& regs) {
    const Mapping* const m = mapping_of(regs.rsp);
    if (m == nullptr) return;
    const bool guarded = m != maps_.data() && m[-1].end == m->begin && !m[-1].read && !m[-1].write;
    const bool own = guarded && regs.rsp < regs.fs_base && regs.fs_base < m->end;
    if (own || m->path == "[stack]") unused_.push_back({m->begin, regs.rsp});
  }
  const Stopped& stopped_;
  const std::vector<Mapping>& maps_;
  TextRanges ranges_;
  WaysBack ways_;
  std::vector<uint64_t> words_;
  std::vector<AddressRange> unused_;
  bool asked_library_ = false;
  std::optional<int64_t> library_offset_;
};

}  // namespace

Result<WaysBack> find_ways_back(const Stopped& stopped, const std::vector<AddressRange>& code,
                                const SavedContexts& saved) {
  DJ_TRY(const std::vector<Mapping> maps, read_maps(stopped.pid()));
  Search search(stopped, maps, code);
  for (const pid_t tid : stopped.threads()) DJ_TRY_DO(search.look_at(tid));
  for (const uint64_t segments : saved.at) search.look_at_saved(segments);
  return search.ways();
}

}  // namespace dj
