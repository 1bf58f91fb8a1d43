// SPDX-License-Identifier: Apache-2.0
// Probe kinds .plt, .plt("name") and their returns: calls of other objects through the stubs of an
// object.
#include <fmt/format.h>

#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

void report_no_stub(PointQuery& query, const ast::Component& c,
                    const std::vector<size_t>& objects) {
  Module* file = query.modules.open(objects[0]);
  const std::string object = query.modules.base_name(objects[0]);
  const Plt empty;
  const Plt& plt = file ? file->plt() : empty;
  const bool named = std::holds_alternative<std::string>(c.argument);
  const std::string wanted = named ? query.text(c) : "*";
  Diag& d = query.diags.error(
      "DJ3018", named ? c.argument_span : c.name_span,
      fmt::format("{} has no PLT entry{}", object, named ? " \"" + wanted + "\"" : "s"));
  for (const auto& [slot, name] : plt.slots) {
    if (glob_match(wanted, name)) {
      d.notes.push_back(
          fmt::format("{} is called through its GOT word: built with -fno-plt, or its "
                      "address is taken",
                      name));
      d.help = fmt::format("probe the calls: process(\"{}\").function(\"*\").callee(\"{}\")",
                           object, name);
      return;
    }
  }
  std::vector<std::string> known;
  for (const PltEntry& entry : plt.entries) {
    known.emplace_back(entry.name);
  }
  d.suggest(near_names(wanted, known));
}

void find_stubs(PointQuery& query, SiteKind kind, PointMeaning& meaning) {
  const ast::Component& c = *query.component("plt");
  const bool named = std::holds_alternative<std::string>(c.argument);
  const std::string wanted = named ? query.text(c) : "*";
  const size_t errors = query.diags.error_count();
  const std::vector<size_t> objects = searched_objects(query, {}, query.point.span);
  if (query.diags.error_count() != errors || objects.empty()) {
    return;
  }
  for (size_t module : objects) {
    Module* file = query.modules.open(module);
    if (!file) {
      continue;
    }
    for (const PltEntry& entry : file->plt().entries) {
      if (glob_match(wanted, entry.name)) {
        const CodeFunction stub{entry.begin, entry.end, entry.name};
        Site site = function_site(module, *file, stub, kind);
        site.symbol += "@plt";
        site.stub = StubOf{std::string(entry.name)};
        site.listed =
            fmt::format("plt(\"{}\"){}", entry.name, kind == SiteKind::Return ? ".return" : "");
        meaning.sites.push_back(std::move(site));
      }
    }
  }
  if (meaning.sites.empty() && !query.optional) {
    report_no_stub(query, c, objects);
  }
}

void find_plt(PointQuery& query, PointMeaning& meaning) {
  find_stubs(query, SiteKind::Entry, meaning);
}

// The stub jumps to the function: as of every tail call, the callee's return is its return.
void find_plt_return(PointQuery& query, PointMeaning& meaning) {
  find_stubs(query, SiteKind::Return, meaning);
}

constexpr ProbeKind kPltKinds[] = {
    {"<process>.plt", find_plt},
    {"<process>.plt(s)", find_plt},
    {"<process>.plt.return", find_plt_return},
    {"<process>.plt(s).return", find_plt_return},
};

}  // namespace

std::span<const ProbeKind> plt_kinds() { return kPltKinds; }

}  // namespace dj
