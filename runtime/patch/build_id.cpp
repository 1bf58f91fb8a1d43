// SPDX-License-Identifier: Apache-2.0
// Looks through the notes of an ELF file.
#include "runtime/patch/build_id.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

#include "compiler/base/target_file.h"
#include "runtime/process/elf_file.h"

namespace dj {
namespace {

constexpr size_t kNoteBytes = 1 << 16;  // of notes that are searched

}  // namespace

std::string build_id(const std::string& path) {
  Result<ElfFile> elf = read_elf(path);
  Result<TargetFilePtr> file = open_target_file(path);
  if (!elf.ok() || !file.ok()) {
    return "";
  }
  for (const Elf64_Phdr& s : elf.value().segments) {
    if (s.p_type != PT_NOTE || s.p_filesz > kNoteBytes) {
      continue;
    }
    std::string notes(s.p_filesz, '\0');
    if (!file.value()->read(notes.data(), notes.size(), s.p_offset)) {
      continue;
    }
    for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
      Elf64_Nhdr note;
      memcpy(&note, &notes[at], sizeof note);
      size_t id = at + sizeof note + (size_t{note.n_namesz} + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= 20 &&
          id + note.n_descsz <= notes.size()) {
        std::string text;
        for (size_t i = 0; i < note.n_descsz; i++) {
          text += fmt::format("{:02x}", static_cast<uint8_t>(notes[id + i]));
        }
        return text;
      }
      at = id + (size_t{note.n_descsz} + 3) / 4 * 4;
    }
  }
  return "";
}

}  // namespace dj
