// SPDX-License-Identifier: Apache-2.0
// The language server behind --lsp: an editor's side of djtap (Language Server Protocol 3.17, over
// two file descriptors). It knows the protocol; what there is to say of a script comes from
// EditorServices.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dj {

// A name that an editor may offer, with what it says beside it: a prototype, or "".
struct EditorWord {
  std::string name, detail;
};

// Owned by the caller, who outlives the server. Every text is a whole script.
struct EditorServices {
  // What is wrong with the script of this name: render_json() of each diagnostic. Their file is
  // `name` where they are of this script.
  std::function<std::vector<std::string>(const std::string& name, const std::string& text)> judge;
  // The script in tidy form; nullopt: it cannot be read.
  std::function<std::optional<std::string>(const std::string& text)> tidy;
  std::vector<EditorWord> words;
};

// Answers what comes from `in` on `out` until the editor says "exit" or hangs up. Returns 0, or 1
// where it left without "shutdown" (as the protocol wants it).
int serve_editor(int in, int out, const EditorServices& services);

}  // namespace dj
