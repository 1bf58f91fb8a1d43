// SPDX-License-Identifier: Apache-2.0
// LuaWatch: the processor time that Lua takes. Its functions in C work without instructions that a
// hook could count: a match of string.find and its session processes goes back and forth there,
// perhaps forever, and copying megabytes is one call. There is one watch at a time, of the thread
// that runs Lua.
#pragma once
#include <setjmp.h>

struct lua_State;

namespace dj {

// While one exists, a timer of the program's processor time (SIGPROF) looks whether a match is
// still the same one, and how long all has taken.
class LuaWatch {
 public:
  static constexpr int kMatchSeconds = 5;  // of processor time, for one match
  static constexpr int kSeconds = 10;      // for all that runs while this object exists
  static constexpr const char* kToldToEnd = "ended by a signal (Ctrl-C)";

  // `give_up` is called with `state`, by a signal's handler, again and again once the time is over,
  // or a blocked one of ending_signals() waits.
  LuaWatch(lua_State* state, void (*give_up)(lua_State*));
  ~LuaWatch();
  LuaWatch(const LuaWatch&) = delete;
  LuaWatch& operator=(const LuaWatch&) = delete;

  // Lua's virtual machine goes on: what runs is no endless match.
  static void note_progress();
  // Such a signal waits, and all that runs is to end.
  static bool is_told_to_end();
};

// Calls the function in its first upvalue, which matches a pattern, with all arguments. A match
// that takes too long is left by a jump, out of C code that owns nothing, and is an error of Lua.
// `give_up` is called before, with `state`.
int watched_match(lua_State* state, void (*give_up)(lua_State*));

}  // namespace dj
