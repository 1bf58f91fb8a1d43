# SPDX-License-Identifier: Apache-2.0
"""What is larger, or knows more of processes, than test_naughty.py allows. The lists can only become shorter."""

# "path:function" with more than 6 parameters.
MANY_PARAMETERS = {
    "compiler/check/binder.cpp:Binder::Binder",
    "compiler/check/lint.cpp:lint_local",
    "compiler/debuginfo/dwfl_file.cpp:DwflFile::find_debug_info",
    "compiler/debuginfo/location_lists.cpp:next_location",
    "compiler/debuginfo/segment_sections.cpp:SectionMaker::add",
    "compiler/resolve/probe_statement.cpp:add",
    "runtime/agent/ask.h:ask_kernel",
    "runtime/agent/foreach.cpp:dj_foreach_begin",
    "runtime/agent/syscall.h:raw_syscall",
    "runtime/memory/session_memory.cpp:SessionMemory::create",
    "runtime/memory/session_memory.cpp:SessionMemory::create_more",
    "runtime/run/check_script.cpp:check_against",
    "runtime/run/run_session.cpp:run_session",
}

# "path:class" with more than 12 data members. abi.h's, context.h's and the other structures of runtime/shared are the arena's layout.
MANY_MEMBERS = {
    "arch/x86_64/decode.h:Head",
    "arch/x86_64/exits.cpp:ExitFinder",
    "arch/x86_64/safety.h:Region",
    "arch/x86_64/text.h:ModuleText",
    "compiler/check/notes.h:Notes",
    "compiler/debuginfo/debuginfod.cpp:Request",
    "compiler/debuginfo/dwarf_index.h:DwarfIndex",
    "compiler/debuginfo/module.h:Module",
    "compiler/debuginfo/pattern.h:NameMatcher",
    "compiler/lower/unit.h:Unit",
    "compiler/resolve/resolve.cpp:Resolver",
    "compiler/stages/layout.h:Layout",
    "compiler/stages/plan.h:Plan",
    "compiler/stages/plan.h:Site",
    "compiler/stages/program.h:Global",
    "compiler/tapset/library.h:TapsetLibrary",
    "runtime/command/options.h:Options",
    "runtime/doctor/patient.h:Patient",
    "runtime/install/install.h:Installation",
    "runtime/output/drain.cpp:Drain::State",
    "runtime/patch/kept_detours.cpp:KeptDetours::Row",
    "runtime/patch/kept_patches.cpp:PlaceRow",
    "runtime/patch/patch.h:PatchSite",
    "runtime/process/map_query.cpp:Query",
    "runtime/process/mapped_module.h:MappedModule",
    "runtime/run/run_session.cpp:Tracing",
    "runtime/session/jit_watch.h:JitWatch",
    "runtime/session/monitor.h:Monitor",
    "runtime/session/session.h:Session",
    "runtime/session/stack_tables.h:StackTables",
    "runtime/shared/abi.h:Header",
    "runtime/shared/context.h:Context",
    "runtime/shared/map.h:Map",
    "runtime/shared/task.h:Task",
    "runtime/shared/thread_table.h:ThreadTable",
    "runtime/shared/unwind.h:StackModule",
    "runtime/text/journal.h:JournalHeader",
    "stdlib/build_id.cpp:FileHeader",
}

# {folder: how many of its files name the word}.
WORDS = {
    "pid_t": {"runtime/clean": 9, "runtime/install": 7, "runtime/memory": 13, "runtime/run": 10,
              "runtime/session": 12, "runtime/text": 8},
    "Stopped": {"runtime/clean": 5, "runtime/doctor": 2, "runtime/install": 11, "runtime/memory": 12, "runtime/run": 1,
                "runtime/session": 10, "runtime/text": 10},
    "user_regs_struct": {"runtime/clean": 2, "runtime/memory": 3, "runtime/session": 4, "runtime/text": 1},
    '"/proc': {"compiler/base": 2, "compiler/debuginfo": 1, "runtime/clean": 2, "runtime/doctor": 1, "runtime/memory": 3,
               "runtime/patch": 1, "runtime/run": 3, "runtime/session": 3, "stdlib": 1},
}

# Variables of compiler/lower that change while djtap runs: LLVM's description of the processor, made once, and the lock around its use.
MUTABLE = {
    "compiler/lower/emit.cpp:error",
    "compiler/lower/emit.cpp:machine_use",
}
