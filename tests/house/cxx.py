# SPDX-License-Identifier: Apache-2.0
"""Reads C++ only as far as the house rules need: includes, code without comments, where functions begin and end."""
import re

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b|extern\s*$")


def blank(match):
    """Spaces of the same length: places in the text stay right."""
    return re.sub(r"[^\n]", " ", match.group(0))


def code_only(text):
    """The text without comments, strings, characters and preprocessor lines."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", text)  # digit separators
    text = TOKEN.sub(blank, text)
    return re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", blank, text, flags=re.M)


def includes(text):
    """([of ours], [of others])."""
    ours = re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M)
    others = re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M)
    return ours, others


def functions(text):
    """[(name, first line, number of lines)] of all function bodies, nested lambdas not counted apart."""
    code = code_only(text)
    found, stack, head_begin = [], [], 0
    for match in re.finditer(r"[{};]", code):
        place, sign = match.start(), match.group(0)
        if sign == "{":
            head = code[head_begin:place]
            if any(kind == "function" for kind, *_ in stack):
                stack.append(("inner",))
            elif "(" in head and not (SCOPE.search(head) and not re.search(r"\)\s*(const|noexcept|override|->[^{]*)*\s*$", head)):
                begin = head_begin + len(head) - len(head.lstrip())
                name = re.findall(r"([\w:~]+|operator\W+)\s*\(", head)
                stack.append(("function", name[0] if name else "?", begin))
            else:
                stack.append(("scope",))
        elif sign == "}" and stack:
            kind, *rest = stack.pop()
            if kind == "function":
                name, begin = rest
                first = code.count("\n", 0, begin) + 1
                found.append((name, first, code.count("\n", 0, place) + 2 - first))
        if sign != ";" or not any(kind == "function" for kind, *_ in stack):
            head_begin = match.end()
    return found
