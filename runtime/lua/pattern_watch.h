// PatternWatch: ends a match of string.find and its kin that takes forever: Lua's matcher goes back
// and forth in C, where no hook counts its steps. There is one at a time, of the thread that runs
// Lua.
#pragma once
#include <setjmp.h>

struct lua_State;

namespace dj {

// While one exists a timer of the program's processor time (SIGVTALRM) looks whether a match is
// still the same one.
class PatternWatch {
 public:
  static constexpr int kSeconds = 5;  // of processor time, for one match

  PatternWatch();
  ~PatternWatch();
  PatternWatch(const PatternWatch&) = delete;
  PatternWatch& operator=(const PatternWatch&) = delete;

  // Lua's virtual machine goes on: what runs is no endless match.
  static void note_progress();
};

// Calls the function in its first upvalue, which matches a pattern, with all arguments. A match
// that takes too long is left by a jump, out of C code that owns nothing, and is an error of Lua.
// `give_up` is called before, with `state`.
int watched_match(lua_State* state, void (*give_up)(lua_State*));

}  // namespace dj
