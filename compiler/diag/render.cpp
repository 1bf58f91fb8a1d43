// SPDX-License-Identifier: Apache-2.0
// The one renderer of diagnostics: header, place, source lines with marks, notes, help.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/base/printable.h"
#include "compiler/diag/diag.h"

namespace dj {

namespace {

// Mark: one underlined piece of one source line, in columns of the printed line.
struct Mark {
  size_t from = 0, to = 0;  // from < to
  bool primary = false;
  std::string text;
};

struct Paint {
  bool on;
  std::string operator()(const char* code, std::string_view text) const {
    return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  std::string border(std::string_view text) const { return (*this)("1;34", text); }
  std::string severity(Severity severity, std::string_view text) const {
    return (*this)(severity == Severity::Error ? "1;31" : "1;33", text);
  }
};

bool continues_utf8(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// The line as shown: tabs become four blanks, what is not shown or no character '?'.
std::string shown(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const auto [code, bytes] = first_character(line);
    const size_t size = std::max<size_t>(bytes, 1);
    if (code == '\t')
      text += "    ";
    else
      text += bytes == 0 || is_command(code) ? "?" : line.substr(0, size);
    line.remove_prefix(size);
  }
  return text;
}

// Where byte `offset` of the line stands in shown(line).
size_t shown_column(std::string_view line, size_t offset) {
  const std::string before = shown(line.substr(0, offset));
  return before.size() - static_cast<size_t>(std::ranges::count_if(before, continues_utf8));
}

std::string rtrim(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// The underline row, and one more row for each text that does not fit behind it.
std::vector<std::string> mark_rows(std::vector<Mark> marks, const Paint& paint, Severity severity) {
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.from < b.from; });
  auto coloured = [&](const Mark& mark, std::string_view text) {
    return mark.primary ? paint.severity(severity, text) : paint.border(text);
  };
  std::string underline;
  size_t column = 0;
  for (const Mark& mark : marks) {
    size_t from = std::max(mark.from, column);
    if (from >= mark.to) {
      continue;  // wholly under the mark before it
    }
    underline += std::string(from - column, ' ');
    underline += coloured(mark, std::string(mark.to - from, mark.primary ? '^' : '-'));
    column = mark.to;
  }
  if (!marks.back().text.empty()) {
    underline += " " + coloured(marks.back(), marks.back().text);
    marks.pop_back();
  }
  std::vector<std::string> rows = {underline};
  for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
    if (!mark->text.empty()) {
      rows.push_back(std::string(mark->from, ' ') + coloured(*mark, mark->text));
    }
  }
  return rows;
}

struct Place {
  Span span;
  bool primary;
  std::string text;
};

// Every place of one file: its lines in order, "..." where lines are left out.
std::string render_file(const std::vector<Place>& places, const Source& source, size_t gutter,
                        const Paint& paint, Severity severity) {
  std::map<uint32_t, std::vector<Mark>> lines;
  for (const Place& place : places) {
    LineCol at = source.line_col(place.span.begin);
    std::string_view line = source.line(at.line);
    size_t begin = at.column - 1;
    size_t end = std::min<size_t>(begin + (place.span.end - place.span.begin), line.size());
    size_t from = shown_column(line, begin);
    size_t to = std::max(shown_column(line, end), from + 1);
    lines[at.line].push_back({from, to, place.primary, printable(place.text)});
  }
  std::string bar = paint.border(std::string(gutter + 1, ' ') + "|");
  std::string out = bar + "\n";
  uint32_t last = 0;
  for (const auto& [number, marks] : lines) {
    if (last != 0 && number != last + 1) {
      out += paint.border("...") + "\n";
    }
    std::string head = paint.border(fmt::format("{:>{}} |", number, gutter));
    out += rtrim(head + " " + shown(source.line(number))) + "\n";
    for (const std::string& row : mark_rows(marks, paint, severity)) {
      out += bar + " " + row + "\n";
    }
    last = number;
  }
  return out;
}

const char* word(Severity severity) { return severity == Severity::Error ? "error" : "warning"; }

// The uses of macros that `span` came through, each once.
void add_expansions(const Span& span, const Sources& sources, std::vector<Place>& places) {
  for (uint32_t via = span.via; via != 0 && via <= sources.expansions.size();) {
    const Expansion& expansion = sources.expansions[via - 1];
    const bool known = std::any_of(places.begin(), places.end(), [&](const Place& place) {
      return !place.primary && place.span.file == expansion.use.file &&
             place.span.begin == expansion.use.begin && place.span.end == expansion.use.end;
    });
    if (!known) places.push_back({expansion.use, false, "expanded from this @" + expansion.macro});
    via = expansion.use.via;
  }
}

// The mistake, its labels, and the uses of macros that they came through.
std::vector<Place> places_of(const Diag& diag, const Sources& sources) {
  std::vector<Place> places = {{diag.span, true, ""}};
  for (const Label& label : diag.labels) {
    bool same = label.span.file == diag.span.file && label.span.begin == diag.span.begin &&
                label.span.end == diag.span.end;
    if (same && places[0].text.empty()) {
      places[0].text = label.text;
    } else {
      places.push_back({label.span, false, label.text});
    }
  }
  add_expansions(diag.span, sources, places);
  for (const Label& label : diag.labels) add_expansions(label.span, sources, places);
  return places;
}

}  // namespace

std::string render(const Diag& diag, const Sources& sources, bool colour) {
  Paint paint{colour};
  std::string head = word(diag.severity);
  if (!diag.code.empty()) {
    head += "[" + diag.code + "]";
  }
  std::string out =
      paint.severity(diag.severity, head) + paint("1", ": " + printable(diag.message)) + "\n";
  size_t gutter = 0;
  if (!diag.no_span) {
    std::vector<Place> places = places_of(diag, sources);
    uint32_t widest = 1;
    for (const Place& place : places) {
      widest = std::max(widest, sources.files.at(place.span.file).line_col(place.span.begin).line);
    }
    gutter = std::to_string(widest).size();
    std::string pad(gutter, ' ');
    // The file of the mistake first, then the files that only labels point into.
    for (bool first = true; !places.empty(); first = false) {
      uint32_t file = places[0].span.file;
      auto others = std::stable_partition(places.begin(), places.end(),
                                          [&](const Place& p) { return p.span.file == file; });
      std::vector<Place> here(places.begin(), others);
      places.erase(places.begin(), others);
      const Source& source = sources.files.at(file);
      LineCol at = source.line_col(here[0].span.begin);
      out += fmt::format("{}{} {}:{}:{}\n", pad, paint.border(first ? "-->" : ":::"),
                         printable(source.name), at.line, at.column);
      out += render_file(here, source, gutter, paint, diag.severity);
    }
  }
  for (const std::string& note : diag.notes) {
    out +=
        fmt::format("{}{} {}\n", std::string(gutter + 1, ' '), paint.border("="), printable(note));
  }
  if (!diag.help.empty()) {
    out += paint("1;36", "help") + ": " + printable(diag.help) + "\n";
  }
  return out;
}

namespace {

bool is_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// A name that is suggested for a word stands where the word does: behind its "->" or "$", inside of
// its quotes, behind the object of "object!name".
std::string replacement(const Fix& fix, const Sources& sources) {
  const std::string old(sources.text(fix.span)), &text = fix.text;
  if (const size_t open = old.find('"'); open != std::string::npos) {
    if (text.find('"') != std::string::npos) return text;
    const size_t close = std::min(old.find('"', open + 1), old.size());
    const size_t object = old.find('!', open);
    const size_t begin = (object < close ? object : open) + 1;
    return old.substr(0, begin) + text + old.substr(close);
  }
  for (std::string_view mark : {"->", "$", "@"}) {
    if (old.starts_with(mark) && is_name(text)) return std::string(mark) + text;
  }
  return text;
}

// A line before all others comes behind the one that names the program of an executable script.
Span standing(const Fix& fix, const Sources& sources) {
  const std::string& text = sources.files.at(fix.span.file).text;
  if (fix.span.end != 0 || !text.starts_with("#!")) return fix.span;
  const auto next = static_cast<uint32_t>(std::min(text.find('\n'), text.size() - 1) + 1);
  return {fix.span.file, next, next};
}

nlohmann::ordered_json json_place(const Span& span, const Sources& sources) {
  const Source& source = sources.files.at(span.file);
  LineCol from = source.line_col(span.begin), to = source.line_col(span.end);
  return {{"file", source.name},
          {"line", from.line},
          {"column", from.column},
          {"end_line", to.line},
          {"end_column", to.column}};
}

}  // namespace

std::string render_json(const Diag& diag, const Sources& sources) {
  nlohmann::ordered_json out;
  out["code"] = diag.code;
  out["severity"] = word(diag.severity);
  out["message"] = diag.message;
  out["spans"] = nlohmann::ordered_json::array();
  for (const Place& place : diag.no_span ? std::vector<Place>{} : places_of(diag, sources)) {
    nlohmann::ordered_json span = json_place(place.span, sources);
    span["primary"] = place.primary;
    span["label"] = place.text;
    out["spans"].push_back(span);
  }
  out["notes"] = diag.notes;
  out["help"] = diag.help;
  out["fixits"] = nlohmann::ordered_json::array();
  for (const Fix& fix : diag.fixes) {
    nlohmann::ordered_json edit = json_place(standing(fix, sources), sources);
    edit["text"] = replacement(fix, sources);
    out["fixits"].push_back(edit);
  }
  // A script may hold any bytes; JSON may not. What is no ASCII is escaped: terminals obey some of
  // it.
  return out.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dj
