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


def bodies(code):
    """[(name, where its head begins, where its body begins and ends)] of all functions, nested lambdas not counted apart."""
    found, stack, head_begin = [], [], 0
    for match in re.finditer(r"[{};]", code):
        place, sign = match.start(), match.group(0)
        if sign == "{":
            head = code[head_begin:place]
            if any(kind == "function" for kind, *_ in stack):
                stack.append(("inner",))
            elif head.count("(") > head.count(")") or re.search(r"\)[\w\s]*:[^:].*[\w>]$", head, re.S):  # `= {}` of a parameter, `: member{}`
                stack.append(("value",))
            elif "(" in head and not (SCOPE.search(head) and not re.search(r"\)\s*(const|noexcept|override|->[^{]*)*\s*$", head)):
                begin = head_begin + len(head) - len(head.lstrip())
                name = re.findall(r"([\w:~]+|operator\W+)\s*\(", head)
                stack.append(("function", name[0] if name else "?", begin, place))
            else:
                stack.append(("scope",))
        elif sign == "}" and stack:
            kind, *rest = stack.pop()
            if kind == "function":
                found.append((*rest, place))
            elif kind == "value":
                continue
        if (sign != ";" or not any(kind == "function" for kind, *_ in stack)) and not (stack and stack[-1][0] == "value"):
            head_begin = match.end()
    return found


def functions(text):
    """[(name, first line, number of lines)] of all function bodies."""
    code = code_only(text)
    return [(name, code.count("\n", 0, begin) + 1, code.count("\n", begin, end) + 1) for name, begin, _, end in bodies(code)]


def without_templates(text):
    """The text with spaces in place of what stands between < and >, where these are brackets."""
    while True:
        shorter = re.sub(r"(?<!operator)(?<![<>=-])<[^<>();{}]*(?:\([^<>(){};]*\)[^<>();{}]*)*>", blank, text)
        if shorter == text:
            return text
        text = shorter


def parts(text):
    """The pieces of a list, cut at commas that stand in no brackets."""
    found, depth = [""], 0
    for letter in without_templates(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]


def parameters(text):
    """[(name, number of parameters)] of the functions that have their body here."""
    code = code_only(text)
    found = []
    for name, begin, body, _ in bodies(code):
        head = code[begin:body]
        match = re.search(re.escape(name) + r"\s*\(", head) if name != "?" else None
        if not match:
            continue
        depth, end = 0, match.end() - 1
        for end in range(match.end() - 1, len(head)):
            depth += (head[end] == "(") - (head[end] == ")")
            if depth == 0:
                break
        listed = parts(head[match.end():end])
        found.append((name, 0 if listed == ["void"] else len(listed)))
    return found


NO_MEMBER = re.compile(r"\s*(using|typedef|friend|static_assert|template|static|enum|extern)\b")
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[\w+\]\]\s*|alignas\([^)]*\)\s*|__attribute__\(\(.*?\)\)\s*)*([\w:]+)?[^;={()]*$", re.S)


def declared_members(statement):
    """How many data members a statement of a class's body declares; blocks in it are blank."""
    statement = re.sub(r"^\s*((public|protected|private)\s*:\s*)+", "", statement)
    plain = re.sub(r"\[\[.*?\]\]|\balignas\([^)]*\)|__attribute__\(\(.*?\)\)", " ", without_templates(statement))
    if not plain.strip() or NO_MEMBER.match(plain) or re.search(r"\boperator\b", plain):
        return 0
    before = re.split(r"=|\{", plain)[0]
    if "(" in before and not re.search(r"\(\s*\*", before):
        return 0
    words = re.findall(r"\w+", before)
    return len(parts(plain)) if len(words) > 1 else 0


def members(text):
    """[(class, number of data members)]; static ones, types and functions are none. An unnamed structure or union in it is one."""
    code = code_only(text)
    found, stack, begin = [], [], 0  # stack: [kind, name, count, begin of the statement around it]
    for match in re.finditer(r"[{};]", code):
        place, sign = match.start(), match.group(0)
        around = stack[-1] if stack else None
        if sign == "{":
            head = without_templates(code[begin:place])
            named = CLASS.search(head)
            if named and not re.search(r"\benum\b", head) and "(" not in re.sub(r"(alignas|__attribute__)\(+.*?\)+", "", head):
                stack.append(["class", named.group(1), 0, begin])
                begin = match.end()
            elif re.search(r"\b(namespace|extern)\b", head) and "(" not in head:
                stack.append(["scope", None, 0, begin])
                begin = match.end()
            elif re.search(r"\benum\b", head) or "(" not in re.split("=", head)[0]:  # an enumeration's body, an initial value
                stack.append(["block", None, 0, begin])
            else:
                stack.append(["body", None, 0, begin])
        elif sign == "}" and stack:
            kind, name, count, outer = stack.pop()
            around = stack[-1] if stack else None
            if kind == "class":
                if name:
                    found.append((name, count))
                code = code[:begin] + re.sub(r"[^\n]", " ", code[begin:place]) + code[place:]
                behind = code[match.end():code.find(";", match.end())].strip()
                # `struct { ... } name;` is a member, `struct Name { ... };` is none.
                if around and around[0] == "class" and (behind or not name):
                    around[2] += len(parts(behind)) or 1
                begin = match.end()
                if around and around[0] == "class":
                    stack[-1].append(True)  # what comes up to the next `;` has been counted
            elif kind == "body":
                begin = match.end() if not around or around[0] in ("class", "scope") else begin
            elif kind == "scope":
                begin = match.end()
        elif sign == ";" and not (around and around[0] in ("block", "body")):
            if around and around[0] == "class":
                if len(around) > 4:
                    around.pop()
                else:
                    around[2] += declared_members(code[begin:place])
            begin = match.end()
    return found
