// SPDX-License-Identifier: Apache-2.0
// For tests: small programs compiled on the location, and gdb as the judge of what a LocExpr
// yields.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "arch/x86_64/registers.h"
#include "compiler/base/target_file.h"
#include "compiler/debuginfo/debug_info.h"

namespace dj {

// What the shell command prints.
inline std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t n; pipe && (n = ::fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    text.append(buffer, n);
  }
  if (pipe) {
    ::pclose(pipe);
  }
  return text;
}

// A folder that goes away with its owner.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/djtap-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { (void)!::system(("rm -rf " + path).c_str()); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
    return path + "/" + name;
  }
  // Compiles `source` (a path) to path/name, which means that from now on, as in another session;
  // "" and a test failure if it does not compile.
  std::string build(const std::string& compiler, const std::string& source,
                    const std::string& name) const {
    std::string out = path + "/" + name;
    if (::system((compiler + " -w -o " + out + " " + source).c_str()) != 0) {
      ADD_FAILURE() << compiler << " cannot build " << source;
      return {};
    }
    forget_target_files();
    return out;
  }
};

// The address `nm` gives the symbol; 0: none.
inline uint64_t nm_address(const std::string& file, const std::string& symbol,
                           const char* flags = "") {
  std::istringstream lines(output_of("nm " + std::string(flags) + " " + file));
  std::string address, type, name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    words >> address >> type >> name;
    if (name.substr(0, name.find('@')) == symbol) {
      return std::strtoull(address.c_str(), nullptr, 16);
    }
  }
  return 0;
}

inline const char* gdb_sign(LocStep::Op op) {
  switch (op) {
    case LocStep::Mul:
      return " * ";
    case LocStep::And:
      return " & ";
    case LocStep::Or:
      return " | ";
    case LocStep::Shl:
      return " << ";
    case LocStep::Eq:
      return " == ";
    default:
      return " + ";
  }
}

// Steps that only move words about. True: done.
inline bool gdb_shuffle(const LocStep& step, std::vector<std::string>& stack) {
  switch (step.op) {
    case LocStep::Dup:
    case LocStep::Pick:
      stack.push_back(stack.at(stack.size() - 1 - static_cast<size_t>(step.a)));
      return true;
    case LocStep::Drop:
      stack.pop_back();
      return true;
    case LocStep::Swap:
      std::swap(stack.end()[-1], stack.end()[-2]);
      return true;
    case LocStep::Rot:
      std::rotate(stack.end() - 3, stack.end() - 1, stack.end());
      return true;
    default:
      return false;
  }
}

// A LocExpr of a non-PIE program as an expression for gdb. Only what these tests meet.
inline std::string gdb_expression(const LocExpr& expr) {
  static const char* const kTypes[2][9] = {
      {"", "unsigned char", "unsigned short", "", "unsigned int", "", "", "", "unsigned long"},
      {"", "signed char", "short", "", "int", "", "", "", "long"}};
  std::vector<std::string> stack;
  auto pop = [&] {
    std::string top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const LocStep& s : expr.steps) {
    switch (s.op) {
      case LocStep::PushReg:
        stack.push_back(std::string("(long)$") + arch::kRegNames[s.a]);
        break;
      case LocStep::PushConst:
        stack.push_back("(long)" + std::to_string(s.a));
        break;
      case LocStep::PushBias:
        stack.push_back("0");
        break;
      case LocStep::PushFsBase:
        stack.push_back("(long)$fs_base");
        break;
      case LocStep::Deref:
      case LocStep::StackDeref:
        stack.push_back(std::string("(long)*(") + kTypes[s.b][s.a] + "*)(" + pop() + ")");
        break;
      case LocStep::Extend:
        stack.push_back(std::string("(long)(") + kTypes[s.b][s.a] + ")(" + pop() + ")");
        break;
      case LocStep::Extract: {
        const std::string up = "(" + pop() + ") << " + std::to_string(64 - s.a - s.b);
        stack.push_back(std::string("(long)((") + (s.c ? "long" : "unsigned long") + ")(" + up +
                        ") >> " + std::to_string(64 - s.b) + ")");
        break;
      }
      case LocStep::Add:
      case LocStep::Mul:
      case LocStep::And:
      case LocStep::Or:
      case LocStep::Shl:
      case LocStep::Eq: {
        const std::string right = pop();
        stack.push_back("(" + pop() + gdb_sign(s.op) + right + ")");
        break;
      }
      case LocStep::Neg:
        stack.push_back("-(long)(" + pop() + ")");
        break;
      default:
        if (gdb_shuffle(s, stack)) break;
        ADD_FAILURE() << "no gdb form for " << to_string(expr);
        return "0";
    }
  }
  return stack.empty() ? "0" : stack.back();
}

// Runs the program under gdb to `address` and evaluates the expressions there.
inline std::vector<long> gdb_values(const Folder& folder, const std::string& program,
                                    uint64_t address, const std::vector<std::string>& expressions) {
  std::ostringstream script;
  script << "set confirm off\nset debuginfod enabled off\nbreak *" << address
         << "\nrun >/dev/null\n";
  for (const std::string& e : expressions) {
    script << "printf \"VALUE %ld\\n\", (long)(" << e << ")\n";
  }
  script << "kill\n";
  const std::string file = folder.file("script.gdb", script.str());
  std::istringstream lines(output_of("gdb -nx -batch -x " + file + " " + program + " 2>&1"));
  std::vector<long> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("VALUE ", 0) == 0) {
      values.push_back(std::strtol(line.c_str() + 6, nullptr, 10));
    }
  }
  return values;
}

}  // namespace dj
