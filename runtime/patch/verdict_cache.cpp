// SPDX-License-Identifier: Apache-2.0
// The answers as they lie in memory.
#include "runtime/patch/verdict_cache.h"

#include <type_traits>

#include "compiler/base/packed.h"

namespace dj {
namespace {

using arch::Verdicts;
using Syscall = arch::Checker::Syscall;
static_assert(std::is_trivially_copyable_v<Verdicts::Answer> &&
              std::is_trivially_copyable_v<Syscall>);

std::string name_of(const std::string& identity) { return identity.substr(0, identity.find(' ')); }

std::optional<arch::CheckResults> decode(std::span<const char> bytes) {
  arch::CheckResults known;
  for (Verdicts& verdicts : known.verdicts) {
    std::span<const Verdicts::Answer> answers;
    if (!take_records(bytes, answers) || !verdicts.restore({answers.begin(), answers.end()})) {
      return std::nullopt;
    }
  }
  std::span<const uint64_t> asked;
  std::span<const Syscall> syscalls;
  std::span<const arch::FunctionRange> unmovable;
  if (!take_records(bytes, asked) || !take_records(bytes, syscalls) ||
      !take_records(bytes, unmovable) || !bytes.empty()) {
    return std::nullopt;
  }
  known.unmovable.assign(unmovable.begin(), unmovable.end());
  if (!asked.empty()) {
    known.syscalls.emplace(syscalls.begin(), syscalls.end());
  }
  return known;
}

}  // namespace

std::string VerdictCache::identity(const std::string& module) const {
  return files_.keeps() ? file_identity(module) : "";
}

std::optional<arch::CheckResults> VerdictCache::load(const std::string& identity) const {
  if (identity.empty()) {
    return std::nullopt;
  }
  std::optional<CachedBytes> file = files_.load(name_of(identity), identity);
  return file ? decode(file->bytes) : std::nullopt;
}

void VerdictCache::save(const std::string& identity, const arch::CheckResults& known) const {
  if (identity.empty()) {
    return;
  }
  std::string bytes;
  for (const Verdicts& verdicts : known.verdicts) {
    put_records(bytes, verdicts.all());
  }
  const uint64_t yes = 1;
  put_records(bytes, std::span(&yes, known.syscalls ? 1u : 0u));
  put_records(bytes, known.syscalls ? std::span<const Syscall>(*known.syscalls)
                                    : std::span<const Syscall>());
  put_records(bytes, std::span<const arch::FunctionRange>(known.unmovable));
  files_.save(name_of(identity), identity, bytes);
}

std::optional<VerdictCache::Addresses> VerdictCache::load_syscalls(
    const std::string& identity) const {
  std::optional<CachedBytes> file;
  if (!identity.empty()) file = files_.load(name_of(identity) + "-syscalls", identity);
  if (!file) {
    return std::nullopt;
  }
  Addresses addresses;
  std::span<const char> bytes = file->bytes;
  while (!bytes.empty()) {
    std::span<const uint64_t> range;
    if (!take_records(bytes, range)) {
      return std::nullopt;
    }
    addresses.emplace_back(range.begin(), range.end());
  }
  return addresses;
}

void VerdictCache::save_syscalls(const std::string& identity, const Addresses& addresses) const {
  if (identity.empty()) {
    return;
  }
  std::string bytes;
  for (const std::vector<uint64_t>& range : addresses) {
    put_records(bytes, std::span<const uint64_t>(range));
  }
  files_.save(name_of(identity) + "-syscalls", identity, bytes);
}

}  // namespace dj
