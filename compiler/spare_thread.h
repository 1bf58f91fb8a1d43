// A thread to do something beside, where the system has one to give: near the limits of memory or
// of processes it has not, and all goes on without.
#pragma once
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace dj {

// Runs work() in a thread of its own, joined when the result goes; nothing: there is none, and
// nobody has called work().
template <typename Work>
std::optional<std::jthread> spare_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace dj
