// SPDX-License-Identifier: Apache-2.0
// The words of the module's answers.
#include "runtime/kernel/kernel_link.h"

namespace dj {

const char* reason_of(djtap_answer answer) {
  switch (answer) {
    case DJTAP_ARMED:
      return "";
    case DJTAP_BAD_FORM:
      return "the kernel module does not know this form of a jump";
    case DJTAP_NOT_TEXT:
      return "it is not in the text of the kernel or of a module in use";
    case DJTAP_FORBIDDEN:
      return "the kernel forbids probes there (kprobes blacklist)";
    case DJTAP_TWO_FUNCTIONS:
      return "its bytes are not all in one function";
    case DJTAP_FIXED_PLACE:
      return "the kernel finds an instruction there by its address";
    case DJTAP_BAD_DETOUR:
      return "its detour is not in the session's code";
    case DJTAP_BAD_JUMP:
      return "no jump of that form leads to its detour";
    case DJTAP_OVERLAPS:
      return "another place has some of its bytes";
    case DJTAP_OTHER_BYTES:
      return "text differs from what djtap has read: another tool has a probe there";
    case DJTAP_LEFT_INT3:
      return "another tool came to it while the jump was written";
    case DJTAP_KEPT:
      return "another tool has written over it, and has to let go first";
    case DJTAP_REMOVED:
      return "";
    case DJTAP_GONE:
      return "the kernel has removed the module that had it";
  }
  return "the kernel module gives an answer that this djtap does not know";
}

}  // namespace dj
