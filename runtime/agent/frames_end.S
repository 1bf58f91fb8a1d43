// SPDX-License-Identifier: Apache-2.0
// The end of the agent's call frame information: of all its objects the last one.
        .section .eh_frame,"a",@progbits
        .long   0

        .section .note.GNU-stack,"",@progbits
