# SPDX-License-Identifier: Apache-2.0
"""Servers of debug files, and a stripped program whose debug file only such a server has."""
import http.server
import re
import subprocess
import threading

SOURCE = r"""
#include <stdio.h>
struct record { int id; const char* name; long sum[4]; };
static int noise[1000];
__attribute__((noinline)) static long hidden(struct record* r, int depth) { __asm__ volatile("" ::"r"(r)); return depth * 2 + noise[depth] + r->id; }
__attribute__((noinline)) long known(struct record* r, int depth) { long v = hidden(r, depth); __asm__ volatile("" ::"r"(v)); return v + 1; }
int main(void) {
  struct record r = {7, "seven", {1, 2, 3, 4}};
  long s = 0;
  for (int i = 0; i < 5; i++) s += known(&r, i);
  printf("sum: %ld\n", s);
}
"""


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def stripped(folder, name="p", options=("-O1",), source=SOURCE):
    """A program without symbols of its own but `known`, and its debug file."""
    (folder / f"{name}.c").write_text(source)
    program, debug = folder / name, folder / f"{name}.debug"
    subprocess.run(["gcc", "-g", "-rdynamic", "-Wl,--build-id", *options, "-o", program, folder / f"{name}.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["strip", program], check=True)
    return program, debug


class Server(http.server.ThreadingHTTPServer):
    """Answers by answer(handler); `asked` has the paths."""

    daemon_threads = True

    def __init__(self, answer):
        asked = self.asked = []
        self.ended = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                try:
                    answer(self)
                except OSError:
                    pass  # djtap has had enough

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


def send(handler, data, length=None):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(data) if length is None else length))
    handler.end_headers()
    handler.wfile.write(data)
