// Reading in threads, then one pass that appends table after table.
#include "runtime/control/stack_tables.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

#include "compiler/spare_thread.h"

namespace dj {
namespace {

constexpr size_t kAlign = 8;

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
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); i++) {
    helpers.push_back(spare_thread(work));
  }
  work();
  for (std::optional<SpareThread>& helper : helpers) {
    if (helper) helper->join();
  }
  return infos;
}

// The tables as they grow.
class Builder {
 public:
  explicit Builder(size_t modules) {
    bytes_.resize(offsetof(abi::StackTables, modules) + modules * sizeof(abi::StackModule));
  }
  abi::StackTables& head() { return *reinterpret_cast<abi::StackTables*>(bytes_.data()); }
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
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  uint32_t append(const void* data, size_t size) {
    bytes_.resize((bytes_.size() + kAlign - 1) / kAlign * kAlign);
    size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size > 0) {
      memcpy(&bytes_[at], data, size);
    }
    return static_cast<uint32_t>(at);
  }
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
  module.inlines = append_rows(info.inlines, info.base, out, module.inline_count,
                               [](const StackInline& row, uint32_t at) {
                                 return abi::InlineRow{at, row.call};
                               });
}

abi::StackModule add_module(const MappedModule& mapped, const StackInfo& info, Builder& out) {
  abi::StackModule module;
  module.begin = mapped.bias + info.base;
  module.end = mapped.end;
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
  module.path = out.append_text(mapped.path);
  add_lines(info, module, out);
  return module;
}

}  // namespace

std::vector<uint8_t> make_stack_tables(const std::vector<MappedModule>& modules,
                                       const ReadStackInfo& read, uint32_t max_frames) {
  std::vector<std::optional<StackInfo>> infos = read_all(modules, read);
  Builder out(modules.size());
  std::vector<abi::StackModule> rows;
  for (size_t i = 0; i < modules.size(); i++) {
    if (infos[i]) {
      rows.push_back(add_module(modules[i], *infos[i], out));
    }
  }
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  out.head().module_count = static_cast<uint32_t>(rows.size());
  out.head().max_frames = max_frames;
  std::copy(rows.begin(), rows.end(), out.head().modules);
  return out.take();
}

}  // namespace dj
