# SPDX-License-Identifier: Apache-2.0
"""A client of djtap --control."""
import socket
import time

# n of each thread goes up by one a call: a step back is an extra hit, a gap is a hit that is missing or a time without the probe.
FOLLOW = """global last, hits, extra, gaps
probe func("work") {
  if ([$id] in last) {
    if ($n <= last[$id]) extra++
    if ($n > last[$id] + 1) gaps++
  }
  last[$id] = $n
  hits++
}"""


class Control:
    """Commands to a running djtap, one after the other."""

    def __init__(self, path, seconds=300):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        deadline = time.monotonic() + seconds
        while self.socket.connect_ex(str(path)) != 0:
            assert time.monotonic() < deadline, f"nobody listens at {path}"
            time.sleep(0.01)
        self.lines = self.socket.makefile("r", encoding="utf8")

    def ask(self, command):
        """(answer's lines, its last line: "ok" or "error: ...")."""
        self.send(command)
        return self.answer(command)

    def send(self, *commands):
        """All at once: djtap does nothing else in between."""
        self.socket.sendall("".join(f"{command}\n" for command in commands).encode())

    def answer(self, command):
        """To the first one that has none yet."""
        answer = []
        for line in self.lines:
            line = line.rstrip("\n")
            if line == "ok" or line.startswith("error: "):
                return answer, line
            answer.append(line)
        raise AssertionError(f"djtap went away at {command!r}")

    def do(self, command):
        """The answer to a command that must work."""
        answer, end = self.ask(command)
        assert end == "ok", f"{command}: {end}"
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.socket.close()
