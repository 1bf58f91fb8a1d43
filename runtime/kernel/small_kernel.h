// SPDX-License-Identifier: Apache-2.0
// SmallKernel is what a kernel of some bytes shows, in files. (Tests only.)
#pragma once
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "runtime/kernel/live_kernel.h"

namespace dj {

constexpr uint64_t kText = 0xffffffff9a200000, kConstants = 0xffffffff9a300000;
constexpr uint64_t kModule = 0xffffffffc0001000;

// SmallKernel: its text and constants, and the module fs_x, whose sections a test names.
class SmallKernel {
 public:
  SmallKernel() : text(0x1000, 0xcc), constants(0x2000), module(0x3000) {
    char name[] = "/tmp/djtap-kernel-XXXXXX";
    folder = ::mkdtemp(name);
    for (size_t i = 0; i < constants.size(); i++) constants[i] = uint8_t(i * 7);
    code(0x10, {0x0f, 0x1f, 0x44, 0, 0, 0xc3});
    code(0x40, {0x31, 0xc0, 0xc3});
    code(0x60, {0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0x90, 0xc3});
    symbols =
        "0000000000000000 A fixed_percpu_data\n"
        "ffffffff9a200000 T _stext\n"
        "ffffffff9a200000 T _text\n"
        "ffffffff9a200000 T __pfx_one\n"
        "ffffffff9a200010 T one\n"
        "ffffffff9a200010 W also_one\n"
        "ffffffff9a200030 t __pfx_two\n"
        "ffffffff9a200040 t two\n"
        "ffffffff9a200060 T __noinstr_text_start\n"
        "ffffffff9a200060 t three.cold\n"
        "ffffffff9a200080 T __noinstr_text_end\n"
        "ffffffff9a200800 T _etext\n"
        "ffffffff9a200900 t of_init_text\n"
        "ffffffff9a300000 D __start_rodata\n"
        "ffffffff9a300100 D __start___ex_table\n"
        "ffffffff9a300118 D __stop___ex_table\n"
        "ffffffff9a300200 D __start_BTF\n"
        "ffffffff9a300f00 D __stop_BTF\n"
        "ffffffff9a301000 D __end_rodata\n"
        "ffffffff9a301800 D __start___bug_table\n"
        "ffffffff9a30180c D __stop___bug_table\n"
        "ffffffffc0001000 t of_a_module\t[ext4]\n"
        "ffffffff9a200048 t of_a_program\t[bpf]\n";
    // An owner of 4 bytes, an id of 3, type NT_GNU_BUILD_ID.
    notes = {4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0x12, 0x34, 0x56, 0};
  }
  ~SmallKernel() { std::filesystem::remove_all(folder); }

  // Puts bytes into the text.
  void code(size_t at, std::initializer_list<uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), text.begin() + ptrdiff_t(at));
  }
  std::string path(const std::string& name) const { return folder + "/" + name; }
  // Puts the files there.
  KernelFiles files() const {
    std::ofstream(path("kallsyms")) << symbols;
    std::ofstream(path("notes")).write(notes.data(), std::streamsize(notes.size()));
    Elf64_Ehdr header = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_CORE;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 4;
    Elf64_Phdr segments[4] = {};
    const uint64_t offset = sizeof header + sizeof segments;
    segments[0].p_type = PT_NOTE;
    segments[1] = {PT_LOAD, 7, offset, kText, 0, text.size(), text.size(), 1};
    segments[2] = {PT_LOAD,          7, offset + text.size(), kConstants, 0, constants.size(),
                   constants.size(), 1};
    segments[3] = {PT_LOAD,       7, offset + text.size() + constants.size(),
                   kModule,       0, module.size(),
                   module.size(), 1};
    std::ofstream core(path("kcore"), std::ios::binary);
    const auto write = [&](const void* bytes, size_t count) {
      core.write(static_cast<const char*>(bytes), std::streamsize(count));
    };
    write(&header, sizeof header);
    write(segments, sizeof segments);
    write(text.data(), text.size());
    write(constants.data(), constants.size());
    write(module.data(), module.size());
    std::ofstream(path("loaded")) << loaded;
    for (const auto& [name, address] : sections) {
      std::filesystem::create_directories(path("modules/fs_x/sections"));
      std::ofstream(path("modules/fs_x/sections/" + name)) << address << "\n";
    }
    std::filesystem::create_directories(path("modules/fs_x/notes"));
    std::ofstream(path("modules/fs_x/notes/.note.gnu.build-id"))
        .write(notes.data(), std::streamsize(notes.size()));
    return {path("kallsyms"), path("kcore"), path("notes"), path("loaded"), path("modules")};
  }
  // The list without the lines that have the word.
  void forget(const std::string& word) {
    std::string kept;
    for (size_t from = 0, end = 0; from < symbols.size(); from = end + 1) {
      end = symbols.find('\n', from);
      const std::string line = symbols.substr(from, end + 1 - from);
      if (line.find(word) == std::string::npos) kept += line;
    }
    symbols = kept;
  }

  std::vector<uint8_t> text, constants, module;
  std::string symbols, folder;
  std::string loaded =
      "fs_x 12288 1 other, Live 0xffffffffc0001000\n"
      "young 4096 0 - Loading 0xffffffffc0100000\n";
  std::map<std::string, std::string> sections;  // of fs_x: addresses
  std::vector<char> notes;
};

inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t n; pipe && (n = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  if (pipe) ::pclose(pipe);
  return text;
}

}  // namespace dj
