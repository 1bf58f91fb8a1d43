// SPDX-License-Identifier: Apache-2.0
// LuaSandbox holds one Lua 5.4 state that can only compute: no files, no processes, no code loaded
// at run time, no debug library, no metatables. It limits memory, instructions and time. This room
// is the only one that includes Lua.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;
struct lua_Debug;  // Lua's name. NOLINT(readability-identifier-naming)

namespace dj {

struct LuaLimits {
  size_t memory_bytes = size_t{256} << 20;
  uint64_t instructions = 500'000'000;  // of one protect(); a few seconds. Calls of C functions
                                        // count little: lua_watch.h limits their time
};

// LuaFailure says why a Lua file failed.
struct LuaFailure {
  enum class Kind : uint8_t { Syntax, Run, Limit } kind = Kind::Run;
  uint32_t line = 0;  // 0: unknown
  std::string message;
  std::vector<uint32_t> callers;  // lines, innermost first
};

class LuaSandbox {
 public:
  explicit LuaSandbox(const LuaLimits& limits);
  ~LuaSandbox();
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  // Runs `body`, which may call any function of Lua's interface. A Lua error ends `body`; protect()
  // returns it. Do not nest calls.
  std::optional<LuaFailure> protect(const std::function<void(lua_State*)>& body);
  // Compiles and runs a file's text. Returns like protect().
  std::optional<LuaFailure> run(std::string_view text);
  // Takes away all instructions that are left: the running code ends with an error.
  static void spend_all(lua_State* state);
  // Raises a Lua error if the time that a protect() may take is over.
  static void check_time(lua_State* state);

 private:
  static void* allocate(void* self, void* block, size_t old_bytes, size_t new_bytes);
  static void count_hook(lua_State* state, lua_Debug* debug);
  static void end_time(lua_State* state);
  static int on_error(lua_State* state);
  void note_place();
  LuaFailure failure(int status);

  LuaLimits limits_;
  lua_State* state_ = nullptr;
  size_t used_bytes_ = 0;
  uint64_t left_ = 0;            // instructions
  volatile int time_over_ = 0;   // a signal handler sets it
  bool refused_ = false;         // the allocator refused memory in this protect()
  std::vector<uint32_t> lines_;  // of the functions that run, innermost first
};

}  // namespace dj
