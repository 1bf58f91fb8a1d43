// SPDX-License-Identifier: Apache-2.0
// LuaSandbox: one Lua 5.4 state that can compute and nothing else: no files, no processes, no code
// loaded at run time, no debug library, no metatables; memory, instructions and time are limited.
// The only room that includes Lua.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct lua_State;
struct lua_Debug;

namespace dj {

struct LuaLimits {
  size_t memory_bytes = size_t{256} << 20;
  uint64_t instructions = 500'000'000;  // of one protect(); a few seconds. Calls of C functions
                                        // count little: lua_watch.h looks at their time
};

// Why a Lua file ended.
struct LuaFailure {
  enum class Kind : uint8_t { Syntax, Run, Limit } kind = Kind::Run;
  uint32_t line = 0;  // 0: not known
  std::string message;
  std::vector<uint32_t> callers;  // lines, innermost first
};

class LuaSandbox {
 public:
  explicit LuaSandbox(const LuaLimits& limits);
  ~LuaSandbox();
  LuaSandbox(const LuaSandbox&) = delete;
  LuaSandbox& operator=(const LuaSandbox&) = delete;

  // Runs `body`, which may call any function of Lua's interface: Lua's errors end it and are
  // returned. Not to be nested.
  std::optional<LuaFailure> protect(const std::function<void(lua_State*)>& body);
  // Compiles and runs a file's text.
  std::optional<LuaFailure> run(std::string_view text);
  // No instruction is left: whatever runs ends with an error.
  static void spend_all(lua_State* state);
  // Raises an error when the time that a protect() may take is over.
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
  volatile int time_over_ = 0;   // set by a signal's handler
  bool refused_ = false;         // memory, in this protect()
  std::vector<uint32_t> lines_;  // of the functions that run, innermost first
};

}  // namespace dj
