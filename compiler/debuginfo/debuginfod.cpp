// SPDX-License-Identifier: Apache-2.0
// Opens libdebuginfod when a server is named and not before: it takes libcurl with it.
#include "compiler/debuginfo/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace dj {
namespace {

// Client: the functions of libdebuginfod that are needed; `find` null: it is not here.
struct Client {
  void* (*begin)() = nullptr;
  void (*end)(void* client) = nullptr;
  // Gives a descriptor of the file and its path, which the caller frees; negative: -errno. A build
  // id of length 0 is text.
  int (*find)(void* client, const unsigned char* build_id, int length, char** path) = nullptr;
};

Client open_client() {
  Client client;
  void* library = dlopen("libdebuginfod.so.1", RTLD_LAZY);
  if (library == nullptr) return client;
  client.begin = reinterpret_cast<decltype(client.begin)>(dlsym(library, "debuginfod_begin"));
  client.end = reinterpret_cast<decltype(client.end)>(dlsym(library, "debuginfod_end"));
  if (client.begin == nullptr || client.end == nullptr) return client;
  client.find =
      reinterpret_cast<decltype(client.find)>(dlsym(library, "debuginfod_find_debuginfo"));
  return client;
}

std::string ask(const std::string& build_id) {
  static const Client client = open_client();
  void* handle = client.find != nullptr ? client.begin() : nullptr;
  if (handle == nullptr) return {};
  char* path = nullptr;
  const auto* text = reinterpret_cast<const unsigned char*>(build_id.c_str());
  const int fd = client.find(handle, text, 0, &path);
  std::string found = fd >= 0 && path != nullptr ? path : "";
  if (fd >= 0) close(fd);
  free(path);
  client.end(handle);
  return found;
}

}  // namespace

std::string debug_file_of_servers(const std::string& build_id) {
  const char* servers = getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == 0 || build_id.empty()) return {};
  static std::mutex mutex;
  static std::map<std::string, std::string> answers;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [answer, is_new] = answers.try_emplace(build_id);
  if (is_new) answer->second = ask(build_id);
  return answer->second;
}

}  // namespace dj
