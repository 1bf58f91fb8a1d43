// SPDX-License-Identifier: Apache-2.0
// Expands aliases, from the probe inwards.
#include "compiler/tapset/aliases.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "compiler/stages/walk_ast.h"
#include "compiler/tapset/copy_ast.h"
#include "compiler/tapset/unused.h"

namespace dj {

using namespace ast;

namespace {

constexpr size_t kMaxPoints = 100'000;

// One point of a probe with the bodies of the aliases it came through, outermost first.
struct Expanded {
  ProbePoint point;
  std::vector<const Alias*> through;
};

std::string spelled(const ProbePoint& point) {
  std::string text;
  for (const Component& part : point.components) text += (text.empty() ? "" : ".") + part.name;
  return text;
}

bool is_wild(const Component& part) { return part.name.find('*') != std::string::npos; }

bool has_wild_name(const ProbePoint& point) {
  return std::any_of(point.components.begin(), point.components.end(), is_wild);
}

std::shared_ptr<const Expr> both(const std::shared_ptr<const Expr>& a,
                                 const std::shared_ptr<const Expr>& b) {
  if (!a || !b) return a ? a : b;
  auto made = std::make_shared<Expr>();
  made->span = a->span;
  made->node = Binary{BinOp::LogAnd, a->span, copy(*a), copy(*b)};
  return made;
}

class Expander {
 public:
  Expander(const std::vector<Alias>& aliases, const OwnPoints& own, Diags& diags)
      : aliases_(aliases), own_(own), diags_(diags) {}

  std::vector<Expanded> run(const std::vector<ProbePoint>& points) {
    std::vector<Expanded> out;
    for (const ProbePoint& point : points) expand({point, {}}, out);
    return out;
  }

 private:
  void expand(const Expanded& from, std::vector<Expanded>& out) {
    std::vector<std::pair<const Alias*, size_t>> found = match(from.point);
    const size_t before = out.size();
    if (has_wild_name(from.point)) {
      for (ProbePoint& point : own_(from.point)) out.push_back({std::move(point), from.through});
    }
    if (found.empty()) {
      if (out.size() == before) out.push_back(from);
      return;
    }
    for (auto [alias, used] : found) {
      if (std::find(from.through.begin(), from.through.end(), alias) != from.through.end()) {
        Diag& diag = diags_.error("DJ1029", from.through.front()->names.front().span,
                                  fmt::format("the alias {} stands for itself",
                                              spelled(from.through.front()->names.front())));
        diag.labels.push_back({from.point.span, "used again here"});
        return;
      }
      for (const ProbePoint& inner : alias->points) {
        Expanded next{inner, from.through};
        next.through.push_back(alias);
        next.point.components.insert(next.point.components.end(),
                                     from.point.components.begin() + static_cast<long>(used),
                                     from.point.components.end());
        next.point.optional |= from.point.optional;
        next.point.sufficient |= from.point.sufficient;
        next.point.condition = both(from.point.condition, inner.condition);
        expand(next, out);
        if (!diags_.ok()) return;
      }
      if (out.size() > kMaxPoints) {
        diags_.error("DJ1022", from.point.span, "this probe point stands for too many points");
        return;
      }
    }
  }

  // The aliases that a point means: those of the longest name it begins with.
  std::vector<std::pair<const Alias*, size_t>> match(const ProbePoint& point) const {
    std::vector<std::pair<const Alias*, size_t>> found;
    size_t longest = 0;
    for (const Alias& alias : aliases_) {
      for (const ProbePoint& name : alias.names) {
        size_t used = 0;
        if (!uses_alias(point, name, used) || used < longest) continue;
        if (used > longest) found.clear();
        longest = used;
        found.emplace_back(&alias, used);
      }
    }
    return found;
  }

  const std::vector<Alias>& aliases_;
  const OwnPoints& own_;
  Diags& diags_;
};

// The variables that are assigned, counted up or fed.
struct Writes {
  std::vector<std::string>& names;

  void operator()(const Expr& expr) {
    const auto* assign = std::get_if<Assign>(&expr.node);
    const auto* crement = std::get_if<Crement>(&expr.node);
    const Expr* place = assign ? assign->left.get() : crement ? crement->operand.get() : nullptr;
    const auto* name = place ? std::get_if<Name>(&place->node) : nullptr;
    const auto* element = place ? std::get_if<Index>(&place->node) : nullptr;
    if (name) names.push_back(name->name);
    if (element) names.push_back(element->name);
    for_each_child(expr, *this);
  }
  void operator()(const Stmt& stmt) { for_each_child(stmt, *this); }
};

// { prologues, inner ones first; the probe's body; epilogues, outer ones first }
StmtPtr around(const std::vector<const Alias*>& through, const Stmt& body,
               const UnusedValues& unused) {
  auto made = std::make_unique<Stmt>();
  made->span = body.span;
  Block block;
  for (auto alias = through.rbegin(); alias != through.rend(); ++alias) {
    if ((*alias)->prologue) block.body.push_back(copy(*(*alias)->prologue));
  }
  size_t own = block.body.size();
  block.body.push_back(copy(body));
  for (const Alias* alias : through) {
    if (alias->epilogue) block.body.push_back(copy(*alias->epilogue));
  }
  unused.drop(block, own);
  made->node = std::move(block);
  return made;
}

}  // namespace

bool uses_alias(const ProbePoint& point, const ProbePoint& name, size_t& used) {
  bool across = has_wild_name(point) && spelled(point).find("**") != std::string::npos;
  if (across) {
    used = point.components.size();
    return fnmatch(spelled(point).c_str(), spelled(name).c_str(), 0) == 0;
  }
  used = name.components.size();
  if (used > point.components.size()) return false;
  for (size_t i = 0; i < used; ++i) {
    const Component& asked = point.components[i];
    const Component& known = name.components[i];
    bool same = is_wild(asked) ? fnmatch(asked.name.c_str(), known.name.c_str(), 0) == 0
                               : asked.name == known.name;
    if (!same || asked.argument != known.argument) return false;
  }
  return true;
}

void expand_aliases(Script& script, const OwnPoints& own, Diags& diags) {
  const bool wild = std::any_of(script.probes.begin(), script.probes.end(), [](const Probe& probe) {
    return std::any_of(probe.points.begin(), probe.points.end(), has_wild_name);
  });
  if (script.aliases.empty() && !wild) return;
  Expander expander(script.aliases, own, diags);
  UnusedValues unused(script);
  std::vector<Probe> probes;
  for (Probe& probe : script.probes) {
    std::vector<Expanded> points = expander.run(probe.points);
    if (!diags.ok()) return;
    // Points that came the same way stay one probe.
    for (size_t i = 0; i < points.size();) {
      Probe made;
      made.span = probe.span;
      const std::vector<const Alias*>& through = points[i].through;
      made.body = through.empty() ? copy(*probe.body) : around(through, *probe.body, unused);
      if (!through.empty()) Writes{made.writes}(*probe.body);
      size_t first = i;
      for (; i < points.size() && points[i].through == points[first].through; ++i) {
        made.points.push_back(points[i].point);
      }
      probes.push_back(std::move(made));
    }
  }
  script.probes = std::move(probes);
}

}  // namespace dj
