// SPDX-License-Identifier: Apache-2.0
// The files of the target's objects: whether they can be read, what of their code may be probed,
// and their debug information.
#include <fmt/format.h>

#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "compiler/base/counted.h"
#include "compiler/debuginfo/debuginfod.h"
#include "compiler/debuginfo/module.h"
#include "compiler/resolve/missing_debug_info.h"
#include "compiler/stages/debug_servers.h"
#include "runtime/process/process.h"
#include "runtime/run/doctor/patient.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

Verdicts look_at_files(Patient& patient) {
  Verdicts verdicts;
  for (const LostFile& file : lost_files(patient.process.pid)) {
    verdicts.push_back({Health::Limited, lost_file_text(patient.process.pid, file), {}, file.path});
  }
  if (verdicts.empty())
    verdicts.push_back(
        {Health::Ok, fmt::format("{} with code, all readable",
                                 counted(patient.process.modules.size(), "object"))});
  return verdicts;
}

Verdicts look_at_code(Patient& patient) {
  Verdicts verdicts;
  for (const MappedModule& module : patient.process.modules) {
    if (module.shared)
      verdicts.push_back({Health::Limited,
                          fmt::format("code of {} is mapped shared (MAP_SHARED): nothing in it is "
                                      "probed",
                                      module.path),
                          "copy the file to where the program does not write to it", module.path});
    else if (!module.writable.empty())
      verdicts.push_back(
          {Health::Limited,
           fmt::format("the program may write to code of {}: no probe goes there", module.path),
           {},
           module.path});
  }
  if (verdicts.empty()) verdicts.push_back({Health::Ok, "the program cannot write to its code"});
  return verdicts;
}

// Without debug information.
Verdict missing(Module& module) {
  const std::string unreadable = module.why_unreadable();
  const bool named =
      module.elf().section(".symtab") != nullptr || !find_debug_file(module.elf()).empty();
  Diags diags;
  Diag& diag = diags.error("DJ3010", {}, "it is missing");
  help_to_debug_info(diags, &module);
  const std::string& id = module.elf().build_id();
  return {Health::Limited,
          fmt::format("{}: missing{}{}; {}", module.path(), id.empty() ? "" : ", build id " + id,
                      unreadable.empty() ? "" : " (" + unreadable + ")",
                      named ? "functions have names, not variables and lines"
                            : "only what it exports has a name"),
          diag.help, module.path(), id};
}

// Where the file lies that debuginfod has brought before, or would be asked for.
std::optional<Verdict> by_servers(const Module& module, const std::string& urls) {
  const std::string& id = module.elf().build_id();
  if (urls.empty() || id.empty()) return std::nullopt;
  const std::string kept = kept_debug_file(id);
  if (!kept.empty())
    return Verdict{Health::Ok,
                   fmt::format("{}: by debuginfod, which has brought {}", module.path(), kept),
                   {},
                   module.path(),
                   id};
  std::string asked;
  std::istringstream each(urls);
  for (std::string url; each >> url;) {
    while (url.ends_with('/')) url.pop_back();
    asked += fmt::format("{}{}/buildid/{}/debuginfo", asked.empty() ? "" : " ", url, id);
  }
  return Verdict{Health::Note,
                 fmt::format("{}: by debuginfod, which a session asks when it lacks something: {}",
                             module.path(), asked),
                 "debuginfod-find debuginfo " + module.path() + " brings it now, if there is one",
                 module.path(), id};
}

Verdicts look_at_debug_info(Patient& patient) {
  const std::string urls = debug_servers();
  let_debug_servers_be();  // all files of all objects are more than a session asks for
  Verdicts verdicts;
  std::set<std::string> seen;
  for (const MappedModule& mapped : patient.process.modules) {
    if (mapped.is_vdso || !seen.insert(mapped.path).second) continue;
    const Result<std::unique_ptr<Module>> opened = Module::open(mapped.open_path, mapped.path);
    if (!opened.ok()) continue;  // told by look_at_files()
    Module& module = *opened.value();
    if (module.debug_info() == nullptr) {
      const bool is_readable = module.why_unreadable().empty();
      std::optional<Verdict> servers;
      if (is_readable) servers = by_servers(module, urls);
      verdicts.push_back(servers ? std::move(*servers) : missing(module));
      continue;
    }
    const std::string& id = module.elf().build_id();
    verdicts.push_back({Health::Ok, module.path() + ": present", {}, module.path(), id});
  }
  return verdicts;
}

constexpr Row<Patient> kOfObjects[] = {
    {"files", look_at_files, "start the program anew, so that it runs what is installed"},
    {"code", look_at_code,
     "--writable-text probes it, where the program is known to leave its code alone"},
    {"debug information", look_at_debug_info, ""},
};

}  // namespace

void examine_objects(Patient& patient, Findings& findings) {
  for (const Row<Patient>& row : kOfObjects) examine(row, patient, findings);
}

}  // namespace dj
