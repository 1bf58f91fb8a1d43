// SPDX-License-Identifier: Apache-2.0
// The fuzzer's windows: which instructions are run, and which cannot be compared.
#include <algorithm>

#include "arch/x86_64/relocate.h"
#include "arch/x86_64/test_fuzz.h"

namespace dj::arch::test {
namespace {

bool begins_with_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.rfind(word, 0) == 0; });
}

// Not the same twice, or the end of the test itself.
bool cannot_be_compared(const Insn& insn, const std::string& text) {
  if (insn.kind == Kind::Odd || insn.kind == Kind::Syscall) return true;
  if (insn.is(0xcc) || insn.is(0xf1)) return true;  // the end of a window is an int3 itself
  if (begins_with_any(
          text, {"popf",     "rd",      "xsave", "xrstor", "cpuid",  "wr",     "umwait",   "tpause",
                 "umonitor", "int",     "sys",   "xgetbv", "clui",   "stui",   "senduipi", "fldenv",
                 "fstenv",   "fnstenv", "fsave", "fnsave", "frstor", "fxsave", "fxrstor",  "lgs",
                 "lfs",      "lss",     "sgdt",  "sidt",   "str",    "sldt"}))
    return true;
  if (text.find("gs") != std::string::npos || text.find(" ds") != std::string::npos ||
      text.find(" es") != std::string::npos || text.find(" ss") != std::string::npos ||
      text.find(" dr") != std::string::npos || text.find(" cr") != std::string::npos)
    return true;
  // A thread's canary may be read; other thread-local data is the test's own.
  const size_t fs = text.find("fs");
  return fs != std::string::npos &&
         (text.find("fs:[0x0000000000000028]") == std::string::npos || text.find(',') > fs);
}

// The stack pointer goes down without a write, or somewhere else: what was below is read then.
bool lowers_sp(const std::string& text) {
  const size_t space = text.find(' ');
  if (space == std::string::npos) return text.rfind("leave", 0) == 0;
  const std::string first = text.substr(space + 1, text.find(',') - space - 1);
  if (begins_with_any(text, {"push", "test", "cmp"})) return false;
  if (first != "rsp" && first != "esp" && first != "sp" && first != "spl")
    return begins_with_any(text, {"enter", "xchg", "xadd", "cmpxchg"});
  return text.rfind("add rsp, 0x0000", 0) != 0;
}

const char* const kFiles[] = {"/lib/x86_64-linux-gnu/libc.so.6",
                              "/lib/x86_64-linux-gnu/libm.so.6",
                              "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                              "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                              "/usr/lib/x86_64-linux-gnu/libgcrypt.so.20",
                              "/usr/bin/python3.11",
                              "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
                              "/usr/lib/x86_64-linux-gnu/libzstd.so.1",
                              "/usr/bin/bash"};

}  // namespace

std::vector<Source> read_sources() {
  std::vector<Source> sources;
  for (const char* path : kFiles) {
    if (access(path, R_OK) != 0) continue;
    sources.push_back({read_elf(path)});
    std::erase_if(sources.back().victim.text.functions,
                  [](const FunctionRange& f) { return f.end - f.begin < 16; });
    if (sources.back().victim.text.functions.empty()) sources.pop_back();
  }
  return sources;
}

bool Fuzzer::choose(Random& random, Window& window) const {
  const ModuleText& text = sources_[random() % sources_.size()].victim.text;
  const FunctionRange& f = text.functions[random() % text.functions.size()];
  for (const TextRange& range : text.text) {
    if (f.begin < range.address || f.end > range.address + range.bytes.size()) continue;
    const auto code = range.bytes.subspan(f.begin - range.address, f.end - f.begin);
    const size_t wanted = random() % std::min<size_t>(code.size(), 1024);
    size_t offset = 0;
    Insn insn;
    while (offset < wanted && decode(code.subspan(offset), 0, insn)) offset += insn.length;
    return offset < code.size() && take(code.subspan(offset), random, window);
  }
  return false;
}

// The instructions at the start of code, some of their bytes changed.
bool Fuzzer::take(std::span<const uint8_t> code, Random& random, Window& window) const {
  uint8_t bytes[48] = {};
  std::copy_n(code.begin(), std::min<size_t>(code.size(), sizeof bytes), bytes);
  if (random.one_in(6)) bytes[random() % 8] ^= uint8_t(1 << random() % 8);
  const uint64_t wanted = random.one_in(4) ? 1 : 5 + random() % 12;
  bool last = false;
  while (window.bytes.size() < wanted && !last) {
    const size_t at = window.bytes.size();
    Insn insn;
    if (!decode(std::span(bytes).subspan(at), kFuzzHere + at, insn)) break;
    if (insn.rip_relative && !random.one_in(4)) {  // most lead to data
      const int32_t disp = int32_t(kFuzzData + random() % kFuzzDataBytes - insn.end());
      std::memcpy(bytes + at + insn.disp_offset, &disp, 4);
      CHECK(decode(std::span(bytes).subspan(at), kFuzzHere + at, insn));
    }
    const std::string text = disassemble(std::span(bytes).subspan(at), insn.address);
    if (cannot_be_compared(insn, text) || unrelocatable(insn)) break;
    last = insn.leaves() || insn.calls() || (lowers_sp(text) && !random.one_in(8));
    if (lowers_sp(text) && !last) break;
    window.moves_sp |= lowers_sp(text);
    window.red_zone |= text.find("rsp-") != std::string::npos;
    window.relative |= insn.rip_relative || insn.branches();
    window.insns.push_back(insn);
    window.text += text + "; ";
    window.bytes.insert(window.bytes.end(), bytes + at, bytes + at + insn.length);
  }
  // Into itself: such windows are guarded or refused. Into a detour: bare, that is not there.
  const auto astray = [&](const Insn& insn) {
    if (!insn.branches()) return false;
    return insn.target - kFuzzHere < window.bytes.size() ||
           std::any_of(std::begin(kFuzzDetours), std::end(kFuzzDetours),
                       [&](uint64_t place) { return insn.target - place < 2 * kFuzzPage; });
  };
  return !window.insns.empty() && std::none_of(window.insns.begin(), window.insns.end(), astray);
}

}  // namespace dj::arch::test
