# SPDX-License-Identifier: Apache-2.0
"""Histograms as SystemTap's manuals show them."""


def drawn(*rows):
    """The text of rows (value, count), and of "~" where rows are left out."""
    most = max(row[1] for row in rows if row != "~")
    scale = -(-most // 50)
    wide = max(5, *(len(str(row[0])) for row in rows if row != "~"))
    text = f"{'value':>{wide}} |{'-' * 50} count\n"
    for row in rows:
        text += f"{'':{wide}} ~\n" if row == "~" else f"{row[0]:{wide}} |{'@' * (row[1] // scale):50} {row[1]:{len(str(most))}}\n"
    return text + "\n"
