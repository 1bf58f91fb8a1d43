# SPDX-License-Identifier: Apache-2.0
"""%b, %m and %M of printf: the bytes of numbers and of the program's memory."""
import struct
import subprocess

import pytest

from support import paths
from support.paths import victim


def printed(body, target="wide"):
    """The bytes between < and > of what the script prints; text mode would not keep them."""
    command = [paths.DJTAP, "-e", f'probe func("show") {{ {body} }}', "-c", victim(target)]
    result = subprocess.run(command, capture_output=True, timeout=300, check=False)
    assert b"<" in result.stdout, result
    return result.stdout.split(b"<", 1)[1].rsplit(b">", 1)[0]


@pytest.mark.parametrize("size, code", [(1, "B"), (2, "H"), (4, "I"), (8, "Q")])
def test_numbers_as_bytes(size, code):
    number = 0x1122334455667788
    wanted = struct.pack("<" + code, number & (1 << 8 * size) - 1)
    assert printed(f'printf("<%{size}b>", {number})') == wanted
    assert printed(f'printf("%s", sprintf("<%{size}b>", {number}))') == wanted


def test_without_a_width_it_is_eight():
    assert printed('printf("<%b%1b>", -2, 65)') == struct.pack("<q", -2) + b"A"


# $p->low is -1, $p->high 2^70 + 7, in memory one after the other; 16 bytes each.
MEMORY = b"\xff" * 16 + struct.pack("<QQ", 7, 64)


@pytest.mark.parametrize("conversion, arguments, wanted", [
    ("%m", "&$p->low", b"\xff"), ("%.24m", "&$p->low", MEMORY[:24]), ("%#.4m", "&$p->high", MEMORY[16:20]),
    ("%6.2m", "&$p->low", b"    \xff\xff"), ("%-6.2m", "&$p->low", b"\xff\xff    "), ("%.*m", "3, &$p->high", b"\x07\0\0"),
    ("%M", "&$p->high", b"07"), ("%.32M", "&$p->low", MEMORY.hex().encode()), ("%10.4M", "&$p->low", b"  ffffffff"),
    ("%*.*M", "6, 2, &$p->high", b"  0700"), ("%d %.1M %d", "1, &$p->high, 2", b"1 07 2"),
])
def test_memory(conversion, arguments, wanted):
    assert printed(f'printf("<{conversion}>", {arguments})') == wanted


def test_functions():
    assert printed('printf("<%s %s>", user_bytes(&$p->high, 2), user_bytes_hex(&$p->low, 3))') == b"\x07\0 ffffff"


def test_memory_that_is_not_there(djtap_once):
    result = djtap_once("-e", 'probe func("show") { printf("%.8M", 16) println("after") }', "-c", victim("wide"))
    assert "read fault at address 0x0000000000000010" in result.stderr and "after" not in result.stdout, result


@pytest.mark.parametrize("body, words", [
    ('printf("%m", "text")', "string"), ('printf("%3b", 1)', "`%b` takes a width of 1, 2, 4 or 8 bytes"),
    ('printf("%*b", 1, 1)', "`%b` takes a width of 1, 2, 4 or 8 bytes"), ('printf("%.*m", 1)', "the format takes 2, got 1"),
])
def test_wrong_use(djtap_once, body, words):
    result = djtap_once("-e", f"probe begin {{ {body} }}")
    assert "error[DJ2" in result.stderr and words in result.stderr, result
