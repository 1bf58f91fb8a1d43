// SPDX-License-Identifier: Apache-2.0
// From the record of an error to its diagnostic.
#include "runtime/output/script_error.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/function_names.h"
#include "runtime/output/messages.h"
#include "runtime/process/process.h"
#include "runtime/process/untrusted.h"
#include "runtime/shared/abi.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/error_text.h"
#include "runtime/shared/format.h"

namespace dj {
namespace {

constexpr uint64_t kShownEach = 5;

// How to raise the limit that was exceeded.
std::string remedy(uint32_t error, bool host) {
  if (error == abi::kErrMaxAction)
    return fmt::format(" (raise it by -D {}=N)", host ? "MAXACTION_HOST" : "MAXACTION");
  return error == abi::kErrNesting ? " (raise it by -D MAXNESTING=N)" : "";
}

// Nothing is ever mapped below (the kernel's vm.mmap_min_addr), or where no addresses of programs
// are.
bool is_nowhere(uint64_t address) { return address < (1 << 16) || address >= uint64_t{1} << 47; }

// The file that a process has mapped at the arena's address; 0: none.
uint64_t inode_at(const std::vector<Mapping>& maps, uint64_t arena) {
  const auto found = std::find_if(maps.begin(), maps.end(),
                                  [arena](const Mapping& m) { return m.begin == arena; });
  return found == maps.end() ? 0 : found->inode;
}

// What is mapped at `address` now: its name and what is allowed there. A process that does not have
// this session's arena is another one than the handler's: what a record says of its process may be
// a lie, or a number of another pid namespace.
std::string mapping_at(pid_t pid, uint64_t address, uint64_t arena) {
  if (pid == 0) return "no process is traced";
  const Result<std::vector<Mapping>> own = read_maps(0), maps = read_maps(pid);
  const uint64_t inode = own.ok() ? inode_at(own.value(), arena) : 0;
  const bool is_ours = inode != 0 && maps.ok() && inode_at(maps.value(), arena) == inode;
  if (!is_ours) return is_nowhere(address) ? "no mapping" : "the program has ended";
  for (const Mapping& each : maps.value()) {
    if (address < each.begin || address >= each.end) continue;
    return fmt::format("in {}, {}{}{}{}", each.path.empty() ? "an unnamed mapping" : each.path,
                       each.read ? 'r' : '-', each.write ? 'w' : '-', each.exec ? 'x' : '-',
                       each.shared ? 's' : 'p');
  }
  return "no mapping";
}

std::string what(const ScriptErrorInput& input, const abi::ErrorPayload& payload,
                 std::string_view text, bool host) {
  if (payload.error == abi::kErrUser) return std::string(text);
  std::string_view format = abi::error_format(payload.error);
  abi::FormatArg value{static_cast<uint64_t>(payload.a)};
  char words[abi::kMaxErrorText];
  uint64_t length = abi::format_text(words, sizeof words, format.data(),
                                     static_cast<uint32_t>(format.size()), &value, 1);
  std::string said(words, std::min<uint64_t>(length, sizeof words));
  constexpr std::string_view kLimit = "MAXACTION";  // its name is another one in djtap itself
  if (host && said.starts_with(kLimit)) said.insert(kLimit.size(), "_HOST");
  if (payload.error == abi::kErrBadAddress) {
    const Layout& layout = input.layout;
    const pid_t pid = host ? static_cast<pid_t>(layout.header.target_pid) : payload.pid;
    const ArenaView arena(layout.base, layout.bytes);
    const uint64_t asked =
        arena
            .word(layout.header.words.address(layout.arena()) + offsetof(abi::SessionWords, denied))
            .number();
    const bool denied = !host && (asked & abi::asked_bit(SYS_process_vm_readv)) != 0;
    said += fmt::format(" ({}{})", denied ? "a seccomp filter denies reads; " : "",
                        mapping_at(pid, static_cast<uint64_t>(payload.a), layout.base));
  }
  return said + remedy(payload.error, host);
}

// A place of the script; null: it is not known.
const Span* place(const ScriptErrorInput& input, uint32_t span_index) {
  if (span_index >= input.spans.size()) return nullptr;
  const Span& span = input.spans[span_index];
  return span.file < input.sources.files.size() ? &span : nullptr;
}

// One line for each call that the error is inside of, innermost first.
void add_call_chain(const ScriptErrorInput& input, const abi::ErrorPayload& payload,
                    std::vector<std::string>& notes) {
  uint32_t shown = std::min(payload.call_count, abi::kMaxShownCalls);
  for (uint32_t i = 0; i < shown; ++i) {
    const Span* span = place(input, payload.calls[i]);
    if (span == nullptr) continue;
    const Source& source = input.sources.files[span->file];
    LineCol at = source.line_col(span->begin);
    notes.push_back(fmt::format("in {}, called at {}:{}:{}", unwrapped(input.sources.text(*span)),
                                source.name, at.line, at.column));
  }
  if (payload.call_count > shown)
    notes.push_back(fmt::format(".. {}", counted(payload.call_count - shown, "more call")));
}

std::string probe(const Plan& plan, uint32_t site) {
  if (const Site* found = site_numbered(plan, site)) return site_name(*found);
  site -= static_cast<uint32_t>(plan.sites.size());
  return site < plan.host_probes.size() ? plan.host_probes[site].text : "?";
}

}  // namespace

bool ScriptErrors::can_be(const abi::ErrorPayload& payload) const {
  return payload.error <= abi::kErrEndless &&
         (payload.span == abi::kNoSpan || payload.span < input_.spans.size());
}

void ScriptErrors::report(const abi::ErrorPayload& payload, uint32_t site, std::string_view text) {
  ++count_;
  Seen& seen = seen_[{payload.error, payload.span}];
  if (++seen.times > kShownEach) return;
  Diag diag;
  diag.code = abi::error_code(payload.error);
  diag.message = what(input_, payload, text, site_numbered(input_.plan, site) == nullptr);
  const Span* span = place(input_, payload.span);
  if (span == nullptr && payload.call_count > 0) span = place(input_, payload.calls[0]);
  diag.no_span = span == nullptr;
  if (span != nullptr) diag.span = *span;
  if (seen.times == 1) seen.first = diag;
  diag.notes.push_back(fmt::format("in probe {}, pid {}, tid {}", probe(input_.plan, site),
                                   payload.pid, payload.tid));
  add_call_chain(input_, payload, diag.notes);
  tell(diag, input_.sources);
}

void ScriptErrors::summarize() {
  for (auto& [key, seen] : seen_) {
    if (seen.times <= kShownEach) continue;
    seen.first.message =
        fmt::format("{} more of this kind: {}", seen.times - kShownEach, seen.first.message);
    tell(seen.first, input_.sources);
    seen.times = kShownEach;
  }
}

}  // namespace dj
