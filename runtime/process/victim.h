// SPDX-License-Identifier: Apache-2.0
// Victim runs a C program that a test has compiled. (Tests only.)
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace dj {

// A new folder in /tmp that goes with the process that made it, not with its forked children.
class VictimFolder {
 public:
  VictimFolder() {
    char name[] = "/tmp/djtap-victim-XXXXXX";
    if (mkdtemp(name) == nullptr || chmod(name, 0755) != 0) abort();
    path_ = name;
  }
  ~VictimFolder() {
    std::error_code ignored;
    if (getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  pid_t owner_ = getpid();
};

// Compiles `source` and returns the path of the program; the same source is compiled once per test
// run.
inline std::string compile_victim(const std::string& source,
                                  const std::string& flags = "-O1 -pthread") {
  static const VictimFolder folder;
  std::string path =
      folder.path() + "/v" + std::to_string(std::hash<std::string>()(source + flags));
  if (access(path.c_str(), X_OK) != 0) {
    std::ofstream(path + ".c") << source;
    if (system(("gcc " + flags + " -o " + path + " " + path + ".c").c_str()) != 0) {
      abort();
    }
  }
  return path;
}

// A running program whose standard output is read by the test. Killed when the test ends.
class Victim {
 public:
  explicit Victim(const std::vector<std::string>& argv) {
    int ends[2], input[2];
    if (pipe(ends) != 0 || pipe(input) != 0) {
      abort();
    }
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies leaves nothing behind
      dup2(ends[1], 1);
      dup2(input[0], 0);
      close(ends[0]);
      close(input[1]);
      std::vector<char*> words;
      for (const std::string& word : argv) {
        words.push_back(const_cast<char*>(word.c_str()));
      }
      words.push_back(nullptr);
      execvp(words[0], words.data());
      _exit(127);
    }
    close(ends[1]);
    close(input[0]);
    out_ = ends[0];
    in_ = input[1];
  }
  ~Victim() {
    if (pid_ != 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(in_);
  }
  pid_t pid() const { return pid_; }
  // One line of its output, without the newline.
  std::string line() const {
    std::string text;
    for (char c; read(out_, &c, 1) == 1 && c != '\n';) {
      text += c;
    }
    return text;
  }
  void say(const std::string& text) const {
    static_cast<void>(!write(in_, text.data(), text.size()));
  }
  void close_input() {
    close(in_);
    in_ = -1;
  }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1, in_ = -1;
};

}  // namespace dj
