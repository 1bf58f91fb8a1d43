// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or the first reason why there is none. For failures of the world (files,
// ptrace, memory); mistakes in a script are Diags (diag.h), bugs of ours are CHECK.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace dj {

// What kind of failure an Error is; main() maps it to the documented exit code.
enum class Fail : uint8_t {
  Other,
  NotFound,      // a file, process or symbol does not exist
  Permission,    // the kernel said EPERM/EACCES
  TargetGone,    // the traced process ended
  Unsupported,   // this form is not built yet, and the message says so
  Incomplete,    // djtap itself lacks a part, or memory for it
};

struct Error {
  std::string message;  // one sentence, no trailing period, no "error:" prefix
  Fail kind = Fail::Other;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const = delete;  // nobody may confuse "ok" with "true"
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T take() { return std::move(std::get<0>(state_)); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status ok_status() { return Unit{}; }

// DJ_TRY(lhs, expr): lhs = value of expr, or return its error from this function.
#define DJ_CONCAT_(a, b) a##b
#define DJ_CONCAT(a, b) DJ_CONCAT_(a, b)
#define DJ_TRY(lhs, expr) DJ_TRY_(lhs, expr, DJ_CONCAT(dj_result_, __LINE__))
#define DJ_TRY_(lhs, expr, tmp)      \
  auto tmp = (expr);                 \
  if (!tmp.ok()) return tmp.error(); \
  lhs = tmp.take()
// DJ_TRY_DO(expr): for a Status whose value nobody needs.
#define DJ_TRY_DO(expr)                       \
  do {                                        \
    auto dj_status = (expr);                  \
    if (!dj_status.ok()) return dj_status.error(); \
  } while (0)

// CHECK: an invariant of ours; stays on in release builds.
#define CHECK(cond)                                                                      \
  do {                                                                                   \
    if (!(cond)) {                                                                       \
      std::fprintf(stderr, "djtap: bug: %s:%d: CHECK(%s)\n", __FILE__, __LINE__, #cond); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (0)

}  // namespace dj
