// SPDX-License-Identifier: Apache-2.0
// Binds register("rax"), uint_arg(1) and their session processes: values of the probed place that
// need no debug info. They become targets: resolve knows where they lie.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/x86_64/registers.h"
#include "compiler/check/forms.h"
#include "compiler/check/register_reads.h"
#include "compiler/check/uses.h"

namespace dj {
namespace {

struct ArgumentRow {
  std::string_view name;
  uint8_t bytes;
  bool is_signed;
  bool fraction = false;  // in a vector register; only those are counted
};
constexpr std::array<ArgumentRow, 13> kArguments = {{
    {"int_arg", 4, true},
    {"uint_arg", 4, false},
    {"long_arg", 8, true},
    {"ulong_arg", 8, false},
    {"longlong_arg", 8, true},
    {"ulonglong_arg", 8, false},
    {"pointer_arg", 8, false},
    {"s32_arg", 4, true},
    {"u32_arg", 4, false},
    {"s64_arg", 8, true},
    {"u64_arg", 8, false},
    {"double_arg", 8, true, true},
    {"float_arg", 4, true, true},
}};
constexpr std::array<std::string_view, 3> kRegisters = {"register", "u_register", "returnval"};
constexpr int64_t kMaxArgument = 64;
constexpr int64_t kMaxVector = 8;  // those with a fraction: as many as registers carry

const ArgumentRow* find_argument(std::string_view name) {
  const ArgumentRow* found = std::find_if(kArguments.begin(), kArguments.end(),
                                          [&](const ArgumentRow& row) { return row.name == name; });
  return found == kArguments.end() ? nullptr : found;
}

// "eax" is the low half of "rax", "al" its low byte: how many bytes `name` is of `whole`; 0: none.
uint8_t bytes_of(const std::string& name, const std::string& whole) {
  if (name == whole) return 8;
  if (whole[1] >= '0' && whole[1] <= '9') {  // r8 .. r15
    if (name.size() != whole.size() + 1 || !name.starts_with(whole)) return 0;
    return name.back() == 'd' ? 4 : name.back() == 'w' ? 2 : name.back() == 'b' ? 1 : 0;
  }
  const std::string half = whole.substr(1);  // ax, si
  if (name == "e" + half) return 4;
  if (name == half) return 2;
  const bool letter = half.back() == 'x';  // ax has al; si has sil
  return name == (letter ? half.substr(0, 1) : half) + "l" ? 1 : 0;
}

void register_row(const ast::Call& c, TargetExpr& wanted, Diags& diags) {
  wanted.base = TargetExpr::Register;
  wanted.is_signed = c.name == "register";
  const ast::String* name =
      c.args.size() == 1 ? std::get_if<ast::String>(&c.args[0]->node) : nullptr;
  std::vector<std::string> known(std::begin(arch::kRegNames), std::end(arch::kRegNames));
  known.push_back("rip");
  const size_t general = known.size();  // the others have no parts
  for (const arch::NamedReg& other : arch::kOtherRegNames) known.push_back(other.name);
  for (size_t i = 0; i < known.size(); ++i) {
    const std::string& whole = known[i];
    const bool same = name != nullptr && name->value == whole;
    const uint8_t bytes = same                              ? 8
                          : name == nullptr || i >= general ? 0
                                                            : bytes_of(name->value, whole);
    if (bytes == 0) continue;
    wanted.name = whole;
    wanted.bytes = bytes;
    return;
  }
  Diag& diag = diags.error("DJ2027", name == nullptr ? c.name_span : c.args[0]->span,
                           name == nullptr
                               ? fmt::format("`{}` takes the name of a register", c.name)
                               : fmt::format("there is no general register \"{}\"", name->value));
  diag.notes.push_back(
      "registers: rax rbx rcx rdx rsi rdi rbp rsp r8 to r15 rip; eax, ax, al ... their parts; "
      "eflags cs ds es ss fs gs");
  if (name != nullptr) diag.suggest(near_names(name->value, known));
}

void argument_row(const ast::Call& c, TargetExpr& wanted, Diags& diags) {
  const ArgumentRow& row = *find_argument(c.name);
  const ast::Number* n = c.args.size() == 1 ? std::get_if<ast::Number>(&c.args[0]->node) : nullptr;
  wanted.base = TargetExpr::Argument;
  wanted.name = c.name;
  wanted.bytes = row.bytes;
  wanted.is_signed = row.is_signed;
  wanted.index = n == nullptr ? 0 : n->value;
  const int64_t last = row.fraction ? kMaxVector : kMaxArgument;
  if (wanted.index >= 1 && wanted.index <= last) return;
  diags
      .error("DJ2027", c.args.empty() ? c.name_span : c.args[0]->span,
             fmt::format("`{}` takes the number of an argument, 1 to {}", c.name, last))
      .help = fmt::format("write {}(1) for the first", c.name);
}

}  // namespace

bool is_register_name(std::string_view name) {
  return std::find(kRegisters.begin(), kRegisters.end(), name) != kRegisters.end() ||
         find_argument(name) != nullptr;
}

std::vector<std::string> register_names() {
  std::vector<std::string> names(kRegisters.begin(), kRegisters.end());
  for (const ArgumentRow& row : kArguments) names.emplace_back(row.name);
  return names;
}

bool describe_read(const ast::Call& c, TargetExpr& wanted, Diags& diags) {
  const size_t errors = diags.error_count();
  if (find_argument(c.name) != nullptr) {
    argument_row(c, wanted, diags);
  } else if (c.name == "returnval" && c.args.empty()) {
    wanted.base = TargetExpr::Register;  // whatever the type: see $return for that
    wanted.name = "rax";
  } else {
    register_row(c, wanted, diags);
  }
  return diags.error_count() == errors;
}

ExprPtr bind_register(Binder& binder, const ast::Call& c, Span span) {
  TargetView like;
  like.name = c.name;
  if (binder.probe != nullptr && !target_allowed(binder, like, span)) return poison(span);
  TargetExpr wanted{.span = span, .name_span = span};
  if (!describe_read(c, wanted, binder.diags)) return poison(span);
  if (binder.probe == nullptr) return make(LocalRef{binder.scope.locals.at(text_of_read(c))}, span);
  return make(TargetRef{intern(binder, std::move(wanted)), {}}, span, Type::Int);
}

// What the functions called `name` read of the probed place: of the probe's own, or, where a
// function calls, of its own parameters. Appended to the arguments.
void pass_registers(Binder& binder, const std::string& name, Span span,
                    std::vector<ExprPtr>& args) {
  for (const RegisterRead& read : binder.notes.register_reads.at(name)) {
    const size_t errors = binder.diags.error_count();
    args.push_back(bind_register(binder, *read.call, span));
    if (binder.diags.error_count() == errors) continue;
    binder.diags.last().notes.push_back(fmt::format("`{}` reads {}", name, read.text));
    return;
  }
}

ExprPtr bind_print_registers(Binder& binder, const ast::Call& c, Span span) {
  if (!c.args.empty()) {
    binder.diags.error("DJ2007", span,
                       fmt::format("`print_regs` takes no arguments, got {}", c.args.size()));
    return poison(span);
  }
  std::vector<ExprPtr> args;
  FormatId id = static_cast<FormatId>(binder.program.formats.size());
  PrintNote note{
      .formatted = true, .conversions = {}, .literal = span, .delimiter = "", .ending = ""};
  // As there: a probe without registers prints none.
  if (binder.probe == nullptr || !is_host(*binder.source)) {
    for (const ast::Call& each : printed_registers())
      args.push_back(bind_register(binder, each, span));
    note.conversions = split_format(kRegistersFormat, span, binder.diags).conversions;
  }
  binder.program.formats.push_back({args.empty() ? "" : kRegistersFormat, {}});
  binder.notes.prints.push_back(std::move(note));
  return make(Print{true, id, std::move(args)}, span, Type::Void);
}

}  // namespace dj
