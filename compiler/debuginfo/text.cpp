// SPDX-License-Identifier: Apache-2.0
// Collects a module's code, function ranges, landing pads, taken addresses and rseq sections.
#include "compiler/debuginfo/text.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/base/parallel.h"
#include "compiler/debuginfo/eh_frame.h"
#include "compiler/debuginfo/kernel_tables.h"
#include "compiler/debuginfo/object_file.h"
#include "compiler/debuginfo/parts.h"
#include "compiler/debuginfo/symbols.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

namespace dj {

namespace {

using arch::FunctionRange;
using arch::ModuleText;
using arch::TextRange;

void sort_unique(std::vector<uint64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::vector<FunctionRange> plt_ranges(const ObjectFile& elf) {
  std::vector<FunctionRange> ranges;
  for (const Section& s : elf.sections()) {
    if (s.executable() && s.name.starts_with(".plt")) {
      ranges.push_back({s.header.sh_addr, s.header.sh_addr + s.header.sh_size});
    }
  }
  return ranges;
}

void add_bytes(const ObjectFile& elf, ModuleText& text) {
  text.image_begin = ~uint64_t{0};
  for (const Elf64_Phdr& p : elf.segments()) {
    if (p.p_type == PT_LOAD) {
      text.image_begin = std::min<uint64_t>(text.image_begin, p.p_vaddr);
      text.image_end = std::max<uint64_t>(text.image_end, p.p_vaddr + p.p_memsz);
    }
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) && p.p_filesz > 0) {
      const Bytes bytes = elf.at(p.p_vaddr);
      text.text.push_back({p.p_vaddr, bytes});
    }
  }
  for (const Section& s : elf.sections()) {
    const bool constant = (s.header.sh_flags & SHF_ALLOC) && !(s.header.sh_flags & SHF_WRITE);
    if (constant && !s.executable() && s.name.starts_with(".rodata") && !s.bytes.empty()) {
      text.rodata.push_back({s.header.sh_addr, s.bytes});
    }
  }
}

// Functions lie in each other where symbols name entries inside of assembly, some in some
// kilobytes. The checks look at the enclosing function for each of those inside: a range for which
// that would be more than so many bytes is not believed to be a function.
constexpr uint64_t kMostEnclosed = 4 << 20;
constexpr size_t kMostOpen = 16;

// Drops what encloses too much of a tidy list.
std::vector<FunctionRange> believable(const std::vector<FunctionRange>& ranges) {
  std::vector<FunctionRange> result;
  uint64_t budget = kMostEnclosed;
  for (size_t i = 0; i < ranges.size(); i++) {
    const FunctionRange& r = ranges[i];
    const auto behind = std::lower_bound(
        ranges.begin() + static_cast<long>(i), ranges.end(), r.end,
        [](const FunctionRange& inner, uint64_t end) { return inner.begin < end; });
    const auto inside = static_cast<uint64_t>(behind - ranges.begin()) - i - 1;
    const uint64_t bytes = r.end - r.begin;
    if (inside != 0 && bytes > budget / inside) continue;
    budget -= inside * bytes;
    budget += bytes;  // larger files may have more of it
    result.push_back(r);
  }
  return result;
}

// Sorted by begin, the longer first; what overlaps an enclosing range only partly is dropped.
std::vector<FunctionRange> tidy(std::vector<FunctionRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const FunctionRange& a, const FunctionRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<FunctionRange> result;
  std::vector<FunctionRange> open;
  for (const FunctionRange& r : ranges) {
    while (!open.empty() && open.back().end <= r.begin) {
      open.pop_back();
    }
    const bool crosses = !open.empty() && r.end > open.back().end;
    const bool same =
        !result.empty() && result.back().begin == r.begin && result.back().end == r.end;
    if (!crosses && !same && open.size() < kMostOpen) {
      open.push_back(r);
      result.push_back(r);
    }
  }
  return believable(result);
}

// A part of a function, and the function's name.
struct NamedPart {
  uint64_t begin;
  std::string_view whole;
};

// Notes whose these parts are, where only one function has the name.
void find_owners(const SymbolTable& symbols, const std::vector<NamedPart>& parts,
                 ModuleText& text) {
  constexpr uint64_t kNone = ~uint64_t{0}, kSeveral = 0;
  std::unordered_map<std::string_view, uint64_t> functions;
  for (const NamedPart& part : parts) functions.emplace(part.whole, kNone);
  if (functions.empty()) return;
  for (const Symbol& s : symbols.functions) {
    auto found = functions.find(s.name);
    if (found != functions.end() && found->second != s.address) {
      found->second = found->second == kNone ? s.address : kSeveral;
    }
  }
  for (const NamedPart& part : parts) {
    const uint64_t function = functions.at(part.whole);
    if (function != kSeveral && function != kNone)
      text.own_pieces.emplace_back(function, part.begin);
  }
  std::sort(text.own_pieces.begin(), text.own_pieces.end());
}

void add_parts(const ObjectFile& elf, const SymbolTable& symbols,
               std::vector<FunctionRange>& ranges, ModuleText& text) {
  std::vector<NamedPart> named;
  for (const Symbol& piece : symbols.pieces) {
    ranges.push_back({piece.address, piece.address + piece.size});
    text.pieces.push_back(piece.address);
    named.push_back({piece.address, piece.name});
  }
  Parts parts(elf, symbols);
  for (const Symbol& s : symbols.functions) {
    const std::string_view whole = parts.whole(s.address, s.address + s.size, s.name);
    if (whole.empty()) continue;
    text.split_off.push_back(s.address);
    named.push_back({s.address, whole});
  }
  find_owners(symbols, named, text);
}

// What .eh_frame knows, but for the stubs of the linkage table.
std::vector<FunctionRange> functions_of_frames(const ObjectFile& elf,
                                               const std::vector<FrameEntry>& frames) {
  std::vector<FunctionRange> ranges;
  ranges.reserve(frames.size() * 2);
  const std::vector<FunctionRange> plt = plt_ranges(elf);
  for (const FrameEntry& f : frames) {
    const bool stub = std::any_of(plt.begin(), plt.end(), [&](const FunctionRange& p) {
      return f.begin >= p.begin && f.begin < p.end;
    });
    if (!stub) {
      ranges.push_back({f.begin, f.end});
    }
  }
  return ranges;
}

// Functions without a size (sorted) reach to whatever comes next: a function of `known` or of
// themselves, or the end of the section. Those inside of a known one are none.
std::vector<FunctionRange> reaching_on(const ObjectFile& elf, const std::vector<uint64_t>& unsized,
                                       const std::vector<FunctionRange>& known) {
  std::vector<FunctionRange> more;
  for (uint64_t begin : unsized) {
    auto next = std::upper_bound(known.begin(), known.end(), begin,
                                 [](uint64_t a, const FunctionRange& r) { return a < r.begin; });
    if (next != known.begin() && std::prev(next)->end > begin) {
      continue;
    }
    uint64_t end = begin + elf.at(begin).size();
    if (const Section* s = elf.code_section(begin)) {
      end = std::min(end, s->header.sh_addr + s->header.sh_size);
    }
    if (next != known.end()) {
      end = std::min(end, next->begin);
    }
    auto after = std::upper_bound(unsized.begin(), unsized.end(), begin);
    if (after != unsized.end()) {
      end = std::min(end, *after);
    }
    more.push_back({begin, end});
  }
  return more;
}

void add_functions(const ObjectFile& elf, const std::vector<FrameEntry>& frames, ModuleText& text) {
  std::vector<FunctionRange> ranges = functions_of_frames(elf, frames);
  std::vector<uint64_t> unsized;
  const SymbolTable symbols = read_symbols(elf);
  add_parts(elf, symbols, ranges, text);
  for (const Symbol& s : symbols.functions) {
    if (s.binding != STB_LOCAL) {
      text.address_taken.push_back(s.address);  // known to others by its name
    }
    if (s.name == "runtime.goexit" || s.name == "runtime.goexit.abi0") {
      text.address_taken.push_back(s.address + 1);  // where Go's goroutines return at their end
    }
    if (arch::is_kernels(s.address) && is_return_thunk(s.name))
      text.return_thunks.push_back(s.address);
    text.named.push_back(s.address);
    if (s.size > 0) {
      ranges.push_back({s.address, s.address + s.size});
    } else {
      unsized.push_back(s.address);
    }
  }
  text.functions = tidy(std::move(ranges));
  sort_unique(unsized);
  std::vector<FunctionRange> more = reaching_on(elf, unsized, text.functions);
  if (!more.empty()) {
    more.insert(more.end(), text.functions.begin(), text.functions.end());
    text.functions = tidy(std::move(more));
  }
}

// Values that dynamic relocations write into data, by the word they write; only those that are
// known from the file.
template <typename Visit>
void each_relocated_word(const ObjectFile& elf, Visit visit) {
  for (const Section& s : elf.sections()) {
    if (!(s.header.sh_flags & SHF_ALLOC)) {
      continue;
    }
    if (s.header.sh_type == SHT_RELA) {
      std::span<const Elf64_Sym> symbols;
      if (s.header.sh_link < elf.sections().size()) {
        symbols = records<Elf64_Sym>(elf.sections()[s.header.sh_link].bytes);
      }
      for (const Elf64_Rela& r : records<Elf64_Rela>(s.bytes)) {
        const uint32_t type = ELF64_R_TYPE(r.r_info);
        const uint32_t symbol = ELF64_R_SYM(r.r_info);
        if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE) {
          visit(r.r_offset, uint64_t(r.r_addend));
        } else if ((type == R_X86_64_64 || type == R_X86_64_GLOB_DAT) && symbol < symbols.size() &&
                   symbols[symbol].st_shndx != SHN_UNDEF) {
          visit(r.r_offset, symbols[symbol].st_value + uint64_t(r.r_addend));
        }
      }
    } else if (s.header.sh_type == SHT_RELR) {
      uint64_t place = 0;
      for (uint64_t entry : records<uint64_t>(s.bytes)) {
        if (!(entry & 1)) {
          visit(entry, read_word<uint64_t>(elf.at(entry), 0));
          place = entry + 8;
          continue;
        }
        for (uint64_t bit = 0; bit < 63; bit++) {
          if (entry >> (bit + 1) & 1) {
            visit(place + bit * 8, read_word<uint64_t>(elf.at(place + bit * 8), 0));
          }
        }
        place += uint64_t{63} * 8;
      }
    }
  }
}

// Critical sections: struct rseq_cs { u32 version, flags; u64 start, length, abort; }, 32 bytes
// each.
void add_rseq(const ObjectFile& elf, ModuleText& text) {
  const Section* section = elf.section("__rseq_cs");
  if (!section) {
    return;
  }
  std::unordered_map<uint64_t, uint64_t> relocated;
  const uint64_t from = section->header.sh_addr;
  each_relocated_word(elf, [&](uint64_t place, uint64_t value) {
    if (place >= from && place < from + section->header.sh_size) {
      relocated[place] = value;
    }
  });
  auto word = [&](size_t offset) {
    auto found = relocated.find(from + offset);
    return found != relocated.end() ? found->second : read_word<uint64_t>(section->bytes, offset);
  };
  for (size_t at = 0; at + 32 <= section->bytes.size(); at += 32) {
    const uint64_t start = word(at + 8);
    const uint64_t length = read_word<uint64_t>(section->bytes, at + 16);
    if (elf.is_code(start) && length < (1 << 20)) {
      text.rseq_sections.push_back({start, start + length});
      const uint64_t abort = word(at + 24);
      text.address_taken.push_back(abort);
      text.rseq_signatures.push_back({abort - sizeof(uint32_t), abort});
    }
  }
}

// The words of a section at the addresses where programs have them: a section of the large code
// model may begin anywhere.
std::span<const uint64_t> aligned_words(const Section& section) {
  const uint64_t skip = -section.header.sh_addr % sizeof(uint64_t);
  return records<uint64_t>(section.bytes.subspan(std::min<size_t>(skip, section.bytes.size())));
}

// What may be a code address among the words of data: all that lie in code. Large constant data has
// millions of words, hence the range that most of them miss, and all processors.
void add_code_words(const ObjectFile& elf, std::span<const uint64_t> words,
                    std::vector<uint64_t>& taken) {
  constexpr size_t kPiece = 8192;
  const auto [begin, end] = elf.code_range();
  std::vector<std::vector<uint64_t>> found((words.size() + kPiece - 1) / kPiece);
  parallel(found.size(), [&, begin = begin, size = end - begin](size_t i) {
    for (uint64_t value : words.subspan(i * kPiece, std::min(kPiece, words.size() - i * kPiece))) {
      if (value - begin < size && elf.is_code(value)) {
        found[i].push_back(value);
      }
    }
  });
  for (const std::vector<uint64_t>& values : found) {
    taken.insert(taken.end(), values.begin(), values.end());
  }
}

void add_taken_addresses(const ObjectFile& elf, ModuleText& text) {
  auto add = [&](uint64_t value) {
    if (elf.is_code(value)) {
      text.address_taken.push_back(value);
    }
  };
  each_relocated_word(elf, [&](uint64_t, uint64_t value) { add(value); });
  add(elf.header().e_entry);
  if (elf.position_independent()) {
    return;
  }
  // Without relocations any word of data may be a code address.
  for (const Section& s : elf.sections()) {
    if ((s.header.sh_flags & SHF_ALLOC) && !s.executable() && s.header.sh_type != SHT_RELA &&
        !s.name.starts_with(".eh_frame") && !s.name.starts_with(".dyn")) {
      add_code_words(elf, aligned_words(s), text.address_taken);
    }
  }
}

}  // namespace

Result<arch::ModuleText> read_text(const std::string& path) {
  DJ_TRY(const ObjectFile elf, ObjectFile::open(path));
  ModuleText text;
  text.path = path;
  text.kept.push_back(elf.mapping());
  text.position_independent = elf.position_independent();
  text.is_truncated = elf.is_truncated();
  add_bytes(elf, text);
  const std::vector<FrameEntry> frames = read_frames(elf);
  add_functions(elf, frames, text);
  size_t calls = elf.all().size();  // each takes some bytes of the file
  for (const FrameEntry& frame : frames) {
    if (!frame.begins_called) text.mid_frame.push_back(frame.begin);
    text.splits_blocks = text.splits_blocks || frame.repeats_cfa;
    const size_t before = text.landing_pads.size();
    add_landing_pads(elf, frame, calls, text.landing_pads);
    for (size_t i = before; i < text.landing_pads.size(); i++) {
      const uint64_t pad = text.landing_pads[i];
      if (pad < frame.begin || pad >= frame.end) {
        text.far_pads.emplace_back(frame.begin, pad);
      }
    }
  }
  std::sort(text.far_pads.begin(), text.far_pads.end());
  add_kernel_tables(elf, text);
  add_rseq(elf, text);
  add_taken_addresses(elf, text);
  sort_unique(text.named);
  sort_unique(text.mid_frame);
  sort_unique(text.pieces);
  sort_unique(text.split_off);
  sort_unique(text.landing_pads);
  sort_unique(text.address_taken);
  sort_unique(text.return_thunks);
  return text;
}

}  // namespace dj
