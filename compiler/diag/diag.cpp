// SPDX-License-Identifier: Apache-2.0
// Diags: collecting mistakes, and guessing which name was meant.
#include "compiler/diag/diag.h"

#include <algorithm>
#include <numeric>

namespace dj {

namespace {

Diag make(Severity severity, std::string code, Span span, std::string message) {
  Diag diag;
  diag.severity = severity;
  diag.code = std::move(code);
  diag.span = span;
  diag.message = std::move(message);
  return diag;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr size_t kFar = SIZE_MAX;

// How near `known` is to `name`; kFar when it is no likely typing mistake.
size_t nearness(std::string_view name, std::string_view known) {
  if (name.empty() || name == known) {
    return kFar;
  }
  std::string a = lowered(name), b = lowered(known);
  size_t limit = std::max<size_t>(1, a.size() / 3);
  size_t distance = edit_distance(a, b);
  if (distance == 0) {
    return 1;  // they differ in upper and lower case only
  }
  if (distance <= limit && distance < a.size()) {
    return distance;
  }
  if (b.starts_with(a)) {
    return limit + distance;
  }
  // "prnt" is near the beginning of "printf" too.
  for (size_t cut = a.size(); a.size() >= 4 && cut <= a.size() + limit && cut < b.size(); ++cut) {
    if (edit_distance(a, std::string_view(b).substr(0, cut)) <= limit) {
      return distance;
    }
  }
  return kFar;
}

}  // namespace

Diag& Diags::error(std::string code, Span span, std::string message) {
  ++errors_;
  return all_.emplace_back(make(Severity::Error, std::move(code), span, std::move(message)));
}

Diag& Diags::warning(std::string code, Span span, std::string message) {
  return all_.emplace_back(make(Severity::Warning, std::move(code), span, std::move(message)));
}

void Diags::add(Diag diag) {
  if (diag.severity == Severity::Error) ++errors_;
  all_.push_back(std::move(diag));
}

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& known,
                                    size_t limit) {
  std::vector<std::pair<size_t, const std::string*>> found;
  for (const std::string& candidate : known) {
    size_t distance = nearness(name, candidate);
    if (distance != kFar) {
      found.emplace_back(distance, &candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : found) {
    if (names.size() < limit && std::find(names.begin(), names.end(), *candidate) == names.end()) {
      names.push_back(*candidate);
    }
  }
  return names;
}

void Diag::suggest(const std::vector<std::string>& names) {
  if (names.empty()) return;
  help = did_you_mean(names);
  for (const std::string& name : names) fixes.push_back({span, name});
}

std::string did_you_mean(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "did you mean " : i + 1 == names.size() ? " or " : ", ";
    text += "\"" + names[i] + "\"";
  }
  return text.empty() ? text : text + "?";
}

}  // namespace dj
