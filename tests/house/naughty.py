# SPDX-License-Identifier: Apache-2.0
"""What is larger, or knows more of processes, than test_naughty.py allows. The lists can only become shorter."""

# What others prescribe, with who does: neither list is one of faults. "path:function" and "path:class".
PRESCRIBED_PARAMETERS = {
    "compiler/debuginfo/dwfl_file.cpp:DwflFile::find_debug_info": "a callback of libdwfl",
    "runtime/agent/ask.h:ask_kernel": "a system call has a number and six arguments",
    "runtime/agent/syscall.h:raw_syscall": "a system call has a number and six arguments",
}
PRESCRIBED_MEMBERS = {
    "runtime/detours/detour_cache.cpp:CachedDetours::Row": "a row of a file",
    "runtime/patch/patch_cache.cpp:PlaceRow": "a row of a file",
    "runtime/process/map_query.cpp:Query": "the kernel's struct procmap_query",
    "runtime/shared/abi.h:Header": "the arena's first bytes",
    "runtime/shared/context.h:Context": "memory of the agent and of generated code",
    "runtime/shared/map.h:Map": "memory of the agent and of generated code",
    "runtime/shared/task.h:Task": "memory of the agent",
    "runtime/shared/thread_table.h:ThreadTable": "memory of the agent",
    "runtime/shared/unwind.h:StackModule": "a row of tables in the arena",
    "runtime/text/journal.h:JournalHeader": "the first bytes of a file that other processes read",
    "stdlib/build_id.cpp:FileHeader": "the header of an ELF file",
}

# "path:class" with more than 12 data members.
MANY_MEMBERS = {
    "arch/x86_64/decode.h:Head",
    "arch/x86_64/safety.h:Region",
    "arch/x86_64/text.h:ModuleText",
    "compiler/stages/plan.h:Plan",
    "compiler/stages/plan.h:Site",
    "runtime/patch/patch.h:PatchSite",
    "runtime/process/mapped_module.h:MappedModule",
}

# {folder: how many of its files name the word}.
WORDS = {
    "pid_t": {"runtime/clean": 9, "runtime/install": 7, "runtime/memory": 13, "runtime/run": 9,
              "runtime/session": 2, "runtime/text": 7},
    "Stopped": {"runtime/clean": 5, "runtime/run/doctor": 2, "runtime/install": 11, "runtime/memory": 12, "runtime/run": 1,
                "runtime/text": 8},
    "user_regs_struct": {"runtime/clean": 2, "runtime/memory": 3, "runtime/text": 1},
    '"/proc': {"compiler/base": 2, "compiler/debuginfo": 1, "runtime/clean": 2, "runtime/run/doctor": 1, "runtime/memory": 3,
               "runtime/patch": 1, "runtime/run": 3, "runtime/session": 1, "stdlib": 1},
}

# Files in which scripts/tidy finds something. The test looks at some files only, so it cannot tell when an entry is no longer needed.
UNTIDY = {
    "arch/x86_64/whole_function_test.cpp",
    "compiler/debuginfo/sdt.cpp",
    "compiler/debuginfo/struct_name.cpp",
    "compiler/debuginfo/text.cpp",
    "compiler/debuginfo/typed_stack.cpp",
    "compiler/debuginfo/types.cpp",
    "compiler/parse/fuzz_test.cpp",
    "compiler/parse/script_options.cpp",
    "compiler/resolve/liveness.cpp",
    "compiler/resolve/probe_inside.cpp",
    "compiler/resolve/resolve_test.cpp",
    "compiler/stages/walk.h",
    "compiler/tapset/library.cpp",
    "runtime/agent/builtins_test.cpp",
    "runtime/agent/capture.cpp",
    "runtime/agent/counters_test.cpp",
    "runtime/agent/events_test.cpp",
    "runtime/agent/forged_test.cpp",
    "runtime/agent/own_stack.cpp",
    "runtime/agent/regex.cpp",
    "runtime/agent/rseq.h",
    "runtime/agent/stat_derived.h",
    "runtime/agent/text_builtins_test.cpp",
    "runtime/agent/thread_rows_test.cpp",
    "runtime/command/help.h",
    "runtime/install/install.cpp",
    "runtime/install/led_jumps.cpp",
    "runtime/lua/lua_values.cpp",
    "runtime/lua/lua_watch.cpp",
    "runtime/lua/sandbox.h",
    "runtime/memory/debug_object.cpp",
    "runtime/detours/detour_notes.cpp",
    "runtime/memory/target_maps.cpp",
    "runtime/output/output.cpp",
    "runtime/output/progress.cpp",
    "runtime/patch/build_id.cpp",
    "runtime/process/process.cpp",
    "runtime/process/remote_map.cpp",
    "runtime/process/stopped_test.cpp",
    "runtime/process/trace_requests.cpp",
    "runtime/run/check_script.cpp",
    "runtime/session/jit_code_test.cpp",
    "runtime/session/session.cpp",
    "runtime/session/stack_tables.cpp",
    "runtime/session/stack_tables_test.cpp",
    "runtime/text/text_image.cpp",
    "stdlib/memory.cpp",
}
