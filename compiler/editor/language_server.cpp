// SPDX-License-Identifier: Apache-2.0
// Open scripts are kept whole: an editor sends all of a text with each change, and all is verdicts
// anew (a thousand lines take some 30 ms). Columns of the protocol are UTF-16 units, djtap's bytes.
#include "compiler/editor/language_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

namespace dj {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602;  // of JSON-RPC

// Messages: "Content-Length: N", an empty line, N bytes of JSON.
class Connection {
 public:
  Connection(int in, int out) : in_(in), out_(out) {}

  // Null: there is no more.
  Json next() {
    for (;;) {
      const size_t end = buffer_.find(kEnd);
      if (end == std::string::npos) {
        if (!more()) return nullptr;
        continue;
      }
      const size_t named = buffer_.find(kLength);
      const size_t bytes =
          named < end ? std::strtoull(&buffer_[named + kLength.size()], nullptr, 10) : 0;
      const size_t begin = end + kEnd.size();
      while (buffer_.size() - begin < bytes) {
        if (!more()) return nullptr;
      }
      Json message = Json::parse(buffer_.substr(begin, bytes), nullptr, false);
      buffer_.erase(0, begin + bytes);
      if (message.is_object()) return message;
    }
  }

  void send(Json message) {
    message["jsonrpc"] = "2.0";
    const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string all = fmt::format("{} {}{}{}", kLength, text.size(), kEnd, text);
    for (size_t done = 0; done < all.size();) {
      const ssize_t count = write(out_, all.data() + done, all.size() - done);
      if (count < 0 && errno != EINTR) return;  // the editor is gone: next() will say so
      if (count > 0) done += static_cast<size_t>(count);
    }
  }

 private:
  static constexpr std::string_view kLength = "Content-Length:", kEnd = "\r\n\r\n";

  bool more() {
    char bytes[65536];
    ssize_t count = 0;
    do {
      count = read(in_, bytes, sizeof bytes);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(count));
    return true;
  }

  int in_, out_;
  std::string buffer_;  // what has come and is not read
};

// Lines of one text, and places in it.
class Lines {
 public:
  explicit Lines(const std::string& text) {
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      lines_.push_back(text.substr(begin, end - begin));
    lines_.push_back(text.substr(begin));
  }
  // 1-based line and column in bytes, as djtap counts.
  Json position(size_t line, size_t column) const {
    if (line > lines_.size()) return {{"line", lines_.size()}, {"character", 0}};
    const std::string_view text = lines_[line - 1];
    return {{"line", line - 1}, {"character", units(text.substr(0, column - 1))}};
  }
  Json all() const {
    return {{"start", {{"line", 0}, {"character", 0}}},
            {"end", position(lines_.size(), lines_.back().size() + 1)}};
  }
  // The name that stands there, or "".
  std::string name_at(const Json& position) const {
    const size_t line = position.value("line", size_t{0});
    if (line >= lines_.size()) return "";
    const std::string& text = lines_[line];
    size_t begin = 0;
    const size_t wanted = position.value("character", size_t{0});
    while (begin < text.size() && units(std::string_view(text).substr(0, begin)) < wanted) begin++;
    size_t end = begin;
    while (begin > 0 && is_of_name(text[begin - 1])) begin--;
    while (end < text.size() && is_of_name(text[end])) end++;
    return text.substr(begin, end - begin);
  }

 private:
  static bool is_of_name(char c) {
    return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '@' || c == '$';
  }
  // UTF-16 units of UTF-8: none for bytes that go on, two for characters of four bytes.
  static size_t units(std::string_view text) {
    size_t count = 0;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      count += (byte & 0xc0) == 0x80 ? 0 : byte >= 0xf0 ? 2 : 1;
    }
    return count;
  }

  std::vector<std::string> lines_;
};

Json range_of(const Json& place, const Lines& lines) {
  return {{"start", lines.position(place["line"], place["column"])},
          {"end", lines.position(place["end_line"], place["end_column"])}};
}

// One of render_json() as the protocol has it, with its fixes in `data`, where editors give them
// back. `uri`: of the script, whose name in `told` is `name`.
Json diagnostic_of(const Json& told, const std::string& uri, const std::string& name,
                   const Lines& lines) {
  std::string message = told["message"];
  for (const Json& note : told["notes"]) message += "\n" + note.get<std::string>();
  if (!told["help"].get<std::string>().empty())
    message += "\nhelp: " + told["help"].get<std::string>();
  Json out = {{"range", {{"start", lines.position(1, 1)}, {"end", lines.position(1, 1)}}},
              {"severity", told["severity"] == "error" ? 1 : 2},
              {"code", told["code"]},
              {"source", "djtap"},
              {"message", message}};
  Json related = Json::array();
  for (const Json& span : told["spans"]) {
    if (span["file"] != name) continue;  // of a tapset
    const Json range = range_of(span, lines);
    if (span["primary"]) {
      out["range"] = range;
    } else {
      related.push_back(
          {{"location", {{"uri", uri}, {"range", range}}}, {"message", span["label"]}});
    }
  }
  if (!related.empty()) out["relatedInformation"] = related;
  for (const Json& fix : told["fixits"]) {
    if (fix["file"] == name)
      out["data"].push_back({{"range", range_of(fix, lines)}, {"newText", fix["text"]}});
  }
  return out;
}

class Server {
 public:
  Server(int in, int out, const EditorServices& services)
      : connection_(in, out), services_(services) {}

  int run() {
    for (Json message; !(message = connection_.next()).is_null();) {
      const std::string method = message.value("method", "");
      if (method == "exit") return is_shut_ ? 0 : 1;
      const Json params = message.value("params", Json::object());
      try {
        if (message.contains("id") && !method.empty()) {
          answer(message["id"], method, params);
        } else {
          take_notice(method, params);
        }
      } catch (const Json::exception& error) {  // not what the protocol says
        refuse(message.value("id", Json()), kInvalidParams, error.what());
      }
    }
    return is_shut_ ? 0 : 1;
  }

 private:
  void answer(const Json& id, const std::string& method, const Json& params) {
    if (is_shut_) return refuse(id, kInvalidRequest, "the server is shut down");
    const auto found = requests_.find(method);
    if (found == requests_.end()) return refuse(id, kMethodNotFound, "djtap has no " + method);
    connection_.send({{"id", id}, {"result", (this->*found->second)(params)}});
  }
  void refuse(const Json& id, int code, const std::string& why) {
    connection_.send({{"id", id}, {"error", {{"code", code}, {"message", why}}}});
  }

  void take_notice(const std::string& method, const Json& params) {
    if (!method.starts_with("textDocument/did")) return;
    const std::string uri = uri_of(params);
    if (method == "textDocument/didOpen") texts_[uri] = params["textDocument"].value("text", "");
    if (method == "textDocument/didChange" && !params["contentChanges"].empty())
      texts_[uri] = params["contentChanges"].back().value("text", "");
    const bool closed = method == "textDocument/didClose";
    if (closed) texts_.erase(uri);
    publish(uri, closed ? Json::array() : diagnostics_of(uri));
  }

  Json diagnostics_of(const std::string& uri) const {
    const std::string& text = texts_.at(uri);
    const Lines lines(text);
    Json out = Json::array();
    for (const std::string& told : services_.judge(uri, text))
      out.push_back(diagnostic_of(Json::parse(told), uri, uri, lines));
    return out;
  }
  void publish(const std::string& uri, const Json& diagnostics) {
    connection_.send({{"method", "textDocument/publishDiagnostics"},
                      {"params", {{"uri", uri}, {"diagnostics", diagnostics}}}});
  }

  Json initialize(const Json&) {
    Json able = {{"textDocumentSync", 1},  // whole texts
                 {"documentFormattingProvider", true},
                 {"hoverProvider", true},
                 {"codeActionProvider", true},
                 {"completionProvider", {{"triggerCharacters", {"@"}}}}};
    return {{"capabilities", able}, {"serverInfo", {{"name", "djtap"}}}};
  }
  Json shutdown(const Json&) {
    is_shut_ = true;
    return nullptr;
  }
  Json format(const Json& params) {
    const auto open = texts_.find(uri_of(params));
    if (open == texts_.end()) return nullptr;
    const std::optional<std::string> tidy = services_.tidy(open->second);
    if (!tidy || *tidy == open->second) return Json::array();
    return Json::array({{{"range", Lines(open->second).all()}, {"newText", *tidy}}});
  }
  Json complete(const Json&) {
    Json out = Json::array();
    for (const EditorWord& word : services_.words)
      out.push_back(
          {{"label", word.name}, {"kind", word.detail.empty() ? 14 : 3}, {"detail", word.detail}});
    return out;
  }
  Json hover(const Json& params) {
    const auto open = texts_.find(uri_of(params));
    if (open == texts_.end()) return nullptr;
    const std::string name = Lines(open->second).name_at(params.value("position", Json::object()));
    for (const EditorWord& word : services_.words) {
      if (word.name == name && !word.detail.empty())
        return {{"contents", {{"kind", "plaintext"}, {"value", word.detail}}}};
    }
    return nullptr;
  }
  Json fixes(const Json& params) {
    const std::string uri = uri_of(params);
    Json out = Json::array();
    for (const Json& diagnostic :
         params.value("context", Json::object()).value("diagnostics", Json::array())) {
      for (const Json& edit : diagnostic.value("data", Json::array())) {
        const std::string text = edit["newText"];
        out.push_back({{"title", text.empty() ? "Remove this" : "Write `" + text + "`"},
                       {"kind", "quickfix"},
                       {"diagnostics", {diagnostic}},
                       {"edit", {{"changes", {{uri, {edit}}}}}}});
      }
    }
    return out;
  }

  static std::string uri_of(const Json& params) {
    return params.value("textDocument", Json::object()).value("uri", "");
  }

  // To add a request: a row here and what initialize() says of it.
  const std::map<std::string, Json (Server::*)(const Json&)> requests_ = {
      {"initialize", &Server::initialize},          {"shutdown", &Server::shutdown},
      {"textDocument/formatting", &Server::format}, {"textDocument/completion", &Server::complete},
      {"textDocument/hover", &Server::hover},       {"textDocument/codeAction", &Server::fixes},
  };
  Connection connection_;
  const EditorServices& services_;
  std::map<std::string, std::string> texts_;  // of open scripts, by URI
  bool is_shut_ = false;
};

}  // namespace

int serve_editor(int in, int out, const EditorServices& services) {
  return Server(in, out, services).run();
}

}  // namespace dj
