// ModuleCodes: the machine code of mapped modules and its safety checker, read and analysed once
// per file.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/x86_64/safety.h"
#include "arch/x86_64/text.h"
#include "compiler/result.h"
#include "runtime/control/process.h"

namespace dj {

// How to read a module's text; compiler/debuginfo provides it.
using ReadText = std::function<Result<arch::ModuleText>(const std::string& open_path)>;

struct ModuleCode {
  std::vector<arch::TextRange> text;  // from the file, ELF addresses
  std::unique_ptr<arch::Checker> checker;
  // `bytes` at ELF address `address`; empty if they are not all there.
  std::span<const uint8_t> at(uint64_t address, uint64_t bytes) const;
  // The checker's answer, asked for once.
  const std::vector<arch::Checker::Syscall>& syscalls();

 private:
  std::optional<std::vector<arch::Checker::Syscall>> syscalls_;
};

// An executable segment as it stands in the file.
struct RawText {
  uint64_t address = 0;  // ELF address
  std::span<const uint8_t> bytes;
};

class ModuleCodes {
 public:
  explicit ModuleCodes(ReadText read_text) : read_text_(std::move(read_text)) {}
  ModuleCodes(ModuleCodes&&) = default;
  ~ModuleCodes();
  // Text with its checker. Costs an analysis the first time.
  Result<ModuleCode*> get(const MappedModule& module);
  // The bytes alone, cheap; empty if the file cannot be read.
  const std::vector<RawText>& raw(const MappedModule& module);

 private:
  ReadText read_text_;
  std::map<std::string, std::unique_ptr<ModuleCode>> codes_;  // by open_path
  std::map<std::string, Error> failed_;
  std::map<std::string, std::vector<RawText>> raw_;
  std::vector<std::span<uint8_t>> files_;  // mapped
};

}  // namespace dj
