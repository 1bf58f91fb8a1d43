// SPDX-License-Identifier: Apache-2.0
// Reading in threads, then one pass that appends table after table.
#include "runtime/session/stack_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "compiler/base/spare_thread.h"

namespace dj {
namespace {

constexpr size_t kAlign = 8;
// Of modules that come later: their tables, and rows of an index.
constexpr uint64_t kDlopenedBytes = 64 << 20, kMostPlaced = 2048;
// Of code that the program makes: pieces of its memory, texts. Address space, taken as it is used.
constexpr uint64_t kMostMade = 1024, kMadeTexts = 16 << 20;
constexpr uint64_t kMostElsewhere = 32768;  // parts of the address space, of other processes
constexpr uint64_t kMadeRows = JitCode::kMost * sizeof(abi::SymbolRow);
constexpr uint64_t kIndexRows = kMostPlaced + kMostMade + kMostElsewhere;
constexpr uint64_t kIndexBytes =
    offsetof(abi::StackIndex, modules) + kIndexRows * sizeof(abi::StackModule);

uint64_t align_up(uint64_t at) { return (at + kAlign - 1) / kAlign * kAlign; }

bool same_place(const MappedModule& a, const MappedModule& b) {
  return a.path == b.path && a.begin == b.begin && a.end == b.end;
}

bool overlap(const MappedModule& a, const MappedModule& b) {
  return a.begin < b.end && b.begin < a.end;
}

std::vector<std::optional<StackInfo>> read_all(const std::vector<MappedModule>& modules,
                                               const ReadStackInfo& read) {
  std::vector<std::optional<StackInfo>> infos(modules.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i = next++; i < modules.size(); i = next++) {
      if (Result<StackInfo> info = read(modules[i].open_path); info.ok()) {
        infos[i] = info.take();
      }
    }
  };
  std::vector<std::optional<SpareThread>> helpers;
  const size_t most = std::min<size_t>(std::thread::hardware_concurrency(), modules.size());
  for (size_t i = 1; i < most; i++) {
    helpers.push_back(spare_thread(work));
  }
  work();
  for (std::optional<SpareThread>& helper : helpers) {
    if (helper) helper->join();
  }
  return infos;
}

// The tables as they grow behind what is there.
class Builder {
 public:
  explicit Builder(uint64_t behind) : behind_(behind) {}
  template <typename Row>
  uint32_t append(const std::vector<Row>& rows) {
    return append(rows.data(), rows.size() * sizeof(Row));
  }
  uint32_t append_text(const std::string& text) {
    auto length = static_cast<uint32_t>(text.size());
    uint32_t at = append(&length, sizeof length);
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return at;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  uint32_t append(const void* data, size_t size) {
    size_t at = align_up(bytes_.size());
    bytes_.resize(at + size);
    if (size > 0) {
      memcpy(&bytes_[at], data, size);
    }
    return static_cast<uint32_t>(behind_ + at);
  }
  const uint64_t behind_;  // a multiple of kAlign
  std::vector<uint8_t> bytes_;
};

template <typename Row, typename Of>
uint32_t append_rows(const std::vector<Row>& rows, uint64_t base, Builder& out, uint32_t& count,
                     Of of) {
  std::vector<decltype(of(rows[0], 0u))> made;
  for (const Row& row : rows) {
    if (row.address >= base && row.address - base <= UINT32_MAX) {
      made.push_back(of(row, static_cast<uint32_t>(row.address - base)));
    }
  }
  count = static_cast<uint32_t>(made.size());
  return out.append(made);
}

void add_lines(const StackInfo& info, abi::StackModule& module, Builder& out) {
  std::vector<uint32_t> files;
  for (const std::string& file : info.files) {
    files.push_back(file.empty() ? 0 : out.append_text(file));
  }
  std::map<std::string, uint32_t> names;
  std::vector<abi::InlineCall> calls;
  for (const StackCall& call : info.calls) {
    auto [name, fresh] = names.try_emplace(call.name, 0);
    if (fresh) {
      name->second = out.append_text(call.name);
    }
    calls.push_back({name->second, files[call.file], call.line, call.outer});
  }
  module.calls = out.append(calls);
  module.lines = append_rows(info.lines, info.base, out, module.line_count,
                             [&](const StackLine& row, uint32_t at) {
                               return abi::LineRow{at, row.line, files[row.file]};
                             });
  module.inlines =
      append_rows(info.inlines, info.base, out, module.inline_count,
                  [](const StackInline& row, uint32_t at) { return abi::InlineRow{at, row.call}; });
}

abi::StackModule add_tables(const std::string& path, const StackInfo& info, Builder& out) {
  abi::StackModule module;
  module.row_count = static_cast<uint32_t>(info.rows.size());
  module.rows = out.append(info.rows);
  module.rules = out.append(info.rules);
  std::vector<abi::SymbolRow> symbols;
  for (const StackSymbol& symbol : info.symbols) {
    if (symbol.address >= info.base && symbol.address - info.base <= UINT32_MAX) {
      symbols.push_back({static_cast<uint32_t>(symbol.address - info.base),
                         static_cast<uint32_t>(symbol.size), out.append_text(symbol.name)});
    }
  }
  module.symbol_count = static_cast<uint32_t>(symbols.size());
  module.symbols = out.append(symbols);
  module.path = out.append_text(path);
  add_lines(info, module, out);
  return module;
}

}  // namespace

StackTables::StackTables(const std::vector<MappedModule>& modules, ReadStackInfo read,
                         uint32_t max_frames, bool dlopened)
    : read_(std::move(read)), max_frames_(max_frames) {
  const std::vector<std::optional<StackInfo>> infos = read_all(modules, read_);
  const uint64_t index = align_up(sizeof(abi::StackTables));
  const uint64_t index_bytes =
      offsetof(abi::StackIndex, modules) + modules.size() * sizeof(abi::StackModule);
  Builder out(index + index_bytes);
  for (size_t i = 0; i < modules.size(); i++) {
    const FileName file = {modules[i].path, modules[i].version};
    auto [known, fresh] = files_.try_emplace(file);
    if (fresh && infos[i]) {
      known->second = {infos[i]->base, add_tables(modules[i].path, *infos[i], out)};
    }
    place(modules[i], file);
  }
  made_.rules = out.append(std::vector<abi::UnwindRule>{{.kind = abi::UnwindRule::NoRule}});
  const std::vector<uint8_t> tables = out.take();
  bytes_.resize(index + index_bytes);
  bytes_.insert(bytes_.end(), tables.begin(), tables.end());
  const abi::StackTables head = {index, max_frames};
  memcpy(bytes_.data(), &head, sizeof head);
  write_index(bytes_.data() + index);
  used_ = align_up(bytes_.size());
  const auto take = [this](uint64_t bytes) {
    return std::exchange(used_, used_ + align_up(bytes));
  };
  for (uint64_t& at : indexes_) at = take(kIndexBytes);
  for (uint64_t& at : made_.rows) at = take(kMadeRows);
  made_.texts = take(kMadeTexts);
  made_.texts_end = used_;
  room_ = used_ + (dlopened ? kDlopenedBytes : 0);
}

// The same file at the same place is what it was; of several that have been at one place it cannot
// be told whose an address is that was kept.
void StackTables::place(const MappedModule& module, const FileName& file) {
  auto same = std::find_if(placements_.begin(), placements_.end(), [&](const Placement& p) {
    return p.file == file && same_place(p.module, module);
  });
  if (same == placements_.end()) {
    same = placements_.insert(same, Placement{file, module});
  }
  same->state = Placement::Mapped;
  for (Placement& other : placements_) {
    if (&other == &*same || other.state == Placement::Mapped) continue;
    if (!overlap(other.module, module)) continue;
    other.state = Placement::Covered;
    same->shared = true;
  }
}

StackTables StackTables::moved_to(const std::vector<MappedModule>& modules) const {
  CHECK(!bytes_.empty() && modules.size() == placements_.size());
  StackTables moved = *this;
  moved.placements_.clear();
  for (const MappedModule& module : modules) moved.place(module, {module.path, module.version});
  const auto* head = reinterpret_cast<const abi::StackTables*>(moved.bytes_.data());
  moved.write_index(moved.bytes_.data() + head->index);
  return moved;
}

void StackTables::add_elsewhere(const std::vector<MappedModule>& modules) {
  if (elsewhere_.is_full) return;
  elsewhere_.is_new = true;
  elsewhere_.is_full = elsewhere_.owners.size() > kMostElsewhere / 2;
  if (elsewhere_.is_full) return;
  for (const MappedModule& module : modules) {
    const FileName file = {module.path, module.version};
    elsewhere_.owners.add({module.begin, module.end}, {file, module.bias});
    if (!files_.contains(file)) elsewhere_.unread.try_emplace(file, module);
  }
}

Status StackTables::name_elsewhere(std::span<uint8_t> memory) {
  if (!std::exchange(elsewhere_.is_new, false)) return ok_status();
  std::vector<MappedModule> unread;
  for (auto& [file, module] : std::exchange(elsewhere_.unread, {})) unread.push_back(module);
  bytes_ = {};
  Status read = read_files(unread, memory);
  exchange_index(memory);
  if (!read.ok() || !elsewhere_.is_full) return read;
  return Error{
      "the session has had very many processes: addresses of the later ones have no names "
      "in handlers that djtap runs itself (begin, end, timers)"};
}

abi::StackModule StackTables::row_of(const AddressRange& range, uint64_t bias,
                                     const Tables& tables) const {
  abi::StackModule row = *tables.row;
  row.begin = range.begin;
  row.end = range.end;
  row.origin = bias + tables.base;
  return row;
}

// A script may have kept an address of another process that lies in the range of an own module.
std::vector<abi::StackModule> StackTables::own_rows() const {
  std::vector<abi::StackModule> rows;
  for (const auto& [file, module, state, was_shared] : placements_) {
    const Tables& tables = files_.at(file);
    if (state == Placement::Covered || !tables.row) continue;
    const AddressRange range = {module.begin, module.end};
    const bool shared = was_shared || elsewhere_.owners.has_others(range, {file, module.bias});
    if (state == Placement::Gone && shared) continue;  // of no use to anybody
    if (state == Placement::Gone && is_made_where(module)) continue;
    rows.push_back(row_of(range, module.bias, tables));
    rows.back().state =
        (state == Placement::Gone ? abi::kModuleGone : 0) | (shared ? abi::kModuleShared : 0);
  }
  for (const abi::StackModule& made : made_.all) {
    if (!is_mapped(made.begin, made.end)) rows.push_back(made);  // an object may have come there
  }
  std::ranges::sort(rows, {}, &abi::StackModule::begin);
  return rows;
}

std::vector<abi::StackModule> StackTables::rows() const {
  std::vector<abi::StackModule> rows = own_rows();
  std::vector<AddressRange> taken;
  for (const abi::StackModule& row : rows) taken.push_back({row.begin, row.end});
  for (const auto& [range, owner] : elsewhere_.owners.outside(taken)) {
    const auto found = files_.find(owner->file);
    if (found == files_.end() || !found->second.row) continue;
    if (rows.size() == kIndexRows) break;  // of files that lie across very many others
    rows.push_back(row_of(range, owner->bias, found->second));
    rows.back().state = abi::kModuleGone;
  }
  std::ranges::sort(rows, {}, &abi::StackModule::begin);
  return rows;
}

void StackTables::write_index(uint8_t* to) const {
  const std::vector<abi::StackModule> all = rows();
  const uint64_t count = all.size();
  memcpy(to, &count, sizeof count);
  std::copy(all.begin(), all.end(), reinterpret_cast<abi::StackIndex*>(to)->modules);
}

// A program that opens and closes without end, each time somewhere else, fills no index: what it
// closed first is forgotten. Of this the others' `shared` knows nothing more.
void StackTables::forget_oldest() {
  while (placements_.size() > kMostPlaced) {
    auto oldest = std::find_if(placements_.begin(), placements_.end(),
                               [](const Placement& p) { return p.state != Placement::Mapped; });
    placements_.erase(oldest == placements_.end() ? placements_.begin() : oldest);
  }
}

Status StackTables::follow(const std::vector<MappedModule>& now, std::span<uint8_t> memory) {
  bool changed = false;
  std::vector<MappedModule> fresh;
  for (Placement& placement : placements_) {
    const bool there = std::any_of(now.begin(), now.end(), [&](const MappedModule& module) {
      return same_place(module, placement.module);
    });
    if (placement.state != Placement::Mapped || there) continue;
    placement.state = Placement::Gone;
    changed = true;
  }
  for (const MappedModule& module : now) {
    const bool known =
        std::any_of(placements_.begin(), placements_.end(), [&](const Placement& placement) {
          return placement.state == Placement::Mapped && same_place(module, placement.module);
        });
    if (!known) fresh.push_back(module);
  }
  if (fresh.empty() && !changed) return ok_status();
  bytes_ = {};
  for (const MappedModule& module : fresh) place(module, {module.path, module.version});
  const Status read = read_files(fresh, memory);
  forget_oldest();
  exchange_index(memory);
  return read;
}

// Appends the tables of files that it does not know yet.
Status StackTables::read_files(const std::vector<MappedModule>& modules,
                               std::span<uint8_t> memory) {
  std::vector<std::string> failed;
  std::vector<MappedModule> unread;
  std::vector<Tables*> wanted;  // of each
  for (const MappedModule& module : modules) {
    const auto [known, is_new] = files_.try_emplace({module.path, module.version});
    if (!is_new) continue;
    unread.push_back(module);
    wanted.push_back(&known->second);
  }
  const std::vector<std::optional<StackInfo>> infos = read_all(unread, read_);
  for (size_t i = 0; i < unread.size(); i++) {
    if (!infos[i]) continue;
    Builder out(used_);
    const abi::StackModule row = add_tables(unread[i].path, *infos[i], out);
    if (out.bytes().size() > room_ - used_) {
      failed.push_back(unread[i].path);
      continue;
    }
    std::copy(out.bytes().begin(), out.bytes().end(), memory.begin() + static_cast<long>(used_));
    used_ = align_up(used_ + out.bytes().size());
    *wanted[i] = {infos[i]->base, row};
  }
  if (failed.empty()) return ok_status();
  return Error{
      fmt::format("the call frames and names of {} need more than the {} MB that there "
                  "are for objects that come later; attach with -p when it is open",
                  fmt::join(failed, ", "), kDlopenedBytes >> 20)};
}

bool StackTables::is_mapped(uint64_t begin, uint64_t end) const {
  return std::any_of(placements_.begin(), placements_.end(), [&](const Placement& p) {
    return p.state == Placement::Mapped && begin < p.module.end && p.module.begin < end &&
           files_.at(p.file).row;
  });
}

bool StackTables::is_made_where(const MappedModule& module) const {
  return std::any_of(made_.all.begin(), made_.all.end(), [&](const abi::StackModule& made) {
    return made.begin < module.end && module.begin < made.end;
  });
}

// Where the text lies, a Str; 0: there is no room.
uint32_t StackTables::made_name(const std::string& name, std::span<uint8_t> memory) {
  const auto [known, is_new] = made_.names.try_emplace(name, 0);
  if (!is_new) return known->second;
  const auto length = static_cast<uint32_t>(name.size());
  const uint64_t bytes = align_up(sizeof length + length);
  if (bytes > made_.texts_end - made_.texts) return 0;
  uint8_t* to = memory.data() + made_.texts;
  memcpy(to, &length, sizeof length);
  std::copy(name.begin(), name.end(), to + sizeof length);
  known->second = static_cast<uint32_t>(made_.texts);
  made_.texts += bytes;
  return known->second;
}

// Functions near each other are one module, where no object lies between them. Rows that were
// written two calls ago are written anew: a handler that has been reading these for so long may get
// another function's name.
bool StackTables::name_made_code(const std::map<uint64_t, JitFunction>& functions,
                                 const std::string& path, std::span<uint8_t> memory) {
  constexpr uint64_t kNear = 1 << 20;
  bool fits = true;
  made_.all.clear();
  std::vector<abi::SymbolRow> rows;
  const uint64_t rows_at = made_.rows[made_.exchanged++ % 2];
  const uint32_t path_at = made_name(path, memory);
  for (const auto& [begin, function] : functions) {
    if (is_mapped(begin, function.end)) continue;
    const uint32_t name = made_name(function.name, memory);
    const bool joins = !made_.all.empty() && begin - made_.all.back().end <= kNear &&
                       function.end - made_.all.back().begin <= UINT32_MAX &&
                       !is_mapped(made_.all.back().begin, function.end);
    if (name == 0 || path_at == 0 || (!joins && made_.all.size() == kMostMade)) {
      fits = false;
      continue;
    }
    if (!joins) {
      abi::StackModule module;
      module.begin = module.origin = begin;
      module.rules = made_.rules;
      module.symbols = static_cast<uint32_t>(rows_at + rows.size() * sizeof rows[0]);
      module.path = path_at;
      made_.all.push_back(module);
    }
    abi::StackModule& module = made_.all.back();
    rows.push_back({static_cast<uint32_t>(begin - module.origin),
                    static_cast<uint32_t>(function.end - begin), name});
    module.symbol_count++;
    module.end = function.end;
  }
  memcpy(memory.data() + rows_at, rows.data(), rows.size() * sizeof(abi::SymbolRow));
  exchange_index(memory);
  return fits;
}

// The index that holds stays as it is; the one before it is nobody's (find_stack_module()).
void StackTables::exchange_index(std::span<uint8_t> memory) {
  const uint64_t at = indexes_[exchanged_++ % 2];
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  write_index(memory.data() + at);
  auto* head = reinterpret_cast<abi::StackTables*>(memory.data());
  abi::store(&head->index, exchanged_ << 32 | at);
}

}  // namespace dj
