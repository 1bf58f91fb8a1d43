// SPDX-License-Identifier: Apache-2.0
// What is typed is checked before it is kept, so that a run fails on nothing that was known before.
#include "runtime/run/interactive.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "compiler/parse/tidy.h"
#include "runtime/output/messages.h"
#include "runtime/run/check_script.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/show.h"

extern char** environ;

namespace dj {
namespace {

// How many more brackets are opened than closed, outside of texts.
int open_brackets(const std::string& text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
    } else {
      depth += text[i] == '{' || text[i] == '(' ? 1 : text[i] == '}' || text[i] == ')' ? -1 : 0;
    }
  }
  return depth;
}

class Prompt {
 public:
  Prompt(const std::vector<std::string>& words, const TargetChoices& target,
         const NeededFiles& files, CheckText check)
      : words_(words), target_(target), files_(files), check_(std::move(check)) {}

  int serve() {
    for (std::string line; !quit_ && read(line);) {
      const size_t space = line.find(' ');
      const auto found = commands_.find(line.substr(0, space));
      if (found != commands_.end()) {
        found->second.act(space == std::string::npos ? "" : line.substr(space + 1));
      } else if (line.find_first_not_of(" \t") != std::string::npos) {
        add(line);
      }
    }
    return last_;
  }

 private:
  struct Command {
    const char* help;
    std::function<void(const std::string& word)> act;
  };

  // A line, and those behind it until all brackets are closed. False: there is no more.
  bool read(std::string& line) {
    if (!read_one("djtap> ", line)) return false;
    for (std::string more; open_brackets(line) > 0 && read_one("   ... ", more);)
      line += "\n" + more;
    return true;
  }
  bool read_one(const char* prompt, std::string& line) {
    if (isatty(STDIN_FILENO) != 0) {
      show(prompt);
      fflush(stdout);
    }
    return static_cast<bool>(std::getline(std::cin, line));
  }

  // Kept where the script is right with it; else what is wrong is said.
  void add(const std::string& item) {
    const std::string whole = script_ + item + "\n";
    if (!target_.pids.empty() ? is_right_for_equal(whole) : is_right(whole)) script_ = whole;
  }

  bool is_right(const std::string& script) {
    Sources sources;
    Diags diags;
    check_(sources, sources.add("<prompt>", script), diags);
    report_all(diags, sources);
    return diags.ok();
  }

  // Verdicts in a child that has no more rights than the target: the prompt keeps its own for the
  // runs.
  bool is_right_for_equal(const std::string& script) {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      const bool right = !give_up_rights(target_, files_) && is_right(script);
      fflush(nullptr);
      _exit(right ? 0 : 1);
    }
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
  }

  void load(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    if (path.empty() || !file || !(text << file.rdbuf())) {
      report_error("DJ0007", fmt::format("load: cannot read \"{}\"", path));
    } else {
      add(text.str());
    }
  }

  void save(const std::string& path) {
    std::ofstream file(path);
    if (path.empty() || !(file << script_ << std::flush))
      report_error("DJ0007", fmt::format("save: cannot write \"{}\"", path));
  }

  void list() {
    Sources sources;
    Diags diags;
    show_script(tidy(sources, sources.add("<prompt>", script_), diags));
    fflush(stdout);
  }

  // Ctrl-C ends the run, not the prompt.
  void run() {
    std::vector<std::string> words = {"djtap", "-e", script_};
    words.insert(words.end(), words_.begin(), words_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    const auto before = signal(SIGINT, SIG_IGN);
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &interrupt);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    pid_t pid = 0;
    int status = 0;
    if (posix_spawn(&pid, "/proc/self/exe", nullptr, &how, argv.data(), environ) != 0) {
      report_error("DJ5013", "cannot start djtap");
    } else if (waitpid(pid, &status, 0) == pid) {
      last_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    posix_spawnattr_destroy(&how);
    signal(SIGINT, before);
  }

  void help() {
    std::string text;
    for (const auto& [name, command] : commands_)
      text += fmt::format("{:<12} {}\n", name, command.help);
    show(text +
         fmt::format("{:<12} {}\n", "else", "an item of the script: probe begin { println(1) }"));
    fflush(stdout);
  }

  // To add a command: a row.
  const std::map<std::string, Command> commands_ = {
      {"clear", {"begin anew", [this](const std::string&) { script_.clear(); }}},
      {"exit", {"leave", [this](const std::string&) { quit_ = true; }}},
      {"help", {"these lines", [this](const std::string&) { help(); }}},
      {"list", {"the script, in tidy form", [this](const std::string&) { list(); }}},
      {"load", {"FILE: add what stands there", [this](const std::string& path) { load(path); }}},
      {"quit", {"leave, too", [this](const std::string&) { quit_ = true; }}},
      {"run", {"run the script; Ctrl-C ends it", [this](const std::string&) { run(); }}},
      {"save", {"FILE: write the script there", [this](const std::string& path) { save(path); }}},
  };
  const std::vector<std::string>& words_;  // of the command line of each run
  const TargetChoices& target_;
  const NeededFiles& files_;
  CheckText check_;
  std::string script_;
  bool quit_ = false;
  int last_ = 0;  // exit code
};

}  // namespace

int run_interactively(const std::vector<std::string>& words, const ScriptChoices& script,
                      const TargetChoices& target, size_t many, const NeededFiles& files) {
  return Prompt(words, target, files,
                [&](Sources& sources, uint32_t file, Diags& diags) {
                  check_script(script, target, many, sources, file, diags);
                })
      .serve();
}

}  // namespace dj
