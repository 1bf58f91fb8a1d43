// SPDX-License-Identifier: Apache-2.0
// The frame of Form::Middle, one word lower, and a way out that is no jump: where to is on the
// stack.
#include "arch/x86_64/sample.h"

#include "arch/x86_64/detour_frame.h"

namespace dj::arch {

Result<std::vector<uint8_t>> build_sample(const HandlerCall& call, uint64_t done, uint64_t to) {
  CHECK(done < uint64_t(1) << 31);
  Code code(to);
  code.push(kR11);
  save_flags(code);
  DJ_TRY_DO(put_handler_call(code, Form::Middle, call, false));
  restore_flags(code);
  code.pop(kR11);
  code.put({0x48, 0xc7, 0x04, 0x25});  // movq $0,done
  code.put_u32(uint32_t(done));
  code.put_u32(0);
  code.put({0xc2, kRedZone, 0});  // ret $128
  CHECK(code.size() <= kSampleCodeMax);
  return code.take();
}

}  // namespace dj::arch
