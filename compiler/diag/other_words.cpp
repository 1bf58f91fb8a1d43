// SPDX-License-Identifier: Apache-2.0
// The table of words that people bring along from C, Python, awk, bpftrace and the like.
#include "compiler/diag/other_words.h"

namespace dj {
namespace {

struct OtherWord {
  std::string_view word, ours;
};

constexpr OtherWord kOtherWords[] = {
    // operators and statements
    {"and", "&&"},
    {"or", "||"},
    {"not", "!"},
    {"of", "foreach (key in array)"},
    {"elif", "else if"},
    {"elsif", "else if"},
    {"elseif", "else if"},
    {"switch", "a chain of if and else if"},
    {"case", "a chain of if and else if"},
    {"loop", "while (1) { statements }"},
    {"throw", "error(\"text\")"},
    {"raise", "error(\"text\") ends the handler; the program is sent no signals"},
    // items
    {"def", "function name(parameters) { statements }"},
    {"fn", "function name(parameters) { statements }"},
    {"sub", "function name(parameters) { statements }"},
    {"var", "global name, outside of the probes"},
    {"let", "global name, outside of the probes"},
    {"import", "-I FOLDER on the command line: tapsets are found by themselves"},
    {"include", "-I FOLDER on the command line: tapsets are found by themselves"},
    {"BEGIN", "probe begin { statements }"},
    {"END", "probe end { statements }"},
    {"interval", "probe timer.s(1) { statements }"},
    {"uprobe", "probe func(\"name\") { statements }"},
    {"uretprobe", "probe func(\"name\").return { statements }"},
    {"usdt", "probe process.mark(\"name\") { statements }"},
    // functions
    {"puts", "println(value)"},
    {"echo", "println(value)"},
    {"fprintf", "printf(\"format\", values)"},
    {"len", "strlen(string)"},
    {"length", "strlen(string)"},
    {"atoi", "strtol(string, 10)"},
    {"strtoul", "strtol(string, 10)"},
    {"str", "sprint(value), and user_string(address) for a string of the program"},
    {"itoa", "sprint(value)"},
    {"tostring", "sprint(value)"},
    {"strcmp", "== between strings"},
    {"strstr", "isinstr(string, part)"},
    {"strcat", ". between strings"},
    {"comm", "execname()"},
    // functions of SystemTap that djtap does otherwise
};

// SystemTap's functions that mean the kernel, by how their names begin.
constexpr OtherWord kKernel[] = {
    {"kernel_",
     "the kernel's memory cannot be read; user_string(), user_int() and their kin read the "
     "program's"},
    {"set_kernel_", "the kernel's memory cannot be written"},
    {"set_user_", "djtap changes nothing in the program"},
    {"set_returnval", "djtap changes nothing in the program"},
    {"set_int_arg", "djtap changes nothing in the program"},
    {"set_uint_arg", "djtap changes nothing in the program"},
    {"set_long_arg", "djtap changes nothing in the program"},
    {"set_ulong_arg", "djtap changes nothing in the program"},
    {"set_pointer_arg", "djtap changes nothing in the program"},
    {"set_longlong_arg", "djtap changes nothing in the program"},
    {"set_ulonglong_arg", "djtap changes nothing in the program"},
    {"set_s32_arg", "djtap changes nothing in the program"},
    {"set_s64_arg", "djtap changes nothing in the program"},
    {"set_u32_arg", "djtap changes nothing in the program"},
    {"set_u64_arg", "djtap changes nothing in the program"},
    {"task_dentry_path", "paths of the kernel are out of reach; see proc_text(tid(), \"maps\")"},
    {"d_path", "the kernel's structures are out of reach; proc_text() reads files of /proc"},
    {"d_name", "the kernel's structures are out of reach; proc_text() reads files of /proc"},
    {"inode_", "the kernel's structures are out of reach; proc_text() reads files of /proc"},
    {"fullpath_struct_",
     "the kernel's structures are out of reach; proc_text() reads files of /proc"},
    {"printk", "warn(\"text\") and log(\"text\"): the kernel's log is out of reach"},
    {"ftrace", "log(\"text\"): the kernel's trace buffer is out of reach"},
    {"dump_stack", "print_ubacktrace(): the program's stack; the kernel's is out of reach"},
    {"panic", "exit(): djtap cannot stop the kernel"},
    {"mdelay", "djtap does not delay the program"},
    {"udelay", "djtap does not delay the program"},
    {"task_backtrace", "ubacktrace(): the stack of the thread that runs the handler"},
    {"atomic_", "user_int(address): variables of the program"},
    {"stack_used", "register(\"rsp\"): the kernel's stacks are out of reach"},
    {"stack_unused", "register(\"rsp\"): the kernel's stacks are out of reach"},
    {"stack_size", "register(\"rsp\"): the kernel's stacks are out of reach"},
};

}  // namespace

std::string help_for_other_word(std::string_view word) {
  for (const OtherWord& row : kOtherWords) {
    if (row.word == word) return "in djtap: " + std::string(row.ours);
  }
  return "";
}

std::string help_for_kernel_word(std::string_view word) {
  for (const OtherWord& row : kKernel) {
    if (word.starts_with(row.word))
      return "needs the kernel in SystemTap; in djtap: " + std::string(row.ours);
  }
  return "";
}

}  // namespace dj
