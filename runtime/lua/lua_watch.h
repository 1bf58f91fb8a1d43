// SPDX-License-Identifier: Apache-2.0
// LuaWatch limits the processor time that Lua takes. Lua's functions in C run no Lua instructions
// that a hook could count: a match of string.find and its relatives goes back and forth there,
// perhaps forever, and a copy of megabytes is one call. There is one watch at a time, of the thread
// that runs Lua.
#pragma once
#include <setjmp.h>

struct lua_State;

namespace dj {

// While a LuaWatch exists, a timer of djtap's processor time (SIGPROF) checks whether the same
// match still runs, and how long everything has taken.
class LuaWatch {
 public:
  static constexpr int kMatchSeconds = 5;  // of processor time, for one match
  static constexpr int kSeconds = 10;      // for all that runs while this object exists
  static constexpr const char* kToldToEnd = "ended by a signal (Ctrl-C)";

  // A signal handler calls `give_up` with `state`, again and again, once the time is over or a
  // blocked signal of ending_signals() is pending.
  LuaWatch(lua_State* state, void (*give_up)(lua_State*));
  ~LuaWatch();
  LuaWatch(const LuaWatch&) = delete;
  LuaWatch& operator=(const LuaWatch&) = delete;

  // Notes that Lua's virtual machine goes on, so that no endless match runs.
  static void note_progress();
  // Whether such a signal is pending, so that all Lua code must end.
  static bool is_told_to_end();
};

// Calls the function in its first upvalue, which matches a pattern, with all arguments. It leaves a
// match that takes too long by a jump, out of C code that owns nothing, and raises a Lua error;
// before that it calls `give_up` with `state`.
int watched_match(lua_State* state, void (*give_up)(lua_State*));

}  // namespace dj
