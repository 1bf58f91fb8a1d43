// SPDX-License-Identifier: Apache-2.0
// First the places in the arena, then the code that has them in it.
#include "runtime/run/compile_for.h"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/base/counted.h"
#include "compiler/debuginfo/call_frames.h"
#include "compiler/stages/debug_servers.h"
#include "compiler/stages/stack_info.h"
#include "runtime/kernel/kernel_target.h"
#include "runtime/output/progress.h"
#include "runtime/patch/hooks.h"
#include "runtime/patch/patch_cache.h"
#include "runtime/patch/tail_calls.h"
#include "runtime/run/handler_cache.h"
#include "runtime/run/show.h"
#include "runtime/target/process/process_target.h"

namespace dj {
namespace {

// Where globals and stack tables lie in this target, and what else its code depends on there.
Status lay_out_for(const Limits& limits, FoundTarget& target, ModuleCodes& codes,
                   Compiled& compiled, StageClock& clock) {
  std::optional<TracedProcess>& process = target.process;
  if (process) {
    DJ_TRY_DO(process->find_rseq());
    std::string why;
    const bool has_rseq = can_trust_rseq(process->rseq_registered, process->modules, codes, &why);
    DJ_TRY(compiled.facts, process->facts(has_rseq));
    clock.done("rseq", has_rseq ? "" : why);
  }
  if (target.kernel) compiled.facts = KernelTarget::kernel_facts();
  if (target.is_there()) {
    find_exits(compiled.plan, target.modules(), compiled.facts.keeps_calls, codes);
    clock.done("exits");
  }
  uint32_t cpus = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF));
  if (process && walks_stack(compiled.program)) {
    auto frames = static_cast<uint32_t>(limits.max_backtrace);
    bool lines = names_lines(compiled.program);
    auto read = [lines](const std::string& path) { return read_stack_info(path, lines); };
    compiled.stacks.emplace(process->modules, read, frames, has_room_for_more(compiled.plan));
    clock.done("stacks", fmt::format("{} kB of tables", compiled.stacks->bytes().size() >> 10));
  }
  auto lay = [&](uint64_t base) {
    return lay_out(compiled.program, compiled.plan, limits, cpus, base,
                   compiled.stacks ? compiled.stacks->room() : 0);
  };
  const ArenaPlace place = arena_place(lay(kNominalBase));
  DJ_TRY(uint64_t base, find_arena_base(process ? &*process : nullptr, place.end() - place.base));
  compiled.layout = lay(base);
  return ok_status();
}

// Plan to code.
Status compile(const StageChoices& stages, ModuleCodes& codes, Compiled& compiled,
               StageClock& clock) {
  EmitOptions emit;
  emit.abi.has_rseq = compiled.facts.has_rseq;
  emit.want_ir = stages.dump.count("ir") > 0;
  emit.want_assembly = stages.dump.count("asm") > 0;
  const ObjectCache kept = handler_cache(codes);
  if (codes.file_cache().keeps()) emit.kept = &kept;
  DJ_TRY(compiled.image,
         lower(compiled.program, compiled.plan, compiled.layout, emit, compiled.abis));
  show_stage(stages, "ir", compiled.image.ir);
  show_stage(stages, "asm", compiled.image.assembly);
  clock.done("lower", fmt::format("{}{}", counted(compiled.plan.handlers.size(), "handler"),
                                  compiled.image.is_cached ? ", kept" : ""));
  return ok_status();
}

int compile_failure(const Error& error) {
  return error.kind == Fail::Unsupported ? fail(kExitScript, "DJ3015", error.message)
                                         : fail(kExitRun, "DJ5013", error.message);
}

}  // namespace

std::optional<int> compile_for(FoundTarget& target, const Limits& limits,
                               const StageChoices& stages, ModuleCodes& codes, Compiled& compiled,
                               StageClock& clock) {
  if (!target.is_there() && !compiled.plan.sites.empty())
    return fail(kExitScript, "DJ3006",
                "the script probes a program, but there is none: give -c 'command' or -p PID");
  Status laid_out = lay_out_for(limits, target, codes, compiled, clock);
  if (!laid_out.ok()) return fail_attach(laid_out.error());
  // From here on, every global has its address.

  Status done = compile(stages, codes, compiled, clock);
  if (!done.ok()) return compile_failure(done.error());
  return std::nullopt;
}

void plan_patches_for(const FoundTarget& target, const StageChoices& stages, ModuleCodes& codes,
                      Compiled& compiled, StageClock& clock) {
  ask_debug_servers_beside();
  // Of a kernel's functions no more is moved than the jump takes: other tools have probes in the
  // rest.
  const std::vector<bool> counting =
      target.kernel ? std::vector<bool>() : counting_handlers(compiled.abis, compiled.patching);
  const PatchInput input = {.plan = compiled.plan,
                            .modules = target.modules(),
                            .options = compiled.patching,
                            .facts = compiled.facts,
                            .counting = counting};
  compiled.patches =
      with_progress("analysing machine code", [&] { return find_patches(input, codes); });
  clock.done("patches");
  if (stages.dump.count("patches"))
    show_stage(stages, "patches", dump(compiled.patches, target.modules()));
}

}  // namespace dj
