// SPDX-License-Identifier: Apache-2.0
// DebugObject: an ELF file that says of djtap's code in the target what debuggers must know of it:
// where it is, and how to unwind out of it (debug_list.h shows it to them). A detour's caller is
// the program's function, at the instruction that the thread would be at without djtap.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/detours/code_area.h"
#include "runtime/shared/detour_note.h"
#include "runtime/shared/own_code.h"

namespace dj {

class DebugObject {
 public:
  DebugObject();
  // What `own`, which lies in djtap's view of the code area, says of code there. The target may
  // run.
  void add(CodeArea& area, const abi::OwnArea& own);
  // The jump at `stub` leads to a detour for what is at `original`.
  void add_stub(uint64_t stub, uint64_t original);
  // The file's bytes. Once, when all has been added.
  std::vector<uint8_t> file();

 private:
  struct Symbol {
    const char* name;
    uint64_t begin, end;
    uint16_t section;
  };
  void add_compiled(uint64_t to_target, const abi::FrameHeader& frames);
  void add_detours(CodeArea& area, const abi::OwnArea& own);
  std::vector<abi::CodeRange> areas_;
  std::vector<Symbol> symbols_;
  std::vector<uint8_t> frames_;  // of .debug_frame
};

}  // namespace dj
