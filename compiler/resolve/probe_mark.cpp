// SPDX-License-Identifier: Apache-2.0
// Probe kinds .mark and .provider().mark: the SDT marks that a program's author put into it.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/sdt.h"
#include "compiler/debuginfo/sdt_symbols.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

Site mark_site(size_t module, Module& file, const SdtMark& mark) {
  Site site;
  if (const std::optional<CodeFunction> holder = file.function_at(mark.address)) {
    site = function_site(module, file, *holder, SiteKind::Statement);
  } else {
    site.symbol = site.function = mark.name;
  }
  site.module = ModuleId(module);
  site.kind = SiteKind::Statement;
  site.address = mark.address;
  std::vector<std::string> operands;
  for (const std::string& operand : mark.operands)
    operands.push_back(with_addresses(operand, file));
  site.mark = MarkOf{mark.provider, mark.name, std::move(operands), mark.semaphore};
  site.listed = fmt::format("provider(\"{}\").mark(\"{}\")", mark.provider, mark.name);
  return site;
}

void report_no_mark(PointQuery& query, const std::vector<std::string>& known,
                    const std::vector<size_t>& objects) {
  const ast::Component& c = *query.component("mark");
  Diag& d = query.diags.error(
      "DJ3018", c.argument_span,
      fmt::format("{} has no mark \"{}\"", query.modules.base_name(objects[0]), query.text(c)));
  d.suggest(near_names(query.text(c), known));
  std::string there;
  for (size_t i = 0; i < known.size() && i < 12; i++) {
    there += (i ? ", " : "") + known[i];
  }
  d.notes.push_back(known.empty() ? "it has no marks at all: it was built without sys/sdt.h"
                                  : "there is: " + there);
}

void find_mark(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = *query.component("mark");
  const ast::Component* provider = query.component("provider");
  const std::string wanted = query.text(c);
  const std::string by = provider ? query.text(*provider) : "*";
  const size_t errors = query.diags.error_count();
  const std::vector<size_t> objects = searched_objects(query, {}, c.argument_span);
  if (query.diags.error_count() != errors || objects.empty()) {
    return;
  }
  std::vector<std::string> known;
  for (size_t module : objects) {
    Module* file = query.modules.open(module);
    for (const SdtMark& mark : file ? read_marks(file->elf()) : std::vector<SdtMark>{}) {
      if (std::find(known.begin(), known.end(), mark.name) == known.end()) {
        known.push_back(mark.name);
      }
      // A mark's name has "__" where C's identifiers have no "-"; both spellings are known.
      std::string dashed = mark.name;
      for (size_t at; (at = dashed.find("__")) != std::string::npos;) {
        dashed.replace(at, 2, 1, '-');
      }
      if (glob_match(by, mark.provider) &&
          (glob_match(wanted, mark.name) || glob_match(wanted, dashed))) {
        meaning.sites.push_back(mark_site(module, *file, mark));
      }
    }
  }
  if (meaning.sites.empty() && !query.optional) {
    report_no_mark(query, known, objects);
  }
}

constexpr ProbeKind kMarkKinds[] = {
    {"<process>.mark(s)", find_mark},
    {"<process>.provider(s).mark(s)", find_mark},
};

}  // namespace

std::span<const ProbeKind> mark_kinds() { return kMarkKinds; }

}  // namespace dj
