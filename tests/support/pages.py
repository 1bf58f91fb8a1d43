# SPDX-License-Identifier: Apache-2.0
"""The project's pages, and what they show as code within their sentences."""
import re

from support import paths

# What the issue tracker, editors and people find: the top pages, one a room, and docs/.
PAGES = tuple(path for path in (*sorted(paths.ROOT.glob("*.md")), *sorted(paths.ROOT.glob("[!.]*/README.md")), *sorted((paths.ROOT / "docs").glob("*.md")))
              if not path.is_relative_to(paths.BUILD))


def name(page):
    return str(page.relative_to(paths.ROOT))


def code_spans():
    """(page, text) of each `text` in a sentence or table."""
    return [(name(page), span) for page in PAGES for span in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S))]
