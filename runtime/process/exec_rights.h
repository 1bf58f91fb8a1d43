// SPDX-License-Identifier: Apache-2.0
// lost_by_tracing() tells which rights an exec would give a program that it does not give a traced
// one (execve(2), ptrace(2), capabilities(7)).
#pragma once
#include <fcntl.h>
#include <sys/types.h>

#include <string>

namespace dj {

// Returns "the setuid bit", "the setgid bit", "file capabilities", "the user id", "the group id"
// or "the capabilities of root": what thread `tid` has, or gets by the exec, and would not have
// afterwards if djtap traced it. Empty: nothing; or the program cannot be executed. path and
// folder: as the thread gives them to execveat(). Of a script it looks at the interpreter. Does not
// see what a security module (AppArmor, SELinux) gives.
std::string lost_by_tracing(pid_t tid, const std::string& path, int folder = AT_FDCWD);

}  // namespace dj
