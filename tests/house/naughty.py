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
    "pid_t": {"runtime/run": 7, "runtime/session": 2},
    "Stopped": {"runtime/run/doctor": 2, "runtime/run": 1},
    '"/proc': {"compiler/base": 2, "compiler/debuginfo": 1, "runtime/run/doctor": 1, "runtime/patch": 1, "runtime/run": 3, "runtime/session": 1,
               "stdlib": 1},
}
