// SPDX-License-Identifier: Apache-2.0
// Finds _dl_debug_state and r_debug in the loader's file, and the places for the body: the function
// itself has 16 bytes; a body that looks at the state first stands in what is mapped behind the
// last byte of the loader's code.
#include "runtime/process/loader_stop.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "arch/x86_64/decode.h"
#include "compiler/base/found_name.h"
#include "compiler/base/page.h"
#include "compiler/base/target_file.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/seen_file.h"

namespace dj {
namespace {

constexpr size_t kOwnBytes = 16;     // an aligned function has at least as many
constexpr size_t kStateBytes = 9;    // of the instructions that look at the state
constexpr size_t kSignalBytes = 16;  // of a body that sends a signal

// LoaderSymbols: ELF addresses in a program loader.
struct LoaderSymbols {
  uint64_t function = 0;  // _dl_debug_state; 0: the loader has none
  uint64_t state = 0;     // r_debug.r_state; 0: the loader has none
  bool tells_begin = false;
  uint64_t spare = 0;  // bytes that are mapped with its code, and belong to nothing; 0: none
};

uint64_t spare_bytes(const ElfFile& file) {
  for (const Elf64_Phdr& segment : file.segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t end = segment.p_vaddr + segment.p_memsz;
    if (page_up(end) - end >= kStateBytes + kSignalBytes) return end;
  }
  return 0;
}

LoaderSymbols read_symbols(const TargetFile& file, const std::string& path) {
  LoaderSymbols symbols;
  const Result<ElfSymbol> function = find_symbol(file, path, "_dl_debug_state");
  if (function.ok()) symbols.function = function.value().address;
  const Result<ElfSymbol> debug = find_symbol(file, path, "_r_debug");
  if (!debug.ok()) return symbols;
  symbols.state = debug.value().address + offsetof(r_debug, r_state);
  symbols.tells_begin = find_symbol(file, path, "_rtld_global").ok();  // glibc
  const Result<ElfFile> headers = read_elf(file, path);
  if (headers.ok()) symbols.spare = spare_bytes(headers.value());
  return symbols;
}

// Kept: most programs have the same loader.
LoaderSymbols symbols_of(pid_t pid, const std::string& interpreter) {
  static std::mutex mutex;
  static std::map<FileVersion, LoaderSymbols> known;
  const int fd = reopen_regular(open_seen(pid, interpreter, O_PATH));
  if (fd < 0) return {};
  const TargetFile file(fd);
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(file.version());
  if (is_new) found->second = read_symbols(file, interpreter);
  return found->second;
}

std::vector<uint8_t> body_of(LoaderStop::Kind kind, int signal) {
  switch (kind) {
    case LoaderStop::Kind::Signal:
      return {0x31, 0xc0,
              0xb0, SYS_getpid,
              0x0f, 0x05,  // eax = getpid()
              0x97,        // xchg %eax,%edi
              0x6a, static_cast<uint8_t>(signal),
              0x5e,  // push $signal; pop %rsi
              0x6a, SYS_kill,
              0x58, 0x0f,
              0x05,   // kill(edi, esi)
              0xc3};  // ret
    case LoaderStop::Kind::Call:
      return {0xb8, SYS_getpid, 0, 0, 0,  // mov $getpid,%eax
              0x0f, 0x05,                 // syscall
              0xc3};                      // ret
    case LoaderStop::Kind::Trap:
      return {0xcc};
  }
  return {};
}

// `opcode` and the distance from the end of an instruction of `bytes` bytes at `from` to `to`.
std::vector<uint8_t> relative(std::vector<uint8_t> opcode, uint64_t from, size_t bytes,
                              uint64_t to) {
  const auto distance = static_cast<uint32_t>(to - from - bytes);
  for (int shift = 0; shift < 32; shift += 8)
    opcode.push_back(static_cast<uint8_t>(distance >> shift));
  return opcode;
}

// Sends the signal only where the list of objects is consistent.
std::vector<uint8_t> body_that_looks(uint64_t at, uint64_t state, int signal) {
  constexpr size_t kCompareBytes = 7;
  std::vector<uint8_t> code = relative({0x83, 0x3d}, at, kCompareBytes, state);
  code.insert(code.end(), {r_debug::RT_CONSISTENT,    // cmpl $RT_CONSISTENT,state(%rip)
                           0x75, kSignalBytes - 1});  // jne to the `ret`
  const std::vector<uint8_t> sends = body_of(LoaderStop::Kind::Signal, signal);
  code.insert(code.end(), sends.begin(), sends.end());
  return code;
}

// Whether the function is a `ret` with padding behind it up to its next multiple of 16.
bool owns_bytes(std::span<const uint8_t> code, uint64_t address) {
  bool returned = false;
  for (size_t at = 0; at < kOwnBytes;) {
    arch::Insn insn;
    if (!arch::decode(code.subspan(at), address + at, insn)) return false;
    const bool fits = returned ? insn.kind == arch::Kind::Nop || insn.is(0xcc)
                               : insn.kind == arch::Kind::Return || insn.kind == arch::Kind::Nop ||
                                     std::ranges::equal(code.subspan(at, 4), arch::kEndbr64);
    if (!fits) return false;
    returned = returned || insn.kind == arch::Kind::Return;
    at += insn.length;
  }
  return returned && address % kOwnBytes == 0;
}

// A signal that the kernel drops by default and the program does not block; 0: there is none.
int unblocked_signal(pid_t pid) {
  uint64_t mask = 0;
  if (ptrace(PTRACE_GETSIGMASK, pid, sizeof mask, &mask) != 0) return 0;
  for (const int signal : {SIGURG, SIGWINCH, SIGCHLD}) {
    if ((mask >> (signal - 1) & 1) == 0) return signal;
  }
  return 0;
}

// Address of the word in the program's dynamic section that points to r_debug, which the loader
// fills in before it maps objects. 0: the program has none.
uint64_t debug_word(const AuxiliaryVector& auxiliary, const RunningMemory& memory) {
  constexpr size_t kMostHeaders = 64, kMostEntries = 256;
  const uint64_t headers = auxiliary[AT_PHDR];
  std::vector<Elf64_Phdr> segments(std::min<size_t>(auxiliary[AT_PHNUM], kMostHeaders));
  if (!memory.read(headers, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return 0;
  const auto find = [&](uint32_t type) {
    return std::ranges::find(segments, type, &Elf64_Phdr::p_type);
  };
  const auto own = find(PT_PHDR), dynamic = find(PT_DYNAMIC);
  if (own == segments.end() || dynamic == segments.end()) return 0;
  const uint64_t at = headers - own->p_vaddr + dynamic->p_vaddr;
  std::vector<Elf64_Dyn> entries(
      std::min<size_t>(dynamic->p_memsz / sizeof(Elf64_Dyn), kMostEntries));
  if (!memory.read(at, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return 0;
  const auto found = std::ranges::find(entries, DT_DEBUG, &Elf64_Dyn::d_tag);
  if (found == entries.end() || found->d_un.d_val != 0) return 0;
  return at + static_cast<uint64_t>(found - entries.begin()) * sizeof(Elf64_Dyn) +
         offsetof(Elf64_Dyn, d_un);
}

// Reads what the pieces will overwrite.
Status add_piece(LoaderStop& stop, uint64_t address, std::vector<uint8_t> code,
                 const RunningMemory& memory) {
  std::vector<uint8_t> original(code.size());
  if (!memory.read(address, original.data(), original.size()))
    return os_error("cannot read the program loader");
  stop.pieces.push_back({address, std::move(original), std::move(code)});
  return ok_status();
}

}  // namespace

uint64_t LoaderStop::stop_address() const {
  return body + (kind == Kind::Trap ? 1 : pieces.back().patched.size() - 1);  // else its `ret`
}

bool LoaderStop::is_inside(uint64_t rip, uint64_t* bytes) const {
  *bytes = 0;
  if (rip == function || rip < body || rip > stop_address()) return false;
  const uint64_t at = rip - (stop_address() + 1 - kSignalBytes);
  if (kind == Kind::Signal && (at == 9 || at == 12)) *bytes = 8;
  return true;
}

Result<bool> LoaderStop::is_complete(const RunningMemory& memory, bool* begun) const {
  int state = r_debug::RT_CONSISTENT;
  uint64_t debug = 0;
  const bool are_read = (state_address == 0 || memory.read(state_address, &state, sizeof state)) &&
                        (begin_word == 0 || memory.read(begin_word, &debug, sizeof debug));
  if (!are_read) return os_error("cannot read the loader's state");
  *begun = *begun || state != r_debug::RT_CONSISTENT || debug != 0;
  return state == r_debug::RT_CONSISTENT && *begun;
}

Result<LoaderStop> find_loader_stop(pid_t pid, const std::string& interpreter,
                                    const RunningMemory& memory) {
  const LoaderSymbols symbols = symbols_of(pid, interpreter);
  const AuxiliaryVector auxiliary(pid);
  const uint64_t base = auxiliary[AT_BASE];
  if (symbols.function == 0 || base == 0) {
    return Error{"the program loader " + interpreter +
                     " has no _dl_debug_state; start the program first and "
                     "attach to it with -p",
                 Fail::Unsupported};
  }
  LoaderStop stop;
  stop.function = stop.body = base + symbols.function;
  if (symbols.state != 0) stop.state_address = base + symbols.state;
  stop.tells_begin = symbols.tells_begin;
  std::array<uint8_t, kOwnBytes + 16> code = {};  // an instruction may reach beyond
  if (!memory.read(stop.function, code.data(), code.size())) {
    return os_error("cannot read the program loader");
  }
  if (owns_bytes(code, stop.function)) {
    const int signal = is_confined(pid) ? 0 : unblocked_signal(pid);
    stop.kind = signal != 0 ? LoaderStop::Kind::Signal : LoaderStop::Kind::Call;
    stop.signal = signal;
  }
  if (stop.kind == LoaderStop::Kind::Signal && symbols.tells_begin && symbols.spare != 0)
    stop.begin_word = debug_word(auxiliary, memory);
  if (stop.begin_word == 0) {
    DJ_TRY_DO(add_piece(stop, stop.function, body_of(stop.kind, stop.signal), memory));
    return stop;
  }
  constexpr size_t kJumpBytes = 5;
  stop.body = base + symbols.spare;
  DJ_TRY_DO(add_piece(stop, stop.function, relative({0xe9}, stop.function, kJumpBytes, stop.body),
                      memory));
  DJ_TRY_DO(add_piece(stop, stop.body, body_that_looks(stop.body, stop.state_address, stop.signal),
                      memory));
  return stop;
}

Status patch_loader(const LoaderStop& stop, const RunningMemory& memory) {
  for (auto piece = stop.pieces.rbegin(); piece != stop.pieces.rend(); ++piece) {
    if (!memory.write(piece->address, piece->patched.data(), piece->patched.size()))
      return os_error("cannot write to the program");
  }
  return ok_status();
}

Status restore_loader(const LoaderStop& stop, const RunningMemory& memory) {
  for (const LoaderStop::Piece& piece : stop.pieces) {
    if (!memory.write(piece.address, piece.original.data(), piece.original.size()))
      return os_error("cannot write to the program");
  }
  return ok_status();
}

}  // namespace dj
