// SPDX-License-Identifier: Apache-2.0
// Shared by the kinds whose places are functions or lines of the target's code.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/debuginfo/pattern.h"
#include "compiler/resolve/probe_kind.h"

namespace dj {

// Why this function may not be probed; null: it may.
const char* refusal(const ObjectFile& elf, std::string_view symbol, uint64_t address);

// The objects a point searches: all, one named by "lib!", process(...) or library(...). Empty after
// a report.
std::vector<size_t> searched_objects(PointQuery& query, const FunctionPattern& pattern, Span span);

// Whether the point searches objects of a program that the target does not run: those of
// process("file").library("lib"), .thread, .syscall or .absolute. Then nothing of the target is
// meant; a process that executes the file is searched when it joins the session.
bool searches_other_program(const PointQuery& query);

// The site of a whole function, which is named by its symbol only.
Site function_site(size_t module, const Module& file, const CodeFunction& function, SiteKind kind);
// Site::function, or what it would be by the symbol: names of C++ take a microsecond each, and most
// sites never need theirs.
std::string function_of(const Site& site);
// Fills Site::function of all of them. module_of: the file of a Site::module.
void name_functions(std::span<Site> sites, const std::function<Module&(ModuleId)>& module_of);

// Sites of the pattern in one object. Counts, for the report when nothing is found:
struct SearchTally {
  std::vector<std::string> ifuncs;
  std::vector<std::string> refused;  // "name: reason"
  std::vector<uint32_t> nearest_lines;
  bool has_copies = false;                      // functions of that name are inlined
  std::vector<std::string> without_debug_info;  // objects in which lines or files cannot be known
  // Functions were found, but not what was asked of them: says what; and what there is instead.
  std::string missing;
  std::vector<std::string> known;
};
void search_functions(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                      std::vector<Site>& sites, SearchTally& tally);
// Lines in functions of their own and, where there are any, in inlined copies of these.
void search_lines(size_t module, Module& file, const FunctionPattern& pattern, SiteKind kind,
                  std::vector<Site>& sites, SearchTally& tally);
// Lines in inlined copies alone.
void search_inlined_lines(size_t module, Module& file, const FunctionPattern& pattern,
                          std::vector<Site>& sites, SearchTally& tally);
// A site in the middle of the function that holds the address; empty: none does, or it is refused.
std::optional<Site> inner_site(size_t module, Module& file, uint64_t address, SearchTally& tally);

// The C library that the point means: its functions of that name, each with its object.
using FoundFunction =
    std::function<void(size_t module, Module& file, const CodeFunction& function)>;
void search_c_library(PointQuery& query, const std::string& name, const FoundFunction& found);

// The component that holds the function's name.
const ast::Component& name_component(PointQuery& query);

// Parses the argument as a function pattern, or several with a list of lines (f@t.c:12,14-15),
// calls `search` for each object that is meant, and reports when nothing is found. False: for one
// of them, nothing was.
using SearchObject = std::function<void(size_t index, Module& file, const FunctionPattern& pattern,
                                        std::vector<Site>& sites, SearchTally& tally)>;
bool find_in_objects(PointQuery& query, const ast::Component& argument, const SearchObject& search,
                     PointMeaning& meaning);

// The whole of it: parses the argument of `name`, searches, reports when nothing is found. False as
// find_in_objects().
bool find_sites(PointQuery& query, const ast::Component& argument, SiteKind kind,
                PointMeaning& meaning);

// The entries of the functions among them that other objects can bind to.
void find_exported(PointQuery& query, PointMeaning& meaning);

// The inlined copies of the functions that the point names.
void find_inlined_copies(PointQuery& query, PointMeaning& meaning);

// An IFUNC of that exact name exists: nothing (Error) or only functions of other objects (Warning)
// were found.
void report_ifunc(PointQuery& query, Span span, const std::vector<size_t>& objects,
                  const SearchTally& tally, Severity severity);

// One error, at the string's exact place: what was searched, and which near names there are.
void report_nothing(PointQuery& query, const FunctionPattern& pattern, Span span,
                    const std::vector<size_t>& objects, const SearchTally& tally);

}  // namespace dj
