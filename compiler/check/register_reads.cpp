// SPDX-License-Identifier: Apache-2.0
// Finds what functions read of the probed place, over all calls between them.
#include "compiler/check/register_reads.h"

#include <fmt/format.h>

#include <set>

#include "compiler/check/forms.h"
#include "compiler/stages/walk_ast.h"

namespace dj {
namespace {

constexpr const char* kPrinted[] = {"rip", "rsp", "eflags", "rax", "rbx", "rcx", "rdx", "rsi",
                                    "rdi", "rbp", "r8",     "r9",  "r10", "r11", "r12", "r13",
                                    "r14", "r15", "cs",     "ds",  "es",  "ss",  "fs",  "gs"};

// What the functions of one name read and call.
struct ReadsOfName {
  const std::set<std::string>* functions;         // all names that the script defines
  std::map<std::string, const ast::Call*> reads;  // by text
  std::set<std::string> calls;

  void add(const ast::Call& call) {
    Diags unheard;
    TargetExpr wanted;
    if (describe_read(call, wanted, unheard)) reads.emplace(text_of_read(call), &call);
  }
  void operator()(const ast::Expr& e) {
    if (const auto* call = std::get_if<ast::Call>(&e.node)) {
      if (functions->contains(call->name)) {
        calls.insert(call->name);
      } else if (is_register_name(call->name)) {
        add(*call);
      } else if (call->name == "print_regs") {
        for (const ast::Call& each : printed_registers()) add(each);
      }
    }
    ast::for_each_child(e, *this);
  }
  void operator()(const ast::Stmt& s) { ast::for_each_child(s, *this); }
};

}  // namespace

const char* const kRegistersFormat =
    "RIP: %016x\nRSP: %016x  EFLAGS: %08x\nRAX: %016x RBX: %016x RCX: %016x\nRDX: %016x RSI: %016x "
    "RDI: %016x\n"
    "RBP: %016x R08: %016x R09: %016x\nR10: %016x R11: %016x R12: %016x\n"
    "R13: %016x R14: %016x R15: %016x\nCS:  %04x DS: %04x ES: %04x\nSS:  %04x FS: %04x GS: %04x\n";

const std::vector<ast::Call>& printed_registers() {
  static const std::vector<ast::Call> calls = [] {
    std::vector<ast::Call> made;
    for (const char* name : kPrinted) {
      ast::Call call{.name = "register", .name_span = {}, .args = {}};
      call.args.push_back(std::make_unique<ast::Expr>(ast::Expr{{}, ast::String{name}}));
      made.push_back(std::move(call));
    }
    return made;
  }();
  return calls;
}

std::string text_of_read(const ast::Call& call) {
  if (call.args.empty()) return call.name + "()";
  if (const auto* name = std::get_if<ast::String>(&call.args[0]->node))
    return fmt::format("{}(\"{}\")", call.name, name->value);
  const auto* number = std::get_if<ast::Number>(&call.args[0]->node);
  return number == nullptr ? "" : fmt::format("{}({})", call.name, number->value);
}

RegisterReads find_register_reads(const ast::Script& script) {
  std::set<std::string> names;
  for (const ast::FunctionDecl& decl : script.functions) names.insert(decl.name);
  std::map<std::string, ReadsOfName> bodies;
  bool any = false;
  for (const ast::FunctionDecl& decl : script.functions) {
    ReadsOfName& body = bodies.try_emplace(decl.name, ReadsOfName{&names, {}, {}}).first->second;
    body(*decl.body);
    any = any || !body.reads.empty();
  }
  // Reads travel against the calls until no function learns of a new one.
  for (bool grown = any; grown;) {
    grown = false;
    for (auto& [name, body] : bodies) {
      const size_t before = body.reads.size();
      for (const std::string& callee : body.calls) {
        const ReadsOfName& other = bodies.at(callee);
        if (&other != &body) body.reads.insert(other.reads.begin(), other.reads.end());
      }
      grown = grown || body.reads.size() != before;
    }
  }
  RegisterReads reads;
  for (auto& [name, body] : bodies) {
    std::vector<RegisterRead>& list = reads[name];
    for (const auto& [text, call] : body.reads) list.push_back({text, call});
  }
  return reads;
}

}  // namespace dj
