// SPDX-License-Identifier: Apache-2.0
// TestSession: maps, formats and calls; the assembly below plays the detour of
// arch/x86_64/detour.h.
#include "compiler/lower/session_test.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/sysinfo.h>

#include <cstring>

#include "arch/x86_64/registers.h"
#include "compiler/check/check.h"
#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "runtime/shared/capture.h"
#include "runtime/shared/map.h"
#include "runtime/shared/ring.h"
#include "runtime/shared/strings.h"
#include "runtime/shared/thread_table.h"

// What dj_test_detour reads and writes; offsets are in its code.
struct Call {
  uint64_t handler;      // 0
  uint64_t count;        // 8: of stack
  uint64_t in[16];       // 16, by DWARF number
  uint64_t out[16];      // 144
  uint64_t rsp_at_site;  // 272
  uint64_t stack[18];    // 280: first one lowest
};

extern "C" {
void dj_test_detour(Call* call);
thread_local Call* dj_test_call;
}

asm(R"(
.text
.globl dj_test_detour
dj_test_detour:
  push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15
  mov %rdi, %fs:dj_test_call@tpoff
  mov %rsp, 272(%rdi)
  push %r11
  mov 8(%rdi), %rcx
1: test %rcx, %rcx
  jz 2f
  push 272(%rdi,%rcx,8)
  dec %rcx
  jmp 1b
2: mov %rdi, %r11
  mov 16(%r11), %rax;  mov 24(%r11), %rdx;  mov 32(%r11), %rcx;  mov 40(%r11), %rbx
  mov 48(%r11), %rsi;  mov 56(%r11), %rdi;  mov 64(%r11), %rbp
  mov 80(%r11), %r8;   mov 88(%r11), %r9;   mov 96(%r11), %r10
  mov 112(%r11), %r12; mov 120(%r11), %r13; mov 128(%r11), %r14; mov 136(%r11), %r15
  call *(%r11)
  mov %fs:dj_test_call@tpoff, %r11
  mov %rax, 144(%r11); mov %rdx, 152(%r11); mov %rcx, 160(%r11); mov %rbx, 168(%r11)
  mov %rsi, 176(%r11); mov %rdi, 184(%r11); mov %rbp, 192(%r11)
  mov %r8, 208(%r11);  mov %r9, 216(%r11);  mov %r10, 224(%r11)
  mov %r12, 240(%r11); mov %r13, 248(%r11); mov %r14, 256(%r11); mov %r15, 264(%r11)
  mov 272(%r11), %rsp
  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx
  ret
)");

namespace dj {
namespace {

LocExpr in_register(uint8_t reg) { return LocExpr{{{LocStep::PushReg, reg}}}; }

TargetPlan target_plan(const TargetExpr& target, const SessionOptions& options) {
  auto given = options.targets.find(target.name);
  if (given != options.targets.end()) return given->second;
  if (target.name.size() == 1 && target.name[0] >= 'a' && target.name[0] <= 'f') {
    return in_register(arch::kArgumentRegs[target.name[0] - 'a']);
  }
  return Undefined{"not a target of this test"};
}

}  // namespace

TestSession::TestSession(std::string_view script, SessionOptions options) {
  Sources sources;
  Diags diags;
  uint32_t file = sources.add("test", std::string(script));
  ast::Script tree = parse(sources, file, {}, diags);
  if (diags.ok()) program = check(tree, {}, diags);
  std::string complaints;
  for (const Diag& diag : diags.all()) complaints += render(diag, sources, false);
  if (!diags.ok()) throw std::runtime_error(complaints);
  plan_probes(options);
  layout = lay_out(program, plan, options.limits, static_cast<uint32_t>(get_nprocs_conf()),
                   kNominalBase);
  EmitOptions emit{{options.has_rseq}, options.want_texts, options.want_texts};
  static ir::Backend backend;  // takes as long to make as a script to compile
  Result<Image> made = ir::lower(backend, program, plan, layout, emit, abis);
  if (!made.ok()) throw std::runtime_error(made.error().message);
  image = made.take();

  void* arena = mmap(reinterpret_cast<void*>(layout.base), memory_bytes(), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  if (arena != reinterpret_cast<void*>(layout.base))
    throw std::runtime_error("no low memory for the arena");
  code_bytes_ = link_bytes(image);
  code_ = mmap(nullptr, code_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Result<Linked> placed =
      link(image, reinterpret_cast<uint64_t>(code_), {static_cast<uint8_t*>(code_), code_bytes_},
           {__rseq_offset, 0, layout.header.threads.address(layout.arena()),
            layout.header.own_stacks.address(layout.arena())});
  if (!placed.ok()) throw std::runtime_error(placed.error().message);
  linked = placed.take();
  mprotect(code_, code_bytes_, PROT_READ | PROT_EXEC);
  format_arena();
}

TestSession::~TestSession() {
  munmap(reinterpret_cast<void*>(layout.base), memory_bytes());
  munmap(code_, code_bytes_);
}

// The arena's and, behind it, the private memory's.
uint64_t TestSession::memory_bytes() const {
  return layout.bytes + abi::private_bytes(abi::context_bytes(&layout.header));
}

// What runtime/session does, as far as handlers need it.
void TestSession::format_arena() {
  header() = layout.header;
  for (size_t i = 0; i < program.globals.size(); ++i) {
    const Global& global = program.globals[i];
    const GlobalSlot& place = layout.globals[i];
    const abi::StatShape* shape = global.value == Type::Stat ? &place.shape : nullptr;
    if (shape) std::memcpy(reinterpret_cast<void*>(place.shape_address), shape, sizeof *shape);
    if (global.storage == Storage::Array) {
      abi::map_init(reinterpret_cast<abi::Map*>(place.address), map_form(global, place, layout),
                    place.data - layout.base);
    }
  }
  format_tables();
  for (size_t i = 0; i < layout.strings.texts.size(); ++i) {
    *reinterpret_cast<uint32_t*>(layout.strings.words[i]) =
        static_cast<uint32_t>(interned(layout.strings.texts[i]));
  }
}

void TestSession::format_tables() {
  const auto string_bytes = static_cast<uint64_t>(layout.limits.string_bytes);
  abi::strings_init(layout.header.strings.get(layout.arena()), layout.strings.data - layout.base,
                    string_bytes, layout.strings.constants - layout.base, string_bytes);
  if (layout.header.captures.is_set())
    abi::captures_init(layout.header.captures.get(layout.arena()),
                       layout.words.captures - layout.base, plan.handlers.size());
}

void TestSession::plan_probes(const SessionOptions& options) {
  for (ProbeId id = 0; id < program.probes.size(); ++id) {
    const Probe& probe = program.probes[id];
    Handler handler;
    handler.probe = id;
    for (const TargetExpr& target : probe.targets)
      handler.targets.push_back(target_plan(target, options));
    const std::string& kind = probe.points[0].components[0].name;
    if (kind == "func") {
      Site site;
      site.handlers.push_back(id);
      plan.sites.push_back(site);
    } else {
      handler.role = Handler::Role::Host;
      handler.form = Handler::Form::Host;
      plan.host_probes.push_back({HostProbe::When::Begin, 0, 0, id, kind});
    }
    plan.handlers.push_back(std::move(handler));
  }
  for (ProbeId id = 0; id < program.probes.size(); ++id) {
    if (program.probes[id].points[0].components.back().name == "return") capture_at_entry(id);
  }
}

void TestSession::capture_at_entry(HandlerId id) {
  Handler capture;
  capture.probe = plan.handlers[id].probe;
  capture.role = Handler::Role::Capture;
  capture.capture_for = id;
  Handler& body = plan.handlers[id];
  for (TargetPlan& target : body.targets) {
    int64_t index = static_cast<int64_t>(capture.capture.values.size());
    capture.capture.values.push_back(std::get<LocExpr>(target));
    target = LocExpr{{{LocStep::PushEntry, index}}};
  }
  body.capture = capture.capture;
  plan.handlers.push_back(std::move(capture));
}

uint64_t TestSession::hit(HandlerId id, const Registers& registers) {
  Call call = {};
  call.handler = linked.symbols.at("dj_handler_" + std::to_string(id));
  std::memcpy(call.in, registers.r, sizeof call.in);
  if (abis[id].wants_site) call.stack[call.count++] = 0;
  for (uint8_t reg : abis[id].stack_regs) call.stack[call.count++] = registers.r[reg];
  dj_test_detour(&call);
  for (int reg = 0; reg < arch::kRegCount; ++reg) {
    if (reg == arch::kRsp || reg == arch::kR11) continue;
    EXPECT_EQ(call.in[reg], call.out[reg])
        << "handler " << id << " changed " << arch::kRegNames[reg];
  }
  return call.rsp_at_site;
}

void TestSession::run_host(HandlerId id) { entry<void()>("dj_handler_" + std::to_string(id))(); }

const GlobalSlot& TestSession::slot(const std::string& name) {
  for (size_t i = 0; i < program.globals.size(); ++i) {
    if (program.globals[i].name == name) return layout.globals[i];
  }
  throw std::runtime_error("no global " + name);
}

int64_t TestSession::number(const std::string& global) {
  const GlobalSlot& place = slot(global);
  if (place.address == 0) return entry<int64_t(uint32_t)>("dj_count_read")(place.counter);
  return *reinterpret_cast<int64_t*>(place.address);
}

std::string TestSession::text(const std::string& global) {
  const auto ref = *reinterpret_cast<const abi::StrWord*>(slot(global).address);
  const abi::Text text = abi::text_of(abi::str_at(&header(), ref));
  return std::string(text.data, text.len);
}

int64_t TestSession::element(const std::string& array, std::vector<uint64_t> keys) {
  return entry<int64_t(uint64_t, const uint64_t*)>("dj_map_get")(slot(array).address, keys.data());
}

abi::StrWord TestSession::interned(const std::string& text) {
  std::vector<char> bytes(sizeof(abi::Str) + text.size());
  auto* str = reinterpret_cast<abi::Str*>(bytes.data());
  str->len = static_cast<uint32_t>(text.size());
  std::memcpy(str->data, text.data(), text.size());
  return abi::ref_to(&header(), entry<const abi::Str*(const abi::Str*)>("dj_intern")(str));
}

}  // namespace dj
