# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb: what it calls the functions at the addresses in $FUNCTIONS, one line each: name, line and file's last name."""
import os

import gdb  # pylint: disable=import-error

for address in os.environ["FUNCTIONS"].split():
    block = gdb.block_for_pc(int(address, 16))
    while block is not None and block.function is None:
        block = block.superblock
    if block is not None and block.start == int(address, 16):
        print(f"function\t{block.function.print_name}\t{block.function.line}\t{os.path.basename(block.function.symtab.filename)}")
