// A library whose code the loader changes when it opens it (text relocations), also close to a system call that starts threads.
long lib_work(long n);
__asm__(
    ".text\n.globl lib_work\n.type lib_work, @function\n"
    "lib_work:\n  movabsq $lib_work, %rax\n  leaq 1(%rdi), %rax\n  ret\n.size lib_work, . - lib_work\n"
    ".globl lib_clone\n.type lib_clone, @function\n"
    "lib_clone:\n  movl $56, %eax\n  movabsq $lib_work, %rdi\n  syscall\n  ret\n.size lib_clone, . - lib_clone\n");
// SPDX-License-Identifier: Apache-2.0
