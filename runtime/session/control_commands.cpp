// SPDX-License-Identifier: Apache-2.0
// Words of a command, and the handlers they mean.
#include "runtime/session/control_commands.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "compiler/base/printable.h"

namespace dj {
namespace {

// The number of a site's handler: "12" when it is the only one, else "12.0".
std::string number_of(const InstalledSite& site, size_t handler) {
  return site.handlers.size() > 1 ? fmt::format("{}.{}", site.site, handler)
                                  : std::to_string(site.site);
}

// `word`: a number or a pattern of names; empty: every site is meant.
bool is_meant(const InstalledSite& site, size_t handler, const std::string& word) {
  if (word.empty()) return true;
  if (std::isdigit(static_cast<unsigned char>(word[0]))) {
    return word == std::to_string(site.site) || word == number_of(site, handler);
  }
  const std::string names[] = {site.symbol, shown_name(site)};
  return std::any_of(std::begin(names), std::end(names), [&](const std::string& name) {
    return fnmatch(word.c_str(), name.substr(0, name.rfind('+')).c_str(), 0) == 0;
  });
}

// `word`: those that it means; empty: all.
std::string list_sites(const std::vector<InstalledSite>& sites, const std::string& word) {
  std::string text;
  for (InstalledSite site : sites) {
    if (site.handlers.empty() && is_meant(site, 0, word)) {  // refused before it got any
      text += printable_line("{} {}", site.site, to_string(site));
    }
    const SiteState state = site.state;
    const std::string reason = site.reason;
    for (size_t i = 0; i < site.handlers.size(); i++) {
      if (!is_meant(site, i, word)) continue;
      const bool armed = state == SiteState::Optimized || state == SiteState::Int3;
      const uint8_t off = site.handlers[i].off;
      site.state = armed && off != 0 ? SiteState::Disarmed : state;
      site.reason = (off & kOffByCondition) != 0 ? "arming condition" : reason;
      text += printable_line("{} {}", number_of(site, i), to_string(site));
    }
  }
  return text;
}

Result<std::string> switch_matching(Session& session, const std::string& word, bool on) {
  std::set<HandlerAt> meant;
  for (const InstalledSite& site : session.sites()) {
    for (size_t i = 0; i < site.handlers.size(); i++) {
      if (is_meant(site, i, word)) {
        meant.insert({site.site, site.handlers[i].handler});
      }
    }
  }
  if (meant.empty()) {
    return Error{"no site is meant by " + word + "; list shows all"};
  }
  DJ_TRY_DO(session.switch_handlers(meant, on, kOffByCommand));
  session.switch_rules().add(
      word, [word](const InstalledSite& site, size_t i) { return is_meant(site, i, word); }, on);
  return std::string();
}

ControlSocket::Answer answer_of(const Result<std::string>& result) {
  if (!result.ok()) return {"", result.error()};
  return {result.value()};
}

}  // namespace

ControlSocket::Answer run_control_command(Session& session, const ControlSocket::Run& add,
                                          const std::string& line) {
  std::istringstream words(line);
  std::string command, word, more;
  words >> command;
  if (session.target() == nullptr) return {"", Error{"the session has no target"}};
  if (command == "add") {
    std::string script;
    std::getline(words >> std::ws, script);
    if (!script.empty()) return add(script);
  }
  words >> word >> more;
  if (command == "list" && more.empty()) return {list_sites(session.sites(), word)};
  if ((command == "enable" || command == "disable") && !word.empty() && more.empty())
    return answer_of(switch_matching(session, word, command == "enable"));
  return {"", Error{"the commands are: list [N|GLOB], enable N|GLOB, disable N|GLOB, add SCRIPT"}};
}

}  // namespace dj
