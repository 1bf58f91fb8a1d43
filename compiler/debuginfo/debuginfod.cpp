// SPDX-License-Identifier: Apache-2.0
// Opens libdebuginfod when a file is asked for and not before: it takes libcurl with it. A thread
// asks, and is left behind where it does not come back.
#include "compiler/debuginfo/debuginfod.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "compiler/stages/debug_servers.h"

namespace dj {
namespace {

using Clock = std::chrono::steady_clock;

// Request: one file that is asked for. The thread that asks and the one that waits share it.
struct Request {
  std::string build_id, name;
  int seconds = 0;
  std::function<bool()> is_over;

  std::mutex mutex;
  std::condition_variable changed;
  Clock::time_point heard = Clock::now();  // when libdebuginfod has called last
  struct State {
    bool is_done = false, is_slow = false, is_stopped = false;
    bool is_announced = false;  // a server has begun to send it
  } state;
  int error = 0;          // errno; 0: `path` is there
  std::string path, url;  // of the client's cache; of the server that has sent it

  // For the thread that asks alone.
  struct Window {
    Clock::time_point begin = Clock::now();
    long bytes = 0;
  } window;
};

// Client: the functions of libdebuginfod that are needed; `find` null: it is not here.
struct Client {
  using Progress = int (*)(void* client, long done, long of);
  void* (*begin)() = nullptr;
  void (*end)(void* client) = nullptr;
  void (*set_progress)(void* client, Progress progress) = nullptr;
  void (*set_user_data)(void* client, void* data) = nullptr;
  void* (*user_data)(void* client) = nullptr;
  const char* (*url)(void* client) = nullptr;
  // Gives a descriptor of the file and its path, which the caller frees; negative: -errno. A build
  // id of length 0 is text.
  int (*find)(void* client, const unsigned char* build_id, int length, char** path) = nullptr;
};

template <typename Function>
bool take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Client open_client() {
  Client client;
  void* library = dlopen("libdebuginfod.so.1", RTLD_LAZY);
  if (library == nullptr) return {};
  const bool is_whole = take(library, "debuginfod_begin", client.begin) &&
                        take(library, "debuginfod_end", client.end) &&
                        take(library, "debuginfod_set_progressfn", client.set_progress) &&
                        take(library, "debuginfod_set_user_data", client.set_user_data) &&
                        take(library, "debuginfod_get_user_data", client.user_data) &&
                        take(library, "debuginfod_get_url", client.url) &&
                        take(library, "debuginfod_find_debuginfo", client.find);
  return is_whole ? client : Client();
}

const Client& client() {
  static const Client opened = open_client();
  return opened;
}

// Called about once a second while a file is on its way. of: its bytes; 0: nothing has come yet.
// Not 0: libdebuginfod gives up.
int go_on(void* handle, long done, long of) {
  constexpr long kLeast = 100'000;
  auto& question = *static_cast<std::shared_ptr<Request>*>(client().user_data(handle))->get();
  const Clock::time_point now = Clock::now();
  const long bytes = of > 0 ? done : 0;
  const bool is_late =
      question.seconds > 0 && now - question.window.begin > std::chrono::seconds(question.seconds);
  const bool is_slow = is_late && bytes - question.window.bytes < kLeast;
  if (is_late) question.window.begin = now, question.window.bytes = bytes;
  const std::lock_guard lock(question.mutex);
  question.heard = now;
  question.state.is_slow = is_slow;
  question.state.is_announced = question.state.is_announced || of > 0;
  question.state.is_stopped = question.state.is_stopped || question.is_over();
  return is_slow || question.state.is_stopped ? 1 : 0;
}

void ask(std::shared_ptr<Request> question) {
  void* handle = client().find != nullptr ? client().begin() : nullptr;
  int fd = client().find != nullptr ? -ENOMEM : -ENOSYS;
  std::string path, url;
  if (handle != nullptr) {
    client().set_user_data(handle, &question);
    client().set_progress(handle, go_on);
    char* found = nullptr;
    const auto* text = reinterpret_cast<const unsigned char*>(question->build_id.c_str());
    fd = client().find(handle, text, 0, &found);
    if (fd >= 0) close(fd);
    if (fd >= 0 && found != nullptr) path = found;
    if (const char* from = client().url(handle)) url = from;
    free(found);
    client().end(handle);
  }
  const std::lock_guard lock(question->mutex);
  question->error = fd < 0 ? -fd : path.empty() ? ENOENT : 0;
  question->path = std::move(path);
  question->url = std::move(url);
  question->state.is_done = true;
  question->changed.notify_all();
}

// False: the thread has not been heard of for so long that it is left to itself.
bool wait_for(Request& question) {
  constexpr std::chrono::seconds kGrace(5);
  std::unique_lock lock(question.mutex);
  while (!question.changed.wait_for(lock, std::chrono::milliseconds(200),
                                    [&] { return question.state.is_done; })) {
    question.state.is_stopped = question.state.is_stopped || question.is_over();
    const auto silent = Clock::now() - question.heard;
    const bool is_lost =
        question.seconds > 0 && silent > std::chrono::seconds(question.seconds) + kGrace;
    if (is_lost || (question.state.is_stopped && silent > kGrace)) return false;
  }
  return true;
}

// Why the file is not the debug file of that build id; empty: it is.
std::string what_is_wrong(const Result<ObjectFile>& file, const std::string& build_id) {
  if (!file.ok()) return "what it sent is no ELF file";
  if (file.value().lacks_sections()) return "what it sent is cut short";
  const std::string& sent = file.value().build_id();
  if (sent == build_id) return "";
  return sent.empty() ? "what it sent has no build id" : "what it sent is of build id " + sent;
}

// Asker: the servers, and what they have answered.
class Asker {
 public:
  void use(DebugServers servers) {
    const std::lock_guard lock(mutex_);
    servers_ = std::move(servers);
  }
  void let_be() {
    const std::lock_guard lock(mutex_);
    servers_.urls.clear();
  }
  std::string urls() {
    const std::lock_guard lock(mutex_);
    return servers_.urls;
  }
  bool lacked() {
    const std::lock_guard lock(mutex_);
    return lacked_;
  }
  std::shared_ptr<ObjectFile> brought(const std::string& build_id) {
    const std::lock_guard lock(mutex_);
    const auto answer = answers_.find(build_id);
    return answer != answers_.end() ? answer->second : nullptr;
  }
  std::shared_ptr<ObjectFile> ask_for(const std::string& build_id, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(build_id);
    if (known != answers_.end()) return known->second;
    if (servers_.urls.empty() || build_id.empty()) return nullptr;
    if (is_beside_) return ask_beside(build_id, name);
    std::shared_ptr<ObjectFile> file;
    servers_.wait(fmt::format("asking debuginfod for the symbols of {}", name),
                  [&] { file = ask_servers(build_id, name); });
    if (!failure_.empty())
      servers_.tell(std::exchange(failure_, "") + "; no server is asked any more");
    lacked_ = lacked_ || file == nullptr;
    return answers_[build_id] = file;
  }
  void go_beside() {
    const std::lock_guard lock(mutex_);
    is_beside_ = true;
  }
  // The objects whose files have come and were not used.
  std::vector<std::string> end_beside() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [build_id, question] : beside_) {
      const std::lock_guard own(question->mutex);
      question->state.is_stopped = question->state.is_stopped || !question->state.is_done;
    }
    for (const auto& [build_id, question] : beside_) {
      if (!break_off(*question) || question->state.is_stopped) continue;
      if (answer_to(*question, true, question->name)) names.push_back(question->name);
    }
    beside_.clear();
    if (!failure_.empty()) servers_.tell(std::exchange(failure_, ""));
    return names;
  }

 private:
  // libdebuginfod looks about once a second whether it is to go on: a thread that it still has when
  // djtap ends would use what is being destroyed.
  static bool break_off(Request& question) {
    constexpr std::chrono::seconds kPatience(3);
    std::unique_lock lock(question.mutex);
    return question.changed.wait_for(lock, kPatience, [&] { return question.state.is_done; });
  }

  std::shared_ptr<ObjectFile> ask_beside(const std::string& build_id, const std::string& name) {
    constexpr size_t kMost = 16;  // threads that ask
    const auto asked = beside_.find(build_id);
    if (asked != beside_.end()) {
      const std::shared_ptr<Request> question = asked->second;
      const bool is_done = [&] {
        const std::lock_guard lock(question->mutex);
        return question->state.is_done;
      }();
      if (!is_done) return nullptr;
      beside_.erase(asked);
      return answers_[build_id] = answer_to(*question, true, name);
    }
    const std::string kept = kept_debug_file(build_id);
    Result<ObjectFile> file = kept.empty() ? Error{"none"} : ObjectFile::open(kept);
    if (file.ok()) return answers_[build_id] = std::make_shared<ObjectFile>(file.take());
    if (beside_.size() >= kMost) return nullptr;
    if (const auto question = begin_asking(build_id, name)) beside_[build_id] = question;
    return nullptr;
  }

  // Null: the system has no thread to give.
  std::shared_ptr<Request> begin_asking(const std::string& build_id, const std::string& name) {
    auto question = std::make_shared<Request>();
    question->build_id = build_id;
    question->name = name;
    question->seconds = servers_.seconds;
    question->is_over = servers_.is_over;
    try {
      std::thread(ask, question).detach();
    } catch (const std::system_error&) {
      return nullptr;
    }
    return question;
  }

  void give_up(const std::string& why) {
    failure_ = why;
    servers_.urls.clear();
  }

  std::shared_ptr<ObjectFile> ask_servers(const std::string& build_id, const std::string& name) {
    if (client().find == nullptr) {
      give_up(
          "DEBUGINFOD_URLS is set, but there is no libdebuginfod (Debian's package "
          "libdebuginfod1)");
      return nullptr;
    }
    const std::shared_ptr<Request> question = begin_asking(build_id, name);
    if (!question) return nullptr;
    return answer_to(*question, wait_for(*question), name);
  }

  std::shared_ptr<ObjectFile> answer_to(Request& question, bool came_back,
                                        const std::string& name) {
    const std::lock_guard lock(question.mutex);
    if (question.state.is_stopped) {
      servers_.urls.clear();
      return nullptr;
    }
    if (!came_back || question.state.is_slow || question.error == ETIME ||
        question.error == ETIMEDOUT) {
      give_up(
          fmt::format("{}: it does not send the debug file of {}, or sends it too slowly "
                      "(DEBUGINFOD_TIMEOUT: {} s)",
                      servers_.urls, name, servers_.seconds));
      return nullptr;
    }
    if (question.error == ENOENT && !question.state.is_announced) return nullptr;  // they have none
    if (question.error == ENOENT) {
      give_up(
          fmt::format("{}: it broke off while it sent the debug file of {}", servers_.urls, name));
      return nullptr;
    }
    if (question.error != 0) {
      give_up(fmt::format("{}: the debug file of {} cannot be had: {}", servers_.urls, name,
                          std::strerror(question.error)));
      return nullptr;
    }
    Result<ObjectFile> file = ObjectFile::open(question.path);
    const std::string wrong = what_is_wrong(file, question.build_id);
    if (wrong.empty()) return std::make_shared<ObjectFile>(file.take());
    unlink(question.path.c_str());  // or others would believe the cache
    give_up(fmt::format("{}: asked for the debug file of {} (build id {}), {}",
                        question.url.empty() ? servers_.urls : question.url, name,
                        question.build_id, wrong));
    return nullptr;
  }

  std::mutex mutex_;
  DebugServers servers_;
  std::map<std::string, std::shared_ptr<ObjectFile>> answers_;  // by build id; null: none
  bool lacked_ = false;
  bool is_beside_ = false;
  std::map<std::string, std::shared_ptr<Request>> beside_;  // by build id
  std::string failure_;                                     // to be told
};

Asker& asker() {
  static Asker all;
  return all;
}

}  // namespace

void use_debug_servers(DebugServers servers) { asker().use(std::move(servers)); }
void ask_debug_servers_beside() {
  asker().go_beside();
  static const int ends_it = std::atexit([] { end_asking_beside(); });  // however the session ends
  static_cast<void>(ends_it);
}
std::vector<std::string> end_asking_beside() { return asker().end_beside(); }
void let_debug_servers_be() { asker().let_be(); }
bool may_ask_debug_servers() { return !asker().urls().empty(); }
std::string debug_servers() { return asker().urls(); }
bool debug_servers_lacked() { return asker().lacked(); }

std::shared_ptr<ObjectFile> ask_for_debug_file(const std::string& build_id,
                                               const std::string& name) {
  return asker().ask_for(build_id, name);
}

// As libdebuginfod looks for it.
std::string kept_debug_file(const std::string& build_id) {
  const auto of = [](const char* variable, const char* below) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != 0 ? std::string(value) + below : "";
  };
  if (build_id.empty()) return "";
  const std::string own = of("DEBUGINFOD_CACHE_PATH", "");
  std::vector<std::string> folders = {own};
  if (own.empty())
    folders = {of("HOME", "/.debuginfod_client_cache"), of("XDG_CACHE_HOME", "/debuginfod_client"),
               of("HOME", "/.cache/debuginfod_client")};
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    const std::string path = fmt::format("{}/{}/debuginfo", folder, build_id);
    const Result<ObjectFile> file = ObjectFile::open(path);
    if (what_is_wrong(file, build_id).empty()) return path;
  }
  return "";
}

std::shared_ptr<ObjectFile> brought_debug_file(const std::string& build_id) {
  return asker().brought(build_id);
}

}  // namespace dj
