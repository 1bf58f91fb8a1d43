// SPDX-License-Identifier: Apache-2.0
// One pass over all line tables, and one over the functions' blocks.
#include "compiler/debuginfo/source_lines.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "compiler/debuginfo/debug_names.h"
#include "compiler/debuginfo/dwarf_index.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/walk_limits.h"

namespace dj {
namespace {

// SourceFiles: the paths of a StackInfo, each once. 0: none.
class SourceFiles {
 public:
  explicit SourceFiles(std::vector<std::string>& files) : files_(files) { files_.push_back(""); }

  uint32_t add(const char* path) {
    auto [known, fresh] = by_path_.try_emplace(path, files_.size());
    if (fresh) {
      files_.push_back(path);
    }
    return known->second;
  }

 private:
  std::vector<std::string>& files_;
  std::unordered_map<std::string, uint32_t> by_path_;
};

struct TableRow : StackLine {
  bool statement = false;  // a place for breakpoints
};

class LineReader {
 public:
  LineReader(DwarfIndex& index, SourceFiles& files, std::vector<TableRow>& out)
      : index_(index), files_(files), out_(out) {}

  void add(Dwarf_Die unit) {
    Dwarf_Lines* lines = nullptr;
    size_t count = 0;
    if (!index_.lines(unit, &lines, &count)) {
      return;
    }
    by_pointer_.clear();
    for (size_t i = 0; i < count; i++) {
      row(dwarf_onesrcline(lines, i));
    }
  }

 private:
  void row(Dwarf_Line* row) {
    Dwarf_Addr address = 0;
    int line = 0;
    bool ends = false, statement = false;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &line) != 0) {
      return;
    }
    dwarf_lineendsequence(row, &ends);
    dwarf_linebeginstatement(row, &statement);
    const char* path = ends || line <= 0 ? nullptr : dwarf_linesrc(row, nullptr, nullptr);
    TableRow made;
    made.address = address + index_.bias();
    made.line = path ? uint32_t(line) : 0;
    made.file = path ? file(path) : 0;
    made.statement = statement;
    const bool same = !out_.empty() && out_.back().line == made.line &&
                      out_.back().file == made.file && out_.back().address <= made.address;
    if (!same || ends) {
      out_.push_back(made);
    }
  }

  // libdw keeps one text for each file of a unit.
  uint32_t file(const char* path) {
    auto [known, fresh] = by_pointer_.try_emplace(path, 0);
    if (fresh) {
      known->second = files_.add(path);
    }
    return known->second;
  }

  DwarfIndex& index_;
  SourceFiles& files_;
  std::vector<TableRow>& out_;
  std::unordered_map<const char*, uint32_t> by_pointer_;
};

// Where one inlined call has code.
struct Stretch {
  uint64_t begin, end;
  uint32_t call;  // 1 + index
};

class InlineReader {
 public:
  InlineReader(DwarfIndex& index, SourceFiles& files, std::vector<StackCall>& calls)
      : index_(index), files_(files), calls_(calls) {}

  void add(Dwarf_Die* parent, uint32_t outer) {
    Dwarf_Die child;
    if (!first_child(parent, &child)) {
      return;
    }
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_inlined_subroutine:
          add(&child, call(&child, outer));
          break;
        case DW_TAG_subprogram:
          add(&child, 0);
          break;
        case DW_TAG_lexical_block:
        case DW_TAG_namespace:
        case DW_TAG_module:
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
          add(&child, outer);
          break;
        default:
          break;
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  // Rows of the innermost calls; where one ends the outer one goes on.
  std::vector<StackInline> rows() {
    std::sort(stretches_.begin(), stretches_.end(), [](const Stretch& a, const Stretch& b) {
      return std::tuple(a.begin, b.end, a.call) < std::tuple(b.begin, a.end, b.call);
    });
    std::vector<Stretch> open;
    auto close_until = [&](uint64_t address) {
      while (!open.empty() && open.back().end <= address) {
        const uint64_t end = open.back().end;
        open.pop_back();
        emit(end, open.empty() ? 0 : open.back().call);
      }
    };
    for (Stretch stretch : stretches_) {
      close_until(stretch.begin);
      if (!open.empty()) {
        stretch.end = std::min(stretch.end, open.back().end);
      }
      emit(stretch.begin, stretch.call);
      open.push_back(stretch);
    }
    close_until(UINT64_MAX);
    return std::move(rows_);
  }

 private:
  uint32_t call(Dwarf_Die* die, uint32_t outer) {
    StackCall made;
    made.name = name_of(die);
    made.outer = outer;
    made.line = uint32_t(number(die, DW_AT_call_line).value_or(0));
    made.file = file_of(die);
    calls_.push_back(std::move(made));
    const auto index = uint32_t(calls_.size());
    for (const auto& [begin, end] : index_.ranges(die)) {
      if (begin < end) {
        stretches_.push_back({begin, end, index});
      }
    }
    return index;
  }

  const std::string& name_of(Dwarf_Die* die) {
    std::optional<Dwarf_Die> origin = referred(die, DW_AT_abstract_origin);
    auto [known, fresh] = names_.try_emplace(origin ? dwarf_dieoffset(&*origin) : 0);
    if (fresh) {
      known->second = shown_name(*die, linkage_name(die));
    }
    return known->second;
  }

  uint32_t file_of(Dwarf_Die* die) {
    const std::optional<uint64_t> file = number(die, DW_AT_call_file);
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (!file || !dwarf_diecu(die, &unit, nullptr, nullptr) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || *file >= count) {
      return 0;
    }
    const char* path = dwarf_filesrc(files, *file, nullptr, nullptr);
    return path ? files_.add(path) : 0;
  }

  void emit(uint64_t address, uint32_t call) {
    if (!rows_.empty() && rows_.back().address == address) {
      rows_.pop_back();
    }
    rows_.push_back({address, call});
  }

  DwarfIndex& index_;
  SourceFiles& files_;
  std::vector<StackCall>& calls_;
  std::vector<Stretch> stretches_;
  std::vector<StackInline> rows_;
  std::unordered_map<uint64_t, std::string> names_;  // by offset of the function
};

// Ascending; of several rows of one place the last that is a statement counts, as in gdb. The end
// of a sequence counts less than the begin of another one.
std::vector<StackLine> sorted(std::vector<TableRow>& rows) {
  auto rank = [](const TableRow& row) {
    return std::tuple(row.address, row.file != 0, row.statement);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const TableRow& a, const TableRow& b) { return rank(a) < rank(b); });
  std::vector<StackLine> lines;
  for (size_t i = 0; i < rows.size(); i++) {
    if (i + 1 == rows.size() || rows[i + 1].address != rows[i].address) {
      lines.push_back(rows[i]);
    }
  }
  return lines;
}

}  // namespace

void read_source_lines(const ObjectFile& elf, StackInfo& out) {
  const std::unique_ptr<DwarfIndex> index = DwarfIndex::open(elf);
  if (!index) {
    return;
  }
  const Question question(Question::kMostReferences + elf.all().size());
  SourceFiles files(out.files);
  std::vector<TableRow> rows;
  LineReader lines(*index, files, rows);
  InlineReader inlines(*index, files, out.calls);
  for (Dwarf_Die unit : index->units()) {
    lines.add(unit);
    inlines.add(&unit, 0);
  }
  out.lines = sorted(rows);
  out.inlines = inlines.rows();
}

}  // namespace dj
