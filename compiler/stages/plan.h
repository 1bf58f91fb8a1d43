// SPDX-License-Identifier: Apache-2.0
// STAGE TYPE Plan: which addresses of which modules get which handlers, and where every target
// value lies there. Knows files, not processes: sites are module + ELF address. Written by
// compiler/resolve; read by lower (handlers) and runtime/patch (sites).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/boxed_optional.h"
#include "compiler/stages/location.h"
#include "compiler/stages/program.h"

namespace dj {

using ModuleId = uint32_t;   // Plan::modules
using SiteId = uint32_t;     // Plan::sites
using HandlerId = uint32_t;  // Plan::handlers

struct PlanModule {
  std::string path;      // as the target sees it
  std::string build_id;  // hex, may be empty
};

enum class SiteKind : uint8_t {
  Entry,      // a function's first instruction (behind endbr64)
  Return,     // the function's exits: the engine finds them in [function_begin, function_end)
  Statement,  // any other instruction
};
char site_letter(SiteKind kind);  // 'e', 'r', 's' as --probes prints

// The site is a call: target values are the callee's, as its first instruction will see them.
struct CallOf {
  uint64_t callee = 0;  // its entry; 0: it lies in another object
  bool tail = false;    // a jump: the return address is on the stack already
  // Of the instruction behind the call, when the callee has returned: that of the call; else 0.
  uint64_t returned_from = 0;
  bool operator==(const CallOf&) const = default;
};

// The site is a linkage stub: a jump to a function of another object, whose return is the stub's.
struct StubOf {
  std::string name;  // of that function
  bool operator==(const StubOf&) const = default;
};

// The site is a system call instruction, or the one behind it.
struct SyscallOf {
  uint64_t address = 0;  // of the `syscall`
  bool done = false;     // behind it: the kernel has answered
  // What the point asks for, if the call has this number always. None: the handler has to look.
  std::optional<int64_t> number;
  // Threads arrive behind it that have not made this call: a new process or thread begins there, or
  // a jump leads there.
  bool others_arrive = false;
  bool operator==(const SyscallOf&) const = default;
};

// The site is an SDT mark: a place that the program's author named.
struct MarkOf {
  std::string provider, name;
  std::vector<std::string> operands;  // as the assembler writes them
  uint64_t semaphore = 0;             // ELF address of the 16-bit count of its users; 0: none
  bool operator==(const MarkOf&) const = default;
};

// One place to probe. All addresses are ELF virtual addresses of the module's file.
struct Site {
  ModuleId module = 0;
  SiteKind kind = SiteKind::Entry;
  uint64_t address = 0;  // IA; for Return the function's entry
  uint64_t function_begin = 0, function_end = 0;
  std::string function;  // as a person writes it (demangled); empty where nobody asks
  std::string symbol;    // as the linker wrote it
  BoxedText file;
  uint32_t line = 0;   // declaration or statement; may be empty
  uint64_t scope = 0;  // debug info's mark of the inlined copy whose variables are meant; 0: none
  BoxedOptional<CallOf> call;
  BoxedOptional<MarkOf> mark;
  BoxedOptional<StubOf> stub;
  BoxedOptional<SyscallOf> syscall;
  BoxedText listed;  // as -l writes it behind process(..), when kind and name do not say it all
  std::vector<HandlerId> handlers;  // in registration order
  bool operator==(const Site&) const = default;
};

// A text made of values: $$parms, $$vars, $$locals, $$return ("a=1 b=0x2"), $x$ ("{.x=1, .y=2}").
// A value that cannot be read when the probe is hit prints ? and is no error.
struct TargetText {
  struct Item {
    std::string before;    // the text in front of the value
    bool defined = false;  // false: no value is known, prints ?
    enum class As : uint8_t {
      Signed,
      Unsigned,
      Hex,
      Char,  // 'c'
      Wide,  // 128 bits: value is the low half, length the high one
      WideUnsigned,
      Text,  // "abc": value is the address; `length` or `limit` bytes, or up to its NUL
      Float,
      Double,  // value is the bits
      If,  // prints nothing; where value is 0 or unreadable, the next `limit` items do not print
      Nothing,  // prints nothing; only carries `before`
    } as = As::Signed;
    LocExpr value;
    LocExpr length;  // Text: how many bytes; no steps: see limit. Wide: see there
    uint32_t limit =
        0;  // Text: at most so many bytes, up to a NUL; 0: up to its NUL. If: see there
    std::vector<std::pair<int64_t, std::string>> names;  // values that print as a word: enums
    bool operator==(const Item&) const = default;
  };
  std::vector<Item> items;
  std::string after;  // behind the last value
  bool operator==(const TargetText&) const = default;
};

// What a target expression is at the sites of one handler.
struct Undefined {
  std::string reason;
  bool operator==(const Undefined&) const = default;
};  // only behind a false @defined
using TargetPlan = std::variant<Undefined, LocExpr, TargetText>;

// Values that a .return handler needs from the function's entry; taken by an entry site of their
// own and found again by stack address.
struct ReturnCapture {
  std::vector<LocExpr> values;
  // Bit i: values[i] stands in a text and may be unreadable. Behind the values then comes a word
  // that has the bits of those that were.
  uint32_t lenient = 0;
  size_t words() const { return values.size() + (lenient != 0); }
  bool operator==(const ReturnCapture&) const = default;
};

// One machine-code handler: a probe's body with one set of locations. Shared by all sites where
// these are equal.
struct Handler {
  ProbeId probe = 0;
  enum class Role : uint8_t {
    Body,     // runs the probe's body
    Capture,  // runs at a function's entry and only stores `capture` for the Body handler
              // `capture_for`
    Host,     // begin, end, timer: runs in the controller, void()
    Loader,   // runs where the target's loader says that objects came or went: tells the controller
    Forked,   // runs where a forked child begins: tells the controller, which runs the probe's Host
              // handler when the child has ended without a word
  } role = Role::Body;
  // Form of the detour that calls it (arch/x86_64/detour.h).
  enum class Form : uint8_t {
    Boundary,  // function entry or exit: flags and red zone are dead
    Middle,    // anywhere else
    Host,
  } form = Form::Boundary;
  std::vector<TargetPlan> targets;  // by TargetId
  ReturnCapture capture;  // Role::Capture: what to store; Role::Body: what it may PushEntry
  HandlerId capture_for = 0;
  bool wants_site = false;  // the body uses probefunc(), pp() ... : pass the site's index
  // A return handler of some function whose exits are also others': it runs there only for calls
  // that were kept at their entry.
  bool shared_exits = false;
  bool operator==(const Handler&) const = default;
};

// begin, end, error, process.begin, process.end, timers, input: what the controller runs and when.
struct HostProbe {
  enum class When : uint8_t {
    Begin,
    Oneshot,  // as Begin, behind all of those; then the session ends
    End,
    Error,  // instead of End, when errors ended the session
    Never,
    ProcessBegin,
    ProcessEnd,
    Timer,
    Input  // for each byte of djtap's standard input
  } when = When::Begin;
  uint64_t interval_ns = 0;  // Timer
  uint64_t random_ns = 0;    // Timer: each interval is longer or shorter by up to this
  HandlerId handler = 0;
  std::string text;  // "timer.s(1)"
  // ProcessBegin, ProcessEnd: processes that run or have mapped one of these files are meant. Empty:
  // all are.
  std::vector<std::string> files;
};

struct Plan {
  std::vector<PlanModule> modules;
  std::vector<Site> sites;
  std::vector<Handler> handlers;
  std::vector<HostProbe> host_probes;
  std::vector<TargetPlan> function_targets;  // by Program::function_targets
  // Objects that the target opens later (dlopen) are looked at: points may mean them, stacks lead
  // through them, or counters be in danger of their code.
  bool awaits_objects = false;
  // A process.library() point means only such objects: what it will probe may need an int3.
  bool expects_objects = false;
  // Further processes may join the session; the session says so, behind resolve().
  bool awaits_processes = false;
  // Probes may be added to the running session (--control); as said behind resolve().
  bool awaits_additions = false;
  // The processes that have the script's files are meant, so what these execute is none of them; as
  // said behind resolve().
  bool is_everywhere = false;
  // Places where functions with return sites leave, which find_exits() has counted (tail_calls.h).
  uint64_t exits = 0;
  // The site of the Loader handler, if the target has such a place; it is no probe, and not listed.
  std::optional<SiteId> loader_site;
  // Of a plan for objects that came later: the session's numbers of its first site and handler.
  SiteId first_site = 0;
  HandlerId first_handler = 0;
  // Host probes that were added to the session; their handlers have the session's numbers.
  std::vector<HostProbe> added_hosts;
  std::vector<Site> dlopened;  // sites of such plans, numbered behind host_probes
  // Of the handlers of such plans, numbered behind `handlers`: the probe whose calls one follows.
  std::vector<std::optional<ProbeId>> dlopened_calls;
};
// Whether the site is the row of a host probe that was added to the session (Plan::dlopened).
inline bool is_host(const Site& site) { return site.address == 0 && site.symbol.empty(); }
// The site of that number in the session; null: a host probe's, or none.
const Site* site_numbered(const Plan& plan, uint32_t number);

}  // namespace dj
