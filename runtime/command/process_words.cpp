// SPDX-License-Identifier: Apache-2.0
// Splits the words, looks up names, and says what is wrong with each word.
#include "runtime/command/process_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "compiler/base/counted.h"
#include "compiler/diag/diag.h"
#include "runtime/output/messages.h"
#include "runtime/process/named_processes.h"

namespace dj {
namespace {

constexpr size_t kMostNamed = 5;  // of a list in a message
constexpr std::string_view kDigits = "0123456789";

std::vector<std::string> words_in(const std::string& text) {
  constexpr std::string_view kApart = " ,\n\t";
  std::vector<std::string> words;
  for (size_t begin = 0; (begin = text.find_first_not_of(kApart, begin)) != text.npos;) {
    const size_t end = std::min(text.find_first_of(kApart, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

// Negative ones and those that no kernel gives are numbers, too: no name is looked up for them.
bool is_number(const std::string& word) {
  const size_t sign = word.starts_with('-') || word.starts_with('+') ? 1 : 0;
  return word.size() > sign && word.find_first_not_of(kDigits, sign) == std::string::npos;
}

// 0: it is no number of a process.
pid_t process_number(const std::string& word) {
  constexpr size_t kMostDigits = 9;
  if (word.size() > kMostDigits || kDigits.find(word.front()) == kDigits.npos) return 0;
  return std::stoi(word);
}

std::string some_of(const std::vector<std::string>& all) {
  const auto shown = static_cast<ptrdiff_t>(std::min(all.size(), kMostNamed));
  const std::string rest = all.size() > kMostNamed ? ", ..." : "";
  return fmt::format("{}{}", fmt::join(all.begin(), all.begin() + shown, ", "), rest);
}

std::string reasons(const std::map<pid_t, Error>& errors) {
  std::vector<std::string> texts;
  for (const auto& [pid, error] : errors) texts.push_back(error.message);
  return some_of(texts);
}

bool exists(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

// MeantProcesses holds the processes that words mean, and the words that mean none.
struct MeantProcesses {
  std::vector<pid_t> pids;         // each once, in the order of the words
  std::vector<UsageError> wrong;   // one for each wrong word
  std::vector<std::string> lacks;  // for each name: which of its processes djtap may not trace
};

// MeantWords collects what the words of one option mean.
class MeantWords {
 public:
  // option: as in UsageError, or the command that takes the words. looks: whether a number must be
  // that of a process.
  MeantWords(std::string option, bool looks)
      : option_(std::move(option)), name_(option_.substr(0, option_.find(','))), looks_(looks) {}

  void add(const std::string& text) {
    const std::vector<std::string> words = words_in(text);
    if (words.empty())
      refuse({"DJ0003",
              option_,
              name_ + " takes processes, and this word is empty",
              {},
              "$(pidof NAME) is empty where no process has that name; -p NAME says so"},
             text);
    for (const std::string& word : words) add_word(text, words, word);
  }

  MeantProcesses take() { return std::move(meant_); }

 private:
  void refuse(UsageError wrong, const std::string& text) {
    if (!name_.starts_with('-') && !text.empty()) wrong.option = text;  // behind a command
    wrong.value = text;
    meant_.wrong.push_back(std::move(wrong));
  }

  void add_pid(pid_t pid) {
    if (std::ranges::find(meant_.pids, pid) == meant_.pids.end()) meant_.pids.push_back(pid);
  }

  void add_word(const std::string& text, const std::vector<std::string>& words,
                const std::string& word) {
    if (!is_number(word)) return add_name(text, words, word);
    const pid_t pid = process_number(word);
    if (pid != 0 && (!looks_ || exists(pid))) return add_pid(pid);
    if (pid != 0)
      return refuse({"DJ4001",
                     option_,
                     fmt::format("there is no process {}", pid),
                     {},
                     "leave it out, or name the program: -p NAME"},
                    text);
    refuse({"DJ0003",
            option_,
            fmt::format("{} takes processes, by a number above 0 or by name; not {}", name_, word),
            {},
            ""},
           text);
  }

  void refuse_untraceable(const std::string& text, const std::string& name,
                          const std::map<pid_t, Error>& why) {
    const std::string code = attach_code(why.begin()->second.kind);
    refuse({code,
            option_,
            fmt::format("no process called {} can be traced: {}", name, reasons(why)),
            {},
            "djtap --explain " + code},
           text);
  }

  void add_name(const std::string& text, const std::vector<std::string>& words,
                const std::string& name) {
    const NamedProcesses found = find_named_processes(name);
    for (const pid_t pid : found.pids) add_pid(pid);
    if (!found.pids.empty() && !found.left_out.empty())
      meant_.lacks.push_back(fmt::format("{} called {} cannot be traced and {} left out: {}",
                                         counted(found.left_out.size(), "process"), name,
                                         found.left_out.size() == 1 ? "is" : "are",
                                         reasons(found.left_out)));
    if (!found.pids.empty()) return;
    if (!found.left_out.empty()) return refuse_untraceable(text, name, found.left_out);
    refuse({"DJ4001", option_, fmt::format("there is no process called {}", name),
            instead(words, name), "ps -e lists names of processes"},
           text);
  }

  // What may be written instead of the words in which `name` is wrong.
  std::vector<std::string> instead(const std::vector<std::string>& words,
                                   const std::string& name) const {
    const std::vector<std::string> known = process_names();
    const std::string wanted = name.substr(name.rfind('/') + 1);
    std::vector<std::string> near = {wanted};  // of a path
    if (std::ranges::find(known, wanted) == known.end()) near = near_names(wanted, known);
    for (std::string& each : near) {
      std::vector<std::string> right = words;
      std::ranges::replace(right, name, each);
      each = fmt::format("{}{}", name_.starts_with('-') ? name_ + " " : "", fmt::join(right, ","));
    }
    return near;
  }

  std::string option_, name_;
  bool looks_;
  MeantProcesses meant_;
};

// Reports what is wrong but the last, which it throws.
std::vector<pid_t> pids_of(const CommandLine& line, MeantProcesses meant) {
  for (const std::string& lack : meant.lacks) report_warning("DJ4910", lack);
  if (meant.wrong.empty()) return std::move(meant.pids);
  UsageError last = std::move(meant.wrong.back());
  meant.wrong.pop_back();
  for (const UsageError& wrong : meant.wrong) report_usage(line, wrong);
  throw last;
}

// What is asked for of one process; empty: nothing is.
std::string asked_of_one(const Options& options) {
  if (options.action.doctor) return "doctor";
  if (options.action.dry_run) return "-n";
  if (options.action.language_server) return "--lsp";
  if (!options.list.pattern) return "";
  return options.list.source ? "--source" : options.list.variables ? "-L" : "-l";
}

}  // namespace

void set_processes(Options& options, const std::vector<std::string>& texts) {
  size_t words = 0;
  for (const std::string& text : texts) words += words_in(text).size();
  MeantWords meant("-p,-x", words > 1);
  for (const std::string& text : texts) meant.add(text);
  options.target.pids = pids_of(options.line, meant.take());
}

void set_cleaned(Options& options, const std::vector<std::string>& texts) {
  MeantWords meant("clean", false);
  for (const std::string& text : texts) meant.add(text);
  std::vector<pid_t>& cleaned = options.action.clean.pids;
  cleaned = pids_of(options.line, meant.take());
  for (const pid_t pid : options.target.pids) {
    if (std::ranges::find(cleaned, pid) == cleaned.end()) cleaned.push_back(pid);
  }
}

void check_one_process(const Options& options) {
  const std::string asked = asked_of_one(options);
  const std::vector<pid_t>& pids = options.target.pids;
  if (asked.empty() || pids.size() < 2) return;
  std::vector<std::string> numbers;
  for (const pid_t pid : pids) numbers.push_back(std::to_string(pid));
  throw UsageError{"DJ0004",
                   "-p,-x",
                   fmt::format("{} looks at one process, and -p means {}: {}", asked, pids.size(),
                               some_of(numbers)),
                   {},
                   fmt::format("name one of them: -p {}", pids.front())};
}

}  // namespace dj
