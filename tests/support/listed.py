# SPDX-License-Identifier: Apache-2.0
"""What -l prints, given back: each name lists the lines that it came from."""


def lines_listed(djtap_once, program, *points):
    return djtap_once("-l", ", ".join(points), "-c", program).stdout.splitlines()


def points_of(lines):
    """The name in each line, as a point of its own: process("FILE").function("NAME@SOURCE:LINE")."""
    return [f'process.function("{line.split(".function(")[1][1:-2].partition("@")[0]}")' for line in lines]


def check_listed(djtap_once, program, pattern="*"):
    """Each name that is listed, given back, lists the lines that it came from, and no others."""
    lines = lines_listed(djtap_once, program, f'process.function("{pattern}")')
    points = points_of(lines)
    groups = {point: [line for line, its in zip(lines, points) if its == point] for point in points}
    again = lines_listed(djtap_once, program, *groups)
    assert again == [line for group in groups.values() for line in group], again
    return groups
