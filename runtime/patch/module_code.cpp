// SPDX-License-Identifier: Apache-2.0
// Cache of analysed modules, by the file's name and version.
#include "runtime/patch/module_code.h"

#include <algorithm>
#include <utility>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/gs_base.h"
#include "compiler/base/parallel.h"
#include "runtime/process/elf_file.h"

namespace dj {
namespace {

// Does each of them stand in its range, with the byte behind it?
bool fits(const VerdictCache::Addresses& addresses, const std::vector<RawText>& text) {
  if (addresses.size() != text.size()) {
    return false;
  }
  for (size_t i = 0; i < text.size(); i++) {
    const auto inside = [&](uint64_t a) { return a - text[i].address < text[i].bytes.size() - 1; };
    if (text[i].bytes.empty() ? !addresses[i].empty()
                              : !std::all_of(addresses[i].begin(), addresses[i].end(), inside)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<uint64_t> find_syscall_bytes(const RawText& range) {
  constexpr size_t kPiece = 1 << 20;
  const size_t size = range.bytes.size();
  std::vector<std::vector<uint64_t>> found((size + kPiece - 1) / kPiece);
  parallel<1>(found.size(), [&](size_t i) {
    const size_t begin = i * kPiece, end = std::min(size, begin + kPiece + 1);  // pairs may cross
    for (size_t at : arch::find_pairs(range.bytes.subspan(begin, end - begin), arch::kSyscallBytes))
      found[i].push_back(range.address + begin + at);
  });
  std::vector<uint64_t> all;
  for (const auto& piece : found) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

ModuleCodes::File& ModuleCodes::file(const MappedModule& module) {
  auto [entry, is_new] = files_.try_emplace(key_of(module));
  File& file = entry->second;
  if (!is_new || module.is_vdso) {
    return file;
  }
  const std::string identity = cache_.identity(module.open_path);
  Result<ElfFile> elf = read_elf(module.open_path);
  Result<TargetFilePtr> opened = open_target_file(module.open_path);
  if (!elf.ok() || !opened.ok() || is_replaced(module)) {
    return file;
  }
  mapped_.push_back(opened.take());
  const std::span<const uint8_t> bytes = mapped_.back()->bytes();
  file.identity = identity;
  for (const Elf64_Phdr& s : elf.value().segments) {
    bool inside = s.p_offset <= bytes.size() && s.p_filesz <= bytes.size() - s.p_offset;
    if (s.p_type == PT_LOAD && (s.p_flags & PF_X) != 0 && inside) {
      file.text.push_back({s.p_vaddr, bytes.subspan(s.p_offset, s.p_filesz)});
    }
  }
  return file;
}

bool ModuleCodes::answer(const MappedModule& module, FileQuestion question,
                         const std::function<bool()>& find) {
  std::map<FileQuestion, bool>& known = file(module).answers;
  if (const auto found = known.find(question); found != known.end()) return found->second;
  const bool answer = find();
  known.emplace(question, answer);
  return answer;
}

bool ModuleCodes::may_set_gs_base(const MappedModule& module) {
  return answer(module, FileQuestion::MaySetGsBase, [&] {
    return std::ranges::any_of(raw(module),
                               [](const RawText& text) { return arch::has_wrgsbase(text.bytes); });
  });
}

const std::vector<std::vector<uint64_t>>& ModuleCodes::syscall_bytes(const MappedModule& module) {
  auto [entry, is_new] = syscall_bytes_.try_emplace(key_of(module));
  const File& file = this->file(module);
  const std::vector<RawText>& text = file.text;
  if (!is_new || text.empty()) {
    return entry->second;
  }
  if (auto kept = cache_.load_syscalls(file.identity); kept && fits(*kept, text)) {
    return entry->second = std::move(*kept);
  }
  for (const RawText& range : text) entry->second.push_back(find_syscall_bytes(range));
  new_syscall_bytes_.insert(entry->first);
  return entry->second;
}

const arch::Exits& ModuleCode::exits(uint64_t begin, uint64_t end) {
  auto [known, fresh] = exits_.try_emplace({begin, end});
  if (fresh) known->second = checker->exits(begin, end);
  return known->second;
}

bool ModuleCode::is_nameless_part(const Site& site) const {
  return site.kind == SiteKind::Entry && site.symbol.starts_with("0x") &&
         checker->is_unentered_fragment(site.function_begin);
}

std::span<const uint8_t> ModuleCode::at(uint64_t address, uint64_t bytes) const {
  for (const arch::TextRange& range : text) {
    if (address >= range.address && address + bytes <= range.address + range.bytes.size()) {
      return std::span(range.bytes).subspan(address - range.address, bytes);
    }
  }
  return {};
}

void ModuleCodes::read_ahead(const MappedModule& module) {
  if (module.is_vdso || cache_.load(cache_.identity(module.open_path))) {
    return;
  }
  ahead_ = std::make_unique<Ahead>();
  ahead_->key = key_of(module);
  ahead_->thread = spare_thread([ahead = ahead_.get(), read_text = read_text_] {
    ahead->text = read_text(ahead->key.first);
  });
}

Result<arch::ModuleText> ModuleCodes::text_of(const MappedModule& module) {
  if (!ahead_ || ahead_->key != key_of(module)) {
    return read_text_(module.open_path);
  }
  const std::unique_ptr<Ahead> ahead = std::move(ahead_);
  if (ahead->thread) ahead->thread->join();
  return ahead->text ? std::move(*ahead->text) : read_text_(module.open_path);
}

// With answers of an earlier session the file's tables are read only when a new question comes.
Result<std::unique_ptr<ModuleCode>> ModuleCodes::read(const MappedModule& module) {
  if (module.is_vdso) {
    return Error{module.path + " is no file"};
  }
  auto code = std::make_unique<ModuleCode>();
  const File& file = this->file(module);
  code->identity = file.identity;
  std::optional<arch::CheckResults> known;
  if (!file.text.empty()) {
    known = cache_.load(file.identity);
  }
  if (known && !arch::agrees(*known, file.text)) known.reset();
  if (known.has_value()) {
    code->text = file.text;
    code->remembered = known->size();
    auto whole = [read_text = read_text_, module] {
      Result<arch::ModuleText> text = read_text(module.open_path);
      const bool same = text.ok() && !is_replaced(module);
      return same ? text.take() : arch::ModuleText();  // gone meanwhile: no function is known
    };
    code->checker = std::make_unique<arch::Checker>(file.text, std::move(*known), std::move(whole));
    return code;
  }
  DJ_TRY(arch::ModuleText text, text_of(module));
  if (is_replaced(module)) {
    return Error{"its file was replaced meanwhile"};
  }
  code->text = text.text;
  code->checker = std::make_unique<arch::Checker>(std::move(text));
  return code;
}

void ModuleCodes::remember() {
  bool any = !new_files_.empty() || !new_syscall_bytes_.empty();
  for (const NewFile& file : new_files_) {
    cache_.files().save(file.name, file.key, file.bytes);
  }
  for (const Key& key : new_syscall_bytes_) {
    cache_.save_syscalls(files_.at(key).identity, syscall_bytes_.at(key));
  }
  for (const auto& [key, code] : codes_) {
    const size_t known = code->checker->known().size();
    if (known <= code->remembered) continue;
    cache_.save(code->identity, code->checker->known());
    code->remembered = known;
    any = true;
  }
  new_files_.clear();
  new_syscall_bytes_.clear();
  if (any) cache_.files().trim();
}

const std::string* ModuleCodes::cached_by_now(const std::string& name,
                                              const std::string& key) const {
  const auto is_it = [&](const NewFile& file) { return file.name == name && file.key == key; };
  const auto file = std::ranges::find_if(new_files_, is_it);
  return file != new_files_.end() ? &file->bytes : nullptr;
}

namespace {

// An image that mono has compiled ahead: its runtime finds calls and linkage stubs by their bytes,
// and ends the program where it sees others.
bool is_monos(const MappedModule& module) {
  const bool named = module.path.ends_with(".dll.so") || module.path.ends_with(".exe.so");
  return named && find_symbol(module.open_path, "mono_aot_file_info").ok();
}

}  // namespace

Result<ModuleCode*> ModuleCodes::get(const MappedModule& module) {
  const Key key = key_of(module);
  auto known = codes_.find(key);
  if (known != codes_.end()) {
    return known->second.get();
  }
  auto broken = failed_.find(key);
  if (broken != failed_.end()) {
    return broken->second;
  }
  Result<std::unique_ptr<ModuleCode>> code =
      is_monos(module) ? Error{"mono reads and changes this code itself"} : read(module);
  if (!code.ok()) {
    failed_.emplace(key, code.error());
    return code.error();
  }
  return (codes_[key] = code.take()).get();
}

}  // namespace dj
