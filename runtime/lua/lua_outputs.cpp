// SPDX-License-Identifier: Apache-2.0
// Which Lua files there are, and the calls into them in order: the plugin before the report.
#include "runtime/lua/lua_outputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "runtime/output/own_text.h"

namespace dj {
namespace {

struct Plugin {
  std::string_view name, text;
};
constexpr Plugin kPlugins[] = {
#include "lua_plugins.inc"
};

Result<std::string> plugin_text(const std::string& name) {
  if (name.ends_with(".lua")) return own_text(name);
  for (const Plugin& plugin : kPlugins) {
    if (plugin.name == name) return std::string(plugin.text);
  }
  return Error{fmt::format("there is no output plugin {}; there are {}, and any file NAME.lua",
                           name, fmt::join(plugin_names(), ", "))};
}

}  // namespace

std::vector<std::string> plugin_names() {
  std::vector<std::string> names;
  for (const Plugin& plugin : kPlugins) names.emplace_back(plugin.name);
  return names;
}

Status LuaOutputs::add(const std::string& name, std::string text, Sources& sources) {
  uint32_t file = sources.add(name, std::move(text));
  running_.push_back({std::make_unique<LuaFile>(sources, file)});
  running_.back().failed = !running_.back().file->load(diags_);
  return ok_status();
}

Status LuaOutputs::load_plugin(const std::string& plugin, Sources& sources) {
  if (plugin.empty()) return ok_status();
  DJ_TRY(std::string text, plugin_text(plugin));
  return add(plugin, std::move(text), sources);
}

Status LuaOutputs::load_report(const std::string& report, Sources& sources) {
  if (report.empty()) return ok_status();
  DJ_TRY(std::string text, own_text(report));
  return add(report, std::move(text), sources);
}

bool LuaOutputs::takes_records() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& running) { return running.file->takes_records(); });
}

bool LuaOutputs::takes_globals() const {
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& running) { return running.file->takes_globals(); });
}

void LuaOutputs::write(Running& running, Output& output) {
  if (auto enclosure = running.file->take_enclosure()) output.enclose(std::move(*enclosure));
  output.write(running.file->take_text());
}

void LuaOutputs::flush(Output& output) {
  for (Running& running : running_) write(running, output);
}

void LuaOutputs::record(const PrintRecord& record, Output& output) {
  for (Running& running : running_) {
    if (!running.failed) running.failed = !running.file->on_record(record, diags_);
    write(running, output);
  }
}

void LuaOutputs::end(std::span<const GlobalValue> globals, const StackNamer& name_stack,
                     Output& output) {
  for (Running& running : running_) {
    if (!running.failed) running.failed = !running.file->on_end(globals, name_stack, diags_);
    write(running, output);
    output.end_enclosure();  // what the next file says stands behind it
  }
}

}  // namespace dj
