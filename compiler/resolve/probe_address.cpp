// SPDX-License-Identifier: Apache-2.0
// Probe kinds .statement(address), .statement(address).absolute and .function(address).
#include <fmt/format.h>

#include "arch/x86_64/calls.h"
#include "compiler/resolve/site_search.h"

namespace dj {

namespace {

bool checked(PointQuery& query, const ast::Component& c, bool good, const std::string& message,
             const std::string& help = "") {
  if (!good && !query.optional) {
    query.diags.error("DJ3019", c.argument_span, message).help = help;
  }
  return good;
}

// The site of the instruction at an address of the file; the function's entry for its first one.
void add_address(PointQuery& query, const ast::Component& c, size_t module, uint64_t address,
                 bool whole_function, PointMeaning& meaning) {
  Module* file = query.modules.open(module);
  const std::string name = query.modules.base_name(module);
  if (!checked(query, c, file && file->elf().is_code(address),
               fmt::format("{} has no code at {:#x}", name, address))) {
    return;
  }
  file->name_the_nameless();
  const std::optional<CodeFunction> function = file->function_at(address);
  if (!checked(query, c, function.has_value(),
               fmt::format("{:#x} is in no known function of {}", address, name))) {
    return;
  }
  if (const char* reason = refusal(file->elf(), function->symbol, function->begin)) {
    if (!query.optional) {
      query.diags.error("DJ3009", c.argument_span,
                        fmt::format("refused to probe {}: {}", file->name_of(*function), reason));
    }
    return;
  }
  Site site = function_site(module, *file, *function, SiteKind::Entry);
  if (!whole_function && address > site.address) {
    const Bytes code = file->elf().at(function->begin);
    const size_t size = std::min<size_t>(code.size(), function->end - function->begin);
    const arch::Extent around =
        arch::instruction_around(code.first(size), function->begin, address);
    if (!checked(query, c, around.begin == address,
                 fmt::format("no instruction of {}() begins at {:#x}", file->name_of(*function),
                             address),
                 fmt::format("instructions begin at {:#x} and {:#x}", around.begin, around.end))) {
      return;
    }
    site.kind = SiteKind::Statement;
    site.address = address;
    site.listed = fmt::format("statement({:#x})", address);
  }
  meaning.sites.push_back(std::move(site));
}

void find_in_file(PointQuery& query, const ast::Component& c, bool whole_function,
                  PointMeaning& meaning) {
  const size_t errors = query.diags.error_count();
  const std::vector<size_t> objects = searched_objects(query, {}, c.argument_span);
  if (query.diags.error_count() != errors) {
    return;
  }
  const auto address = uint64_t(std::get<int64_t>(c.argument));
  for (size_t module : objects) {
    add_address(query, c, module, address, whole_function, meaning);
  }
}

void find_statement(PointQuery& query, PointMeaning& meaning) {
  find_in_file(query, *query.component("statement"), false, meaning);
}

void find_function(PointQuery& query, PointMeaning& meaning) {
  find_in_file(query, *query.component("function"), true, meaning);
}

// An address of the running process.
void find_absolute(PointQuery& query, PointMeaning& meaning) {
  const ast::Component& c = *query.component("statement");
  const size_t errors = query.diags.error_count();
  searched_objects(query, {}, c.argument_span);  // is there a process, and of that name?
  if (query.diags.error_count() != errors) {
    return;
  }
  const auto address = uint64_t(std::get<int64_t>(c.argument));
  for (const MappedFile& mapped : query.modules.mapped()) {
    if (address >= mapped.begin && address < mapped.end) {
      add_address(query, c, mapped.module, address - mapped.bias, false, meaning);
      return;
    }
  }
  checked(query, c, false, fmt::format("the process has no object at {:#x}", address));
}

constexpr ProbeKind kAddressKinds[] = {
    {"<process>.statement(n)", find_statement},
    {"<process>.statement(n).absolute", find_absolute},
    {"<process>.function(n)", find_function},
    {"<process>.function(n).call", find_function},
};

}  // namespace

std::span<const ProbeKind> address_kinds() { return kAddressKinds; }

}  // namespace dj
