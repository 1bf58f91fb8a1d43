// SPDX-License-Identifier: Apache-2.0
// Binds what is asked of aggregates: the extractors, and the buckets of histograms one by one.
#include <fmt/format.h>

#include "compiler/check/forms.h"
#include "compiler/check/stat_ops.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr int64_t kMaxShift = 62;

GlobalId array_or_global(const Expr& place) {
  const ElementRef* element = std::get_if<ElementRef>(&place.node);
  return element != nullptr ? element->array : std::get<GlobalRef>(place.node).global;
}

int64_t bucket_count(Binder& binder, const PrintHist* hist) {
  if (hist == nullptr || !hist->linear) return abi::kLogShown;
  const Linear& linear = *binder.program.globals[array_or_global(*hist->place)].asked.hist_linear;
  return (linear.stop - linear.start) / linear.step + 3;  // one below, one above
}

// The PrintHist of a histogram whose buckets are asked for; poison: it is none (reported).
ExprPtr counted_histogram(Binder& binder, const ast::At& a, Span span) {
  if (a.op != "hist") return bind_histogram(binder, a, span, span);
  binder.diags.error("DJ2105", span, "@hist(x, bits) is printed only: its buckets have no numbers")
      .help = "@hist_log(x)[n] and @hist_linear(x, low, high, step)[n] are buckets";
  return poison(span);
}

// The PrintHist of @hist_...(x) behind `in`; poison: it is none (reported).
ExprPtr buckets_of(Binder& binder, const ast::Expr& e, Span span) {
  const auto* a = std::get_if<ast::At>(&e.node);
  if (a != nullptr && is_histogram(a->op)) return counted_histogram(binder, *a, span);
  binder.diags.error("DJ2105", span, "only arrays and histograms have something in them").help =
      "write @hist_log(x) or @hist_linear(x, low, high, step)";
  return poison(span);
}

// foreach (n = bucket in @hist_...): counts a hidden variable from 0 up, as for (...) would; the
// bucket of each turn is that one, or counted from the last, or the next one by its value.
class BucketLoop {
 public:
  BucketLoop(Binder& binder, const ast::Foreach& f, Span span)
      : binder_(binder), f_(f), span_(span), turn_(binder.hidden_local("turn")) {}

  StmtPtr made() {
    ExprPtr shown = buckets_of(binder_, *f_.histogram, f_.array_span);
    const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
    if (f_.keys.size() != 1 || !f_.slice.empty() || !f_.array_op.empty() || sorts() > 1) {
      binder_.diags
          .error("DJ2025", f_.array_span, "a histogram has one key, its bucket, and one order")
          .help = "foreach (count = bucket in @hist_log(x)- limit 5)";
    }
    count_ = bucket_count(binder_, hist);
    if (hist == nullptr) return make_stmt(ExprStmt{std::move(shown)}, span_);  // reported
    linear_ = hist->linear;
    Block block;
    block.body.push_back(set(turn_, number(0)));
    ExprPtr more = less(read(turn_), number(count_));
    if (f_.limit) {
      LocalId limit = binder_.hidden_local("limit");
      block.body.push_back(set(limit, binder_.expr(*f_.limit)));
      more = both(ast::BinOp::LogAnd, std::move(more), less(read(turn_), read(limit)));
    }
    ExprPtr step = make(Crement{true, 1, read(turn_)}, span_);
    block.body.push_back(make_stmt(Loop{std::move(more), std::move(step), body()}, span_));
    return make_stmt(std::move(block), span_);
  }

 private:
  int value_sort() const {
    return f_.value && f_.value->sort != 0 ? f_.value->sort : f_.array_sort;
  }
  int sorts() const {
    return (f_.keys[0].sort != 0) + (f_.value && f_.value->sort != 0) + (f_.array_sort != 0);
  }

  ExprPtr read(LocalId local) { return make(LocalRef{local}, span_); }
  ExprPtr number(int64_t value) { return make(IntLit{value}, span_, Type::Int); }
  ExprPtr both(ast::BinOp op, ExprPtr a, ExprPtr b) {
    return make(Binary{op, std::move(a), std::move(b)}, span_);
  }
  ExprPtr less(ExprPtr a, ExprPtr b) { return both(ast::BinOp::Lt, std::move(a), std::move(b)); }
  StmtPtr set(LocalId local, ExprPtr value) {
    return make_stmt(ExprStmt{make(Assign{std::nullopt, read(local), std::move(value)}, span_)},
                     span_);
  }
  // What is in the bucket.
  ExprPtr bucket(LocalId index) {
    ExprPtr shown = buckets_of(binder_, *f_.histogram, f_.array_span);
    PrintHist* hist = std::get_if<PrintHist>(&shown->node);
    if (hist == nullptr) return poison(span_);
    return make(HistBucket{linear_, std::move(hist->place), read(index)}, span_, Type::Int);
  }

  StmtPtr body() {
    std::vector<StmtPtr> body, copies;
    const LocalId key = loop_variable(binder_, f_.keys[0], copies);
    if (value_sort() != 0) {
      next_by_value(body, key);
    } else if (f_.keys[0].sort < 0) {
      body.push_back(set(key, both(ast::BinOp::Sub, number(count_ - 1), read(turn_))));
    } else {
      body.push_back(set(key, read(turn_)));
    }
    if (f_.value) body.push_back(set(loop_variable(binder_, *f_.value, copies), bucket(key)));
    for (StmtPtr& copy : copies) body.push_back(std::move(copy));
    body.push_back(loop_body(binder_, *f_.body));
    return make_stmt(Block{std::move(body)}, span_);
  }

  // key = the best of the buckets that come behind the one of the turn before: by value, then by
  // number.
  void next_by_value(std::vector<StmtPtr>& out, LocalId key) {
    const LocalId last = binder_.hidden_local("last"), last_count = binder_.hidden_local("last"),
                  best = binder_.hidden_local("best"), best_count = binder_.hidden_local("best"),
                  each = binder_.hidden_local("bucket"), count = binder_.hidden_local("count");
    const ast::BinOp before = value_sort() < 0 ? ast::BinOp::Gt : ast::BinOp::Lt;
    ExprPtr same = both(ast::BinOp::LogAnd, both(ast::BinOp::Eq, read(count), read(last_count)),
                        less(read(last), read(each)));
    ExprPtr behind =
        both(ast::BinOp::LogOr, both(before, read(last_count), read(count)), std::move(same));
    behind =
        both(ast::BinOp::LogOr, both(ast::BinOp::Eq, read(turn_), number(0)), std::move(behind));
    ExprPtr better = both(ast::BinOp::LogOr, less(read(best), number(0)),
                          both(before, read(count), read(best_count)));
    Block take;
    take.body.push_back(set(best, read(each)));
    take.body.push_back(set(best_count, read(count)));
    Block look;
    look.body.push_back(set(count, bucket(each)));
    look.body.push_back(make_stmt(If{both(ast::BinOp::LogAnd, std::move(behind), std::move(better)),
                                     make_stmt(std::move(take), span_), nullptr},
                                  span_));
    out.push_back(set(best, number(-1)));
    out.push_back(set(each, number(0)));
    out.push_back(
        make_stmt(Loop{less(read(each), number(count_)), make(Crement{true, 1, read(each)}, span_),
                       make_stmt(std::move(look), span_)},
                  span_));
    // Counts that change meanwhile may leave none.
    Block none;
    none.body.push_back(make_stmt(Break{}, span_));
    out.push_back(make_stmt(
        If{less(read(best), number(0)), make_stmt(std::move(none), span_), nullptr}, span_));
    out.push_back(set(last, read(best)));
    out.push_back(set(last_count, read(best_count)));
    out.push_back(set(key, read(best)));
  }

  Binder& binder_;
  const ast::Foreach& f_;
  Span span_;
  LocalId turn_;
  int64_t count_ = 0;
  bool linear_ = false;
};

}  // namespace

void want_stat(Binder& binder, GlobalId global, StatOp op) {
  Global& wanted = binder.program.globals[global];
  if (op > StatOp::Avg)
    (op == StatOp::Variance ? wanted.asked.variance : wanted.asked.percentiles) = true;
}

ExprPtr bind_stat(Binder& binder, StatOp op, const ast::At& a, Span span) {
  size_t most = op == StatOp::Variance ? 2 : 1;
  if (a.args.empty() || a.args.size() > most) {
    binder.diags.error(
        "DJ2007", span,
        fmt::format("`@{}` takes {} argument{}, got {}", a.op, most == 1 ? "1" : "1 or 2",
                    most == 1 ? "" : "s", a.args.size()));
    return poison(span);
  }
  if (a.args.size() == 2) {
    // Squares are summed in 128 bits: the shift, which SystemTap needs for its precision, is not.
    const ast::Number* shift = std::get_if<ast::Number>(&a.args[1]->node);
    if (shift == nullptr || shift->value < 0 || shift->value > kMaxShift) {
      binder.diags.error("DJ2106", a.args[1]->span,
                         fmt::format("the bit shift is a literal number from 0 to {}", kMaxShift));
      return poison(span);
    }
  }
  ExprPtr where = bind_aggregate(binder, a, *a.args[0]);
  if (!where) return poison(span);
  want_stat(binder, array_or_global(*where), op);
  return make(StatRead{op, std::move(where)}, span, Type::Int);
}

ExprPtr bind_bucket(Binder& binder, const ast::Member& m, Span span) {
  const ast::At& a = std::get<ast::At>(m.base->node);
  if (m.path.size() != 1 || m.address_of || m.pretty != 0) {
    binder.diags.error("DJ2105", span, "a bucket of a histogram is a number and has no parts");
    return poison(span);
  }
  ExprPtr shown = counted_histogram(binder, a, m.base->span);
  ExprPtr index = binder.expr(*m.path[0].index);
  PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (hist == nullptr) return poison(span);
  return make(HistBucket{hist->linear, std::move(hist->place), std::move(index)}, span, Type::Int);
}

// n in @hist_...(x): whether the histogram has that bucket.
ExprPtr bind_in_histogram(Binder& binder, const ast::In& i, Span span) {
  ExprPtr shown = buckets_of(binder, *i.histogram, i.array_span);
  const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (i.keys.size() != 1 || !i.keys.front()) {
    binder.diags.error("DJ2025", i.array_span, "a histogram has one key: the number of the bucket")
        .help = "write 3 in @hist_log(x)";
    return poison(span);
  }
  if (hist == nullptr) return poison(span);
  LocalId bucket = binder.hidden_local(kAskedBucket);
  auto number = [&](int64_t value) { return make(IntLit{value}, span, Type::Int); };
  ExprPtr asked =
      make(Assign{std::nullopt, make(LocalRef{bucket}, span), binder.expr(*i.keys.front())}, span);
  ExprPtr from = make(Binary{ast::BinOp::Ge, std::move(asked), number(0)}, span);
  ExprPtr below =
      make(Binary{ast::BinOp::Lt, make(LocalRef{bucket}, span), number(bucket_count(binder, hist))},
           span);
  return make(Binary{ast::BinOp::LogAnd, std::move(from), std::move(below)}, span);
}

StmtPtr bind_bucket_loop(Binder& binder, const ast::Foreach& f, Span span) {
  return BucketLoop(binder, f, span).made();
}

}  // namespace dj
