# SPDX-License-Identifier: Apache-2.0
"""--lsp: the language server, spoken to as an editor does."""
import json
import os
import pathlib
import subprocess

import pytest

from support import paths, run

URI = "file:///tmp/a.djt"


class Editor:
    """An editor's side of the protocol."""

    def __init__(self, *options):
        self.process = subprocess.Popen(run.command([*options]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def write(self, text):
        data = text.encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def send(self, method, params=None, **more):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}, **more}))

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            length = int(line.removeprefix(b"Content-Length:"))
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params=None):
        self.number += 1
        self.send(method, params, id=self.number)
        answer = self.read()
        assert answer["id"] == self.number and answer["jsonrpc"] == "2.0", answer
        return answer

    def of_text(self, method, **more):
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": URI}, **more})["result"]

    def opened(self, text, uri=URI):
        self.send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "djtap", "version": 1, "text": text}})
        return self.published(uri)

    def changed(self, text):
        self.send("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]})
        return self.published(URI)

    def published(self, uri):
        message = self.read()
        assert message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri, message
        return message["params"]["diagnostics"]


@pytest.fixture
def editor():
    one = Editor("--language-server")
    assert one.ask("initialize", {"capabilities": {}})["result"]["capabilities"]["textDocumentSync"] == 1
    one.send("initialized")
    yield one
    if one.process.poll() is None:
        assert one.ask("shutdown")["result"] is None
        assert one.ask("textDocument/hover")["error"] == {"code": -32600, "message": "the server is shut down"}
        one.send("exit")
    assert one.process.wait(300) == 0


def span(line, begin, end):
    return {"start": {"line": line, "character": begin}, "end": {"line": line, "character": end}}


def applied(text, edit):
    """The text with an edit within one line; columns are UTF-16 units."""
    lines = text.split("\n")
    begin, end = edit["range"]["start"], edit["range"]["end"]
    assert begin["line"] == end["line"]
    units = lines[begin["line"]].encode("utf-16-le")
    lines[begin["line"]] = (units[:2 * begin["character"]] + edit["newText"].encode("utf-16-le") + units[2 * end["character"]:]).decode("utf-16-le")
    return "\n".join(lines)


def test_mistakes_and_their_fixes(editor):
    text = 'probe begin {\n  /* 𝄞 ü */ prnt("x")\n}\n'
    found = editor.opened(text)
    assert [(each["severity"], each["source"]) for each in found] == [(1, "djtap")], found
    at = text.split("\n")[1]
    begin = len(at[:at.index("prnt")].encode("utf-16-le")) // 2
    assert found[0]["range"] == span(1, begin, begin + 4), found
    fixes = editor.of_text("codeAction", range=found[0]["range"], context={"diagnostics": found})
    assert "Write `print`" in [fix["title"] for fix in fixes], fixes
    print_fix = next(fix for fix in fixes if fix["title"] == "Write `print`")
    assert editor.changed(applied(text, print_fix["edit"]["changes"][URI][0])) == []


def test_a_warning_and_a_mistake_in_a_tapset_function_call(editor):
    found = editor.opened("probe begin { if (a = 1) next }\n")
    assert [each["severity"] for each in found] and all(each["severity"] == 2 for each in found), found


def test_two_places_of_one_mistake(editor):
    found = editor.opened('global a\nprobe begin { a = 1 }\nprobe end { a = "text" }\n')
    assert len(found) == 1 and found[0]["range"]["start"]["line"] in (1, 2), found
    assert {place["location"]["uri"] for place in found[0]["relatedInformation"]} == {URI}


def test_tapsets_and_macros_are_known(editor):
    assert editor.opened("probe libc.malloc { a[execname()] <<< size }\nprobe end { print(@hist_log(a[\"x\"])) }\n") == []


def test_tidy(editor):
    text = "probe begin{x++\nprint( x )}\n"
    assert editor.opened(text) == []
    edit, = editor.of_text("formatting", options={"tabSize": 4, "insertSpaces": True})
    assert edit["range"] == {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
    path = paths.BUILD / "lsp-tidy.djt"
    path.write_text(text)
    assert edit["newText"] == run.run(["--fmt", path]).stdout
    assert editor.changed(edit["newText"]) == [] and editor.of_text("formatting", options={}) == []


def test_words_and_what_they_take(editor):
    editor.opened("probe begin { println(substr(\"text\", 1, 2)) }\n")
    words = {each["label"]: each["detail"] for each in editor.of_text("completion", position={"line": 0, "character": 14})}
    assert {"probe", "foreach", "substr", "ubacktrace"} <= set(words)
    shown = editor.of_text("hover", position={"line": 0, "character": 24})
    assert shown["contents"]["value"] == words["substr"] and shown["contents"]["value"].startswith("substr(string, number, number)")
    assert editor.of_text("hover", position={"line": 0, "character": 1}) is None


def test_scripts_are_apart_and_closed_ones_have_no_mistakes(editor):
    assert editor.opened("probe begin { wrong( }\n")
    assert editor.opened("probe begin { println(1) }\n", "file:///tmp/b.djt") == []
    editor.send("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert editor.published(URI) == []


def test_what_is_no_request(editor):
    assert editor.ask("textDocument/rename")["error"]["code"] == -32601
    editor.write("this is no JSON")
    editor.write("[]")
    assert editor.ask("textDocument/hover", {"textDocument": 5})["error"]["code"] == -32602
    assert editor.opened("probe begin { println(1) }\n") == []


@pytest.mark.parametrize("orderly", [True, False])
def test_its_end(orderly):
    one = Editor("--lsp")
    one.ask("initialize")
    if orderly:
        one.ask("shutdown")
        assert one.ask("textDocument/hover")["error"]["code"] == -32600
    one.process.stdin.close()
    assert one.process.wait(300) == (0 if orderly else 1)


def test_functions_and_variables_of_the_target():
    """Each time from a new start of the program, of which nothing is executed, and nothing left."""
    text = 'probe func("wrok") { sum += $n }\n'
    one = Editor("--lsp", "-c", f"{paths.victim('count')} 1")
    one.ask("initialize", {"capabilities": {}})
    [wrong] = one.opened(text)
    assert wrong["code"] == "DJ3004" and wrong["range"] == span(0, 11, 17), wrong
    [fix] = one.of_text("codeAction", range=wrong["range"], context={"diagnostics": [wrong]})
    right = applied(text, fix["edit"]["changes"][URI][0])
    assert right == text.replace("wrok", "work") and one.changed(right) == []
    [wrong] = one.changed(right.replace("$n", "$m"))
    assert wrong["code"] == "DJ3011" and wrong["range"] == span(0, 28, 30), wrong
    assert [each["code"] for each in one.changed('probe process.function("work") { x = 1 }\n')] == ["DJ2903"]
    children = [entry for entry in os.listdir("/proc") if entry.isdigit() and parent_of(entry) == one.process.pid]
    assert children == [], "the program is gone"
    one.ask("shutdown")
    one.send("exit")
    assert one.process.wait(300) == 0 and one.process.stdout.read() == b"", "the program printed nothing"


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_of_a_process_and_of_none(program):
    target = program(paths.victim("commander"))
    target.wait_for("pid: ")
    one = Editor("--lsp", "-p", str(target.pid))
    one.ask("initialize", {"capabilities": {}})
    assert [each["code"] for each in one.opened('probe func("wrok") { n++ }\n')] == ["DJ3004"]
    assert one.changed('probe func("work") { n++ }\n') == []
    target.signal(9)
    target.process.wait()
    [gone] = one.changed('probe func("wrok") { n++ }\n')
    assert (gone["code"], gone["severity"]) == ("DJ4001", 2) and gone["message"].startswith(f"there is no process {target.pid}: what it has"), gone
    one.ask("shutdown")
    one.send("exit")
    assert one.process.wait(300) == 0
