// SPDX-License-Identifier: Apache-2.0
// A thread to do something beside, where the system has one to give: near the limits of memory or
// of processes it has not, and all goes on without.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace dj {

// SpareThread: joined when it goes. Memory may fail its work as it may fail everybody's: then
// join() throws what the work has thrown, so that it comes to those who wait for the work.
class SpareThread {
 public:
  // Throws std::system_error or std::bad_alloc when there is no thread.
  template <typename Work>
  explicit SpareThread(Work work)
      : state_(std::make_unique<std::atomic<State>>(State::Working)),
        thread_([work = std::move(work), state = state_.get()]() mutable {
          State end = State::Done;
          try {
            work();
          } catch (const std::bad_alloc&) {
            end = State::Failed;
          }
          *state = end;
        }) {}

  // Until the work has ended. Throws std::bad_alloc when that ended it.
  void join() {
    if (thread_.joinable()) thread_.join();
    if (*state_ == State::Failed) throw std::bad_alloc();
  }
  bool has_ended() const { return *state_ != State::Working; }

 private:
  enum class State : uint8_t { Working, Done, Failed };
  std::unique_ptr<std::atomic<State>> state_;  // stays where it is when this object moves
  std::jthread thread_;
};

// Runs work() in a thread of its own; nothing: there is none, and nobody has called work().
template <typename Work>
std::optional<SpareThread> spare_thread(Work work) {
  try {
    return std::optional<SpareThread>(std::in_place, std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace dj
