// Asks call frame information first, then the code.
#include "compiler/debuginfo/unsized.h"

#include <algorithm>
#include <unordered_map>

#include "arch/x86_64/reach.h"
#include "compiler/debuginfo/eh_frame.h"

namespace dj {

void settle_sizes(const ObjectFile& elf, std::vector<Symbol>& functions) {
  const auto is_sized = [](const Symbol& s) { return s.size > 0; };
  const auto unsized =
      functions.size() - size_t(std::count_if(functions.begin(), functions.end(), is_sized));
  if (unsized == 0) return;
  const FrameSearch frames(elf, unsized);
  std::vector<uint64_t> starts;
  for (const Symbol& s : functions) starts.push_back(s.address);
  std::sort(starts.begin(), starts.end());
  std::unordered_map<uint64_t, uint64_t> sizes;  // by address: several names mean one function
  for (Symbol& s : functions) {
    if (is_sized(s)) continue;
    const auto [known, is_new] = sizes.try_emplace(s.address);
    const std::optional<FrameEntry> frame = is_new ? frames.from(s.address) : std::nullopt;
    if (frame && frame->begins_called) known->second = frame->end - frame->begin;
    s.size = known->second;
    if (!is_new || is_sized(s)) continue;
    Bytes code = elf.code_at(s.address);
    const auto next = std::upper_bound(starts.begin(), starts.end(), s.address);
    if (next != starts.end()) code = code.first(std::min(code.size(), *next - s.address));
    s.size = known->second = arch::reached_bytes(code, s.address);
  }
}

}  // namespace dj
