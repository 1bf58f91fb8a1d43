// SPDX-License-Identifier: Apache-2.0
// open_frame(), close_frame(): write the frame that a detour lays around its handlers; detour.h
// shows it.
#pragma once
#include "arch/x86_64/detour.h"
#include "arch/x86_64/encode.h"

namespace dj::arch {

constexpr int32_t kRedZone = 128;

// Pushes the flags onto the stack through rax: lahf gives SF ZF AF PF CF, seto gives OF.
inline void save_flags(Code& code) {
  code.push(kRax);
  code.put({0x9f});              // lahf
  code.put({0x0f, 0x90, 0xc0});  // seto %al
  code.push(kRax);
}

// Writes the frame's beginning, and close_frame() its end.
inline void open_frame(Code& code, Form form) {
  if (form == Form::Middle) code.move_sp(-kRedZone);
  code.push(kR11);
  if (form == Form::Middle) save_flags(code);
}

// Loads the flags from rax, in the form that save_flags() leaves there.
inline void load_flags(Code& code) {
  code.put({0x04, 0x7f});  // add $127,%al: overflows exactly when it was 1
  code.put({0x9e});        // sahf
}

// Restores the flags and rax that save_flags() has pushed.
inline void restore_flags(Code& code) {
  code.pop(kRax);
  load_flags(code);
  code.pop(kRax);
}

inline void close_frame(Code& code, Form form) {
  if (form == Form::Middle) restore_flags(code);
  code.pop(kR11);
  if (form == Form::Middle) code.move_sp(kRedZone);
}

// Writes one handler call inside an open frame (detour.cpp). has_flags: the flags are still the
// program's, though a frame of Form::Boundary saves none.
Status put_handler_call(Code& code, Form form, const HandlerCall& call, bool has_flags);

}  // namespace dj::arch
