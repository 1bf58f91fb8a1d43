// Opens one file with libdwfl.
#include "compiler/debuginfo/dwfl_file.h"

namespace dj {

DwflFile::DwflFile(const std::string& path) {
  // The empty path means the standard places: next to the file, .debug/ and /usr/lib/debug.
  static const Dwfl_Callbacks callbacks = {
      .find_elf = dwfl_build_id_find_elf,
      .find_debuginfo = dwfl_standard_find_debuginfo,
      .section_address = dwfl_offline_section_address,
      .debuginfo_path = nullptr,
  };
  dwfl_ = dwfl_begin(&callbacks);
  if (!dwfl_) {
    return;
  }
  dwfl_report_begin(dwfl_);
  // Base 0 added to p_vaddr: addresses stay those of the file.
  module_ = dwfl_report_elf(dwfl_, path.c_str(), path.c_str(), -1, 0, true);
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

DwflFile::~DwflFile() {
  if (dwfl_) {
    dwfl_end(dwfl_);
  }
}

}  // namespace dj
