// SPDX-License-Identifier: Apache-2.0
// SIGPROF is not among them: it is a clock of djtap's own (LuaWatch).
#include "runtime/output/ending_signals.h"

namespace dj {
namespace {

constexpr int kAlways[] = {SIGINT, SIGTERM};
constexpr int kUnlessIgnored[] = {SIGHUP,  SIGQUIT,   SIGALRM, SIGUSR1, SIGUSR2,
                                  SIGXCPU, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};

void add_unless_ignored(sigset_t& signals, int signal) {
  struct sigaction now = {};
  sigaction(signal, nullptr, &now);
  if (now.sa_handler != SIG_IGN) sigaddset(&signals, signal);
}

}  // namespace

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : kAlways) sigaddset(&signals, signal);
  for (int signal : kUnlessIgnored) add_unless_ignored(signals, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) add_unless_ignored(signals, signal);
  return signals;
}

}  // namespace dj
