# SPDX-License-Identifier: Apache-2.0
"""Values as trees, read from what gdb prints in C, D, Fortran and Ada, and from djtap's texts.

A struct is a dict by its members' names, an array a list; a number is a float, a pointer that leads somewhere the word "pointer", a string
its text in quotes; of a character gdb says number and text, a tuple. What cannot be read is None.
"""
import re

TOKEN = re.compile(r"""\s*(?:(?P<unread><error.*?>|<not\ \w+>|<incomplete\ type>|\?)|(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
                   r"""|(?P<to>\(PTR\ TO[^)]*\)\s*\)\))|(?P<complex>[-+.\w]+\ \+\ [-+.\w]+i\b)|(?P<arrow>=>|=)|(?P<mark>[][{}(),])"""
                   r"""|(?P<symbol><[^>]*>)|(?P<word>[^][{}(),\s='"<]+))""", re.X)
CLOSING = {"{": "}", "(": ")", "[": "]"}
NAMED = {"true": "true", "false": "false", ".TRUE.": "true", ".FALSE.": "false"}


def scalar(word):
    """A word of either side; names of enumerators without what stands before them."""
    if re.fullmatch(r"@?0x[0-9a-f]+:?", word):
        return 0.0 if int(word.strip("@:"), 16) == 0 else "pointer"
    try:
        return float(f"{float(word):.6g}")
    except ValueError:
        return NAMED.get(word, word if word == "..." else word.rpartition(".")[2])


class Reader:
    """Takes tokens off a text."""

    def __init__(self, text):
        self.tokens = [(match.lastgroup, match.group().strip()) for match in TOKEN.finditer(text)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def next(self):
        token = self.peek()
        self.at += 1
        return token

    def value(self):
        kind, text = self.next()
        if kind == "mark" and text in CLOSING:
            return self.inside(CLOSING[text])
        if kind == "unread":
            return [] if text.startswith("<not ") else None  # allocated, associated
        if kind == "text":
            return '"' + text[1:-1].rstrip() + '"'
        if kind == "complex":
            return [scalar(part) for part in text[:-1].split(" + ")]
        result = scalar(text)
        while self.peek()[0] in ("text", "symbol"):  # 97 'a'; 0x1234 <main>, 0x1234 "text"
            text = self.next()[1]
            if text[0] in "'\"":
                result = (result, f'"{text[1:-1]}"') if isinstance(result, float) else f'"{text[1:-1]}"'
        if text.startswith("@"):  # a reference, and what it leads to
            return self.value()
        return result

    def inside(self, end):
        """The items up to the closing bracket; gdb's Fortran puts no comma between rows, and its Ada says where an index begins."""
        names, values = [], []
        while self.peek() not in (("mark", end), ("end", "")):
            if self.peek() == ("mark", ","):
                self.next()
                continue
            value = self.value()
            if self.peek()[0] == "arrow":
                self.next()
                if isinstance(value, str):
                    names.append(value)
                value = self.value()
            values.append(value)
        self.next()
        if names == ["size"]:  # djtap's {size=2, [1, 2]}
            return values[1]
        return dict(zip(names, values)) if names else values


def tree(text):
    """Of "{.x=1, .name="a"}" or "(x => 1, name => "a")"."""
    return Reader(text.replace("{.", "{").replace(", .", ", ") if "{." in text else text).value()


def is_same(said, truth):
    """A pointer to a struct or an array may have been followed; a character may be a number."""
    if isinstance(truth, tuple):
        return said in truth
    if truth == "pointer":
        return said == truth or isinstance(said, (dict, list))
    if isinstance(truth, dict):
        return isinstance(said, dict) and list(said) == list(truth) and all(is_same(said[name], truth[name]) for name in truth)
    if isinstance(truth, list):
        return isinstance(said, list) and len(said) == len(truth) and all(map(is_same, said, truth))
    is_nothing = said == [] or (isinstance(said, dict) and set(said.values()) == {None})  # an empty slice, what no pointer leads to
    return said == truth or (truth == 0.0 and is_nothing)


def transposed(value):
    """An array of arrays with its subscripts in the other order, as gdb prints Fortran's."""
    def depth(each):
        return 1 + depth(each[0]) if isinstance(each, list) and each else 0

    def at(each, subscripts):
        for subscript in subscripts:
            each = each[subscript]
        return each

    def sizes(each):
        return [len(each), *sizes(each[0])] if isinstance(each, list) and each else []

    def build(subscripts, left):
        return [build([*subscripts, i], left[1:]) for i in range(left[0])] if left else at(value, subscripts[::-1])
    return build([], sizes(value)[::-1]) if depth(value) > 1 else value
