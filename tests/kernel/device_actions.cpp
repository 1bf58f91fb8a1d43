// SPDX-License-Identifier: Apache-2.0
// What tests of the kernel module do in a guest where that is too much for Python. Each action
// prints a line of JSON.
//
//   device_actions many MOST SECONDS       arms functions of the kernel under load; closing ends it
//   device_actions killed TIMES SEED       sessions that die at random moments
//   device_actions counts MODULE NAME COMMAND   counts a function of a module during a command
//   device_actions module MODULE COMMAND   arms a module's functions and runs a command
//   device_actions removed MODULE          arms a module's functions and removes the module
//   device_actions churn MODULE FILE TIMES
//       arms while another process removes and loads the module
//   device_actions stale MODULE FILE NAME COMMAND
//       arms a function, loads its module again, and arms it with another detour
//   device_actions refused MODULE          places of a module that must not be probed
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>

#include "tests/kernel/device_plan.h"

namespace dj {
namespace {

using Words = std::vector<std::string>;
constexpr size_t kMany = 1 << 17;

size_t count_of(const std::vector<uint8_t>& answers, djtap_answer wanted) {
  return size_t(std::ranges::count(answers, uint8_t(wanted)));
}

void sleep_ms(uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Names of the sites whose text is not what it was, as JSON.
std::string different(const DevicePlan& plan, const std::vector<std::vector<uint8_t>>& before) {
  const auto now = plan.text();
  std::string names;
  for (size_t i = 0; i < now.size(); i++) {
    if (now[i] == before[i]) continue;
    names += (names.empty() ? "\"" : ", \"") + plan.entries()[i].name + "\"";
  }
  return "[" + names + "]";
}

pid_t start(const char* command) {
  const pid_t child = fork();
  if (child != 0) return child;
  execl("/bin/sh", "sh", "-c", command, nullptr);
  _exit(127);
}

void stop(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

int many(const Words& words) {
  Device device;
  const DevicePlan plan(device, movable_entries("", {}, std::stoul(words[0])));
  const auto before = plan.text();
  const pid_t load = start("while :; do /bin/true; cat /proc/self/stat; done >/dev/null");
  const auto answers = plan.arm();
  sleep_ms(std::stoul(words[1]) * 1000);
  const uint64_t count = plan.count();
  device.close();
  stop(load);
  std::printf("{\"sites\": %zu, \"answers\": %s, \"count\": %lu, \"different\": %s}\n",
              plan.sites().size(), tally(answers).c_str(), count, different(plan, before).c_str());
  return 0;
}

[[noreturn]] void arm_for_ever(const std::vector<Entry>& entries, int ready) {
  Device device;
  const DevicePlan plan(device, entries);
  std::vector<uint8_t> answers;
  if (write(ready, "x", 1) != 1) fail("pipe");
  for (;;) {
    plan.arm();
    plan.disarm(answers);
  }
}

int killed(const Words& words) {
  constexpr uint64_t kLongestMs = 1500;
  std::mt19937_64 chance(std::stoul(words[1]));
  const std::vector<Entry> entries = movable_entries("", {}, 500);
  std::vector<std::vector<uint8_t>> before;
  std::string wrong = "[]";
  for (unsigned long i = 0; i < std::stoul(words[0]) && wrong == "[]"; i++) {
    int ends[2];
    if (pipe(ends) != 0) fail("pipe");
    const pid_t child = fork();
    if (child == 0) arm_for_ever(entries, ends[1]);
    char ready = 0;
    close(ends[1]);
    if (read(ends[0], &ready, 1) != 1) fail("the session did not begin");
    close(ends[0]);
    sleep_ms(chance() % kLongestMs);
    stop(child);
    Device device;  // the next session works
    const DevicePlan plan(device, entries);
    if (before.empty()) before = plan.text();
    wrong = different(plan, before);
  }
  std::printf("{\"sites\": %zu, \"different\": %s}\n", entries.size(), wrong.c_str());
  return 0;
}

int counts(const Words& words) {
  Device device;
  const DevicePlan plan(device, movable_entries(words[0], {words[1]}, 1));
  const auto before = plan.text();
  std::vector<uint8_t> answers = plan.arm();
  const bool armed = count_of(answers, DJTAP_ARMED) == 1 && plan.text() != before;
  const int status = std::system(words[2].c_str());
  const uint64_t count = plan.count();
  const uint32_t kept = plan.disarm(answers);
  std::printf("{\"armed\": %d, \"status\": %d, \"count\": %lu, \"kept\": %u, \"different\": %s}\n",
              armed, status, count, kept, different(plan, before).c_str());
  return 0;
}

int whole_module(const Words& words) {
  Device device;
  const DevicePlan plan(device, movable_entries(words[0], {}, kMany));
  const auto before = plan.text();
  const auto answers = plan.arm();
  const int status = std::system(words[1].c_str());
  const uint64_t count = plan.count();
  device.close();
  std::printf(
      "{\"sites\": %zu, \"answers\": %s, \"status\": %d, \"count\": %lu, \"different\": %s}\n",
      plan.sites().size(), tally(answers).c_str(), status, count, different(plan, before).c_str());
  return 0;
}

// The kernel's own places, armed in the same call, stay until they are taken out.
int removed(const Words& words) {
  Device device;
  std::vector<Entry> entries = movable_entries("", {}, 20);
  const size_t own = entries.size();
  std::ranges::copy(movable_entries(words[0], {}, kMany), std::back_inserter(entries));
  const DevicePlan plan(device, entries);
  const auto armed = plan.arm();
  const int status = std::system(("busybox rmmod " + words[0]).c_str());
  std::vector<uint8_t> answers;
  const uint32_t kept = plan.disarm(answers);
  const std::vector<uint8_t> kernels(answers.begin(), answers.begin() + long(own)),
      modules(answers.begin() + long(own), answers.end());
  std::printf("{\"armed\": %s, \"status\": %d, \"kept\": %u, \"kernel\": %s, \"module\": %s}\n",
              tally(armed).c_str(), status, kept, tally(kernels).c_str(), tally(modules).c_str());
  return 0;
}

// The module goes while it is read, armed, in use, and disarmed.
int churn(const Words& words) {
  const std::string cycle = "busybox rmmod " + words[0] + " && busybox insmod " + words[1];
  const std::string cycles =
      "i=0; while [ $i -lt " + words[2] + " ]; do " + cycle + " || exit 1; i=$((i+1)); done";
  std::vector<uint8_t> answers, armed, after;
  const pid_t other = start(cycles.c_str());
  int status = 0;
  while (waitpid(other, &status, WNOHANG) == 0) {
    read_symbols();
    const std::vector<Entry> entries = movable_entries(words[0], {}, kMany);
    if (entries.empty()) continue;
    Device device;
    const DevicePlan plan(device, entries);
    for (int i = 0; i < 3; i++) {
      answers = plan.arm();
      armed.insert(armed.end(), answers.begin(), answers.end());
      plan.disarm(answers);
      after.insert(after.end(), answers.begin(), answers.end());
    }
  }
  std::printf("{\"status\": %d, \"armed\": %s, \"after\": %s}\n", status, tally(armed).c_str(),
              tally(after).c_str());
  return 0;
}

// Arms one site; returns the answer.
uint8_t arm(const Device& device, const djtap_site& site) {
  uint8_t answer = 0xff;
  djtap_arm arm = {};
  arm.sites = reinterpret_cast<uint64_t>(&site);
  arm.answers = reinterpret_cast<uint64_t>(&answer);
  arm.site_count = 1;
  if (device.call(DJTAP_ARM, &arm)) fail("arm");
  return answer;
}

// The module comes again to the same place, and an int3 there has to lead to its new detour.
int stale(const Words& words) {
  Device device;
  const Entry entry = movable_entries(words[0], {words[2]}, 1).at(0);
  const DevicePlan plan(device, {entry, entry});
  std::vector<djtap_site> sites = plan.sites();
  for (djtap_site& site : sites) site.form = DJTAP_INT3;
  std::vector<uint8_t> answers = {arm(device, sites[0])};
  int status =
      std::system(("busybox rmmod " + words[0] + " && busybox insmod " + words[1]).c_str());
  read_symbols();
  const std::vector<Entry> again = movable_entries(words[0], {words[2]}, 1);
  const bool same = again.size() == 1 && again[0].address == entry.address;
  if (same) answers.push_back(arm(device, sites[1]));
  status |= std::system(words[3].c_str());
  std::printf("{\"answers\": %s, \"status\": %d, \"same\": %d, \"old\": %lu, \"new\": %lu}\n",
              tally(answers).c_str(), status, same, plan.count_of(0), plan.count_of(1));
  return 0;
}

uint64_t section(const std::string& module, const std::string& name) {
  std::ifstream file("/sys/module/" + module + "/sections/" + name);
  uint64_t address = 0;
  file >> std::hex >> address;
  if (address == 0) fail(module + " has no " + name);
  return address;
}

// The first place that a module's table names and that is in its text.
uint64_t named_by(const std::string& module, const std::string& table) {
  const uint64_t at = section(module, table);
  int32_t distance = 0;
  std::memcpy(&distance, read_memory(at, sizeof distance).data(), sizeof distance);
  return at + uint64_t(int64_t{distance});
}

int refused(const Words& words) {
  Device device;
  const std::string& module = words[0];
  const DevicePlan plan(device, movable_entries(module, {}, 2));
  const djtap_site good = plan.sites()[0];
  const auto at = [&](uint64_t address) {
    djtap_site site = good;
    site.address = address;
    std::ranges::copy(read_memory(address, good.length), site.original);
    return site;
  };
  djtap_site other_bytes = good;
  other_bytes.original[0] ^= 1;
  const struct {
    const char* name;
    djtap_site site;
    djtap_answer answer;
  } rows[] = {
      {"a bug", at(named_by(module, "__bug_table")), DJTAP_FIXED_PLACE},
      {"a static key", at(named_by(module, "__jump_table")), DJTAP_FIXED_PLACE},
      {"data", at(section(module, ".data")), DJTAP_NOT_TEXT},
      {"constants", at(section(module, ".rodata")), DJTAP_NOT_TEXT},
      {"djtap's own", at(movable_entries("djtap", {}, 1).at(0).address), DJTAP_NOT_TEXT},
      {"two functions", at(good.address - (good.address & 15) - 2), DJTAP_TWO_FUNCTIONS},
      {"other bytes", other_bytes, DJTAP_OTHER_BYTES},
      {"a good one", good, DJTAP_ARMED},
  };
  std::string wrong;
  for (const auto& row : rows) {
    const uint8_t answer = arm(device, row.site);
    if (answer == row.answer) continue;
    wrong +=
        (wrong.empty() ? "\"" : ", \"") + std::string(row.name) + "\": " + std::to_string(answer);
  }
  std::printf("{\"tried\": %zu, \"wrong\": {%s}}\n", std::size(rows), wrong.c_str());
  return 0;
}

const struct {
  const char* name;
  size_t words;
  int (*run)(const Words&);
} kActions[] = {
    {"many", 2, many},           {"killed", 2, killed},   {"counts", 3, counts},
    {"module", 2, whole_module}, {"removed", 1, removed}, {"churn", 3, churn},
    {"refused", 1, refused},     {"stale", 4, stale},
};

}  // namespace
}  // namespace dj

int main(int count, char** words) {
  const dj::Words given(words + 1, words + count);
  for (const auto& action : dj::kActions) {
    if (!given.empty() && given[0] == action.name && given.size() == action.words + 1)
      return action.run({given.begin() + 1, given.end()});
  }
  std::fprintf(stderr, "usage: device_actions ACTION ARGUMENT...\n");
  return 2;
}
