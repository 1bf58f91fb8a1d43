// A start of djtap as far as the check.
#include "runtime/run/check_script.h"

#include <memory>

#include "compiler/check/check.h"
#include "compiler/parse/parse.h"
#include "compiler/resolve/target_index.h"
#include "compiler/tapset/library.h"
#include "runtime/lua/lua_tapset.h"
#include "runtime/run/expand.h"

namespace dj {

void check_script(const Options& options, Sources& sources, uint32_t file, Diags& diags) {
  const std::unique_ptr<TargetIndex> index = make_target_index({});  // there is no target
  TypePrinters printers;
  TapsetLibrary library(sources, tapset_folders(options.include),
                        run_lua_tapsets(
                            sources, [&] { return index.get(); }, printers));
  ScriptOptions script_options{options.script_options, options.own_names, {}};
  const ParseOptions parsing{options.script_args,
                             [&](const std::string& macro) { return library.macro_file(macro); },
                             &script_options};
  ast::Script script = parse(sources, file, parsing, diags);
  if (diags.ok()) library.complete(script, diags);
  if (diags.ok()) expand(options, script, sources, diags);
  if (diags.ok())
    check(script, {options.strict || sources.files.at(file).name.ends_with(".stp")}, diags);
}

}  // namespace dj
