// The table of words that people bring along from C, Python, awk, bpftrace and the like.
#include "compiler/other_words.h"

namespace dj {
namespace {

struct Row {
  std::string_view word, ours;
};

constexpr Row kRows[] = {
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
    {"raise", "error(\"text\")"},
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
};

}  // namespace

std::string help_for_other_word(std::string_view word) {
  for (const Row& row : kRows) {
    if (row.word == word) return "in djtap: " + std::string(row.ours);
  }
  return "";
}

}  // namespace dj
