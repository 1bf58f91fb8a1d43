// SPDX-License-Identifier: Apache-2.0
// Whether and how debuginfod servers are asked for separate debug files. compiler/debuginfo asks,
// and what runs the stages says whom. Any thread may call these.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace dj {

// DebugServers: who is asked, and how a person learns of it.
struct DebugServers {
  std::string urls;  // DEBUGINFOD_URLS, which is also in the environment
  // A server must send 100 KB, or what there is, in as many seconds; 0: it may take for ever.
  int seconds = 20;
  // Calls `ask`, which may take long, and shows what is asked for meanwhile.
  std::function<void(const std::string& what, const std::function<void()>& ask)> wait;
  // Tells in one line why no server is asked any more.
  std::function<void(const std::string& why)> tell;
  // The person does not want to wait any longer.
  std::function<bool()> is_over;
};

// Before this call no server is asked.
void use_debug_servers(DebugServers servers);
// From now on no server is asked.
void let_debug_servers_be();
// From now on nobody waits for a server, since a program stands meanwhile: what the client's cache
// has is used, and threads bring what it has not.
void ask_debug_servers_beside();
// Ends these threads. Returns the objects whose files have come and were not used.
std::vector<std::string> end_asking_beside();
bool may_ask_debug_servers();
std::string debug_servers();  // those that may be asked, as DEBUGINFOD_URLS names them
// A file was asked for and has not come.
bool debug_servers_lacked();

}  // namespace dj
