// An SDT mark as sys/sdt.h makes it: a nop at label 990, and the note that names it.
#pragma once

#define SDT_NOTE(provider, name, semaphore, operands)                                             \
  "990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                               \
  ".4byte 992f-991f, 994f-993f, 3\n991: .asciz \"stapsdt\"\n992: .balign 4\n"                     \
  "993: .8byte 990b, _.stapsdt.base, " semaphore "\n.asciz \"" provider "\"\n.asciz \"" name      \
  "\"\n.asciz \"" operands                                                                        \
  "\"\n994: .balign 4\n.popsection\n"                                                             \
  ".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
  ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n"                      \
  ".size _.stapsdt.base, 1\n.popsection\n.endif\n"
// SPDX-License-Identifier: Apache-2.0
