// SPDX-License-Identifier: Apache-2.0
// The signal's handler jumps to the watched_match() that has been the innermost one for long
// enough. It may: the matcher has no locks, no objects with destructors and nothing allocated, and
// Lua itself puts its own stack right when an error is raised.
#include "runtime/lua/lua_watch.h"

#include <signal.h>
#include <sys/time.h>

#include <lua.hpp>

#include "runtime/output/ending_signals.h"

namespace dj {
namespace {

constexpr int kTickMs = 250;
constexpr int kMatchTicks = LuaWatch::kMatchSeconds * 1000 / kTickMs;
constexpr int kAllTicks = LuaWatch::kSeconds * 1000 / kTickMs;

// What the handler sees.
volatile sig_atomic_t ticks = 0;  // since the innermost match began, or the virtual machine went on
volatile sig_atomic_t all_ticks = 0;
volatile sig_atomic_t told_to_end = 0;  // one of ending_signals() waits
lua_State* watched = nullptr;
void (*stop)(lua_State*) = nullptr;
sigjmp_buf* volatile innermost = nullptr;

// Whoever holds such signals (HeldSignals) looks at them when Lua has ended. Where nobody does,
// they end djtap.
bool ending_signal_waits() {
  sigset_t waiting;
  sigemptyset(&waiting);
  sigpending(&waiting);
  const sigset_t ending = ending_signals();
  sigset_t both;
  sigandset(&both, &waiting, &ending);
  return sigisemptyset(&both) == 0;
}

void on_tick(int) {
  all_ticks = all_ticks + 1;
  if (ending_signal_waits()) told_to_end = 1;
  if (all_ticks >= kAllTicks || told_to_end != 0) stop(watched);
  if (innermost == nullptr) return;
  ticks = ticks + 1;
  if (ticks >= kMatchTicks || told_to_end != 0) siglongjmp(*innermost, 1);
}

void set_timer(int milliseconds) {
  const timeval every = {milliseconds / 1000, suseconds_t{milliseconds % 1000} * 1000};
  const itimerval timer = {every, every};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void let_signal_come() {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, SIGPROF);
  sigprocmask(SIG_UNBLOCK, &own, nullptr);
}

// The innermost match, also when an error of Lua leaves it.
struct MatchScope {
  MatchScope() : outer(innermost) {
    ticks = 0;
    innermost = &here;
  }
  ~MatchScope() {
    innermost = outer;
    ticks = 0;
  }
  sigjmp_buf here;
  sigjmp_buf* outer;
};

}  // namespace

LuaWatch::LuaWatch(lua_State* state, void (*give_up)(lua_State*)) {
  all_ticks = 0;
  told_to_end = 0;
  watched = state;
  stop = give_up;
  struct sigaction action = {};
  action.sa_handler = on_tick;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  set_timer(kTickMs);
}

LuaWatch::~LuaWatch() { set_timer(0); }

void LuaWatch::note_progress() { ticks = 0; }
bool LuaWatch::is_told_to_end() { return told_to_end != 0; }

int watched_match(lua_State* state, void (*give_up)(lua_State*)) {
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  MatchScope match;
  if (sigsetjmp(match.here, 0) == 0) {
    lua_call(state, lua_gettop(state) - 1, LUA_MULTRET);
    return lua_gettop(state);
  }
  innermost = match.outer;
  let_signal_come();
  give_up(state);
  if (told_to_end != 0) return luaL_error(state, LuaWatch::kToldToEnd);
  return luaL_error(state, "a pattern took more than %d seconds to match", LuaWatch::kMatchSeconds);
}

}  // namespace dj
