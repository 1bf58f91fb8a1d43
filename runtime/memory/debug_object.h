// SPDX-License-Identifier: Apache-2.0
// DebugObject makes an ELF file that tells debuggers what they must know of djtap's code in the
// target: where it is, and how to unwind out of it (debug_list.h shows it to them). A detour's
// caller is the program's function, at the instruction that the thread would be at without djtap.
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
  // Adds what `own` says of the code there. `own` lies in djtap's view of the code area. The target
  // may run.
  void add(CodeArea& area, const abi::OwnArea& own);
  // Adds that the jump at `stub` leads to a detour for what is at `original`.
  void add_stub(uint64_t stub, uint64_t original);
  // Returns the file's bytes. Call it once, when all has been added.
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
