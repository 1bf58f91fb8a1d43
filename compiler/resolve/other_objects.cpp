// SPDX-License-Identifier: Apache-2.0
// Finds the objects by the names people write, and gives their variables fixed addresses.
#include "compiler/resolve/other_objects.h"

#include <fmt/format.h>
#include <unistd.h>

namespace dj {

namespace {

TargetFailure object_failure(TargetFailure::Kind kind, std::string message) {
  TargetFailure f;
  f.kind = kind;
  f.message = std::move(message);
  return f;
}

// "a:b", but not inside "<...>".
std::vector<std::string> parts_of(const std::string& names) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : names) {
    depth += (c == '<') - (c == '>');
    if (c == ':' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// The object stands at `bias`, wherever the probe is; it may be gone when the probe is hit.
void fix_place(LocExpr& expr, uint64_t bias) {
  for (LocStep& step : expr.steps) {
    if (step.op == LocStep::PushBias) {
      step = {LocStep::PushConst, int64_t(bias)};
    } else if (step.op == LocStep::StackDeref) {
      step.op = LocStep::Deref;
    }
  }
}

void fix_place(TargetText& text, uint64_t bias) {
  for (TargetText::Item& item : text.items) {
    fix_place(item.value, bias);
    fix_place(item.length, bias);
  }
}

// The lines behind the first are what the compiler said.
TargetFailure bad_header(const std::string& message) {
  size_t end = std::min(message.find('\n'), message.size());
  TargetFailure f = object_failure(TargetFailure::BadHeader, message.substr(0, end));
  while (end < message.size()) {
    const size_t begin = end + 1;
    end = std::min(message.find('\n', begin), message.size());
    f.notes.push_back(message.substr(begin, end - begin));
  }
  return f;
}

// The headers of structures that programs share with the kernel: what "kernel" can mean for them.
constexpr const char* kSharedHeaders =
    "<sys/types.h><sys/stat.h><sys/statfs.h><sys/socket.h><netinet/in.h><sys/un.h><time.h>"
    "<sys/time.h><sys/times.h><sys/timex.h><sys/uio.h><signal.h><ucontext.h><sys/resource.h>"
    "<poll.h><sys/epoll.h><sys/sem.h><sys/shm.h><sys/msg.h><dirent.h><fcntl.h><sched.h>"
    "<sys/utsname.h><sys/sysinfo.h><termios.h><linux/aio_abi.h><linux/futex.h>";

bool is_kernel(const std::string& part) { return part == "kernel" || part.starts_with("kernel<"); }

// kernel<linux/aio.h>: the kernel keeps what programs see of it in <linux/aio_abi.h>, or in a
// header of the same name.
std::string headers_of_kernel(const std::string& part) {
  if (part == "kernel") return kSharedHeaders;
  std::string header = part.substr(part.find('<'));
  if (!header.ends_with(".h>")) return header;
  const std::string abi = header.substr(1, header.size() - 4) + "_abi.h";
  return ::access(("/usr/include/" + abi).c_str(), R_OK) == 0 ? "<" + abi + ">" : header;
}

TargetFailure of_kernel() {
  TargetFailure f =
      object_failure(TargetFailure::NotBuilt,
                     "the kernel's headers describe the kernel, which djtap does not look into");
  f.help =
      "for a type of a program write the header alone: @cast(p, \"timeval\", "
      "\"<sys/time.h>\")";
  return f;
}

// Another object may know the name.
bool goes_on(const TargetFailure& f) {
  return f.kind == TargetFailure::UnknownName || f.kind == TargetFailure::NoDebugInfo;
}

}  // namespace

bool OtherObjects::asked(const TargetExpr& expr, const Module& probed) {
  return !expr.module.empty() && expr.module != probed.path() && expr.module != probed.base_name();
}

Result<OtherObject> OtherObjects::file(const std::string& path, std::string name) {
  std::unique_ptr<Module>& module = files_[path];
  if (!module) {
    Result<std::unique_ptr<Module>> opened = Module::open(path);
    if (!opened.ok()) return opened.error();
    module = opened.take();
    module->set_printers(modules_.printers());
  }
  return OtherObject{module.get(), std::move(name), std::nullopt};
}

std::optional<TargetFailure> OtherObjects::add_headers(const std::string& headers,
                                                       const TargetExpr& expr,
                                                       std::vector<OtherObject>& out) {
  if (expr.base == TargetExpr::Var) {
    return object_failure(
        TargetFailure::BadUse,
        "a header has types, not variables: name the object that has the variable");
  }
  if (headers.back() != '>' || headers.size() < 3) {
    return object_failure(TargetFailure::BadHeader,
                          fmt::format("\"{}\" is no header: write \"<name.h>\"", headers));
  }
  if (!compile_headers_) {
    return object_failure(TargetFailure::BadHeader, "headers cannot be compiled here");
  }
  const Result<std::string> object = compile_headers_(headers);
  if (!object.ok()) {
    return bad_header(object.error().message);
  }
  const Result<OtherObject> types = file(object.value(), headers);
  if (!types.ok()) {
    return bad_header(types.error().message);
  }
  out.push_back(types.value());
  return std::nullopt;
}

std::optional<TargetFailure> OtherObjects::add_named(const std::string& name,
                                                     const TargetExpr& expr,
                                                     std::vector<OtherObject>& out) {
  const std::vector<size_t> found = modules_.named(name, 0);
  for (size_t i : found) {
    Module* module = modules_.open(i);
    if (module) {
      out.push_back({module, module->base_name(), modules_.bias(i)});
    }
  }
  if (!found.empty()) {
    return std::nullopt;
  }
  if (expr.base == TargetExpr::Cast && ::access(name.c_str(), R_OK) == 0) {
    const Result<OtherObject> types = file(name, name);
    if (!types.ok()) {
      return object_failure(TargetFailure::NoObject, types.error().message);
    }
    out.push_back(types.value());
    return std::nullopt;
  }
  if (!modules_.has_target()) {
    TargetFailure f = object_failure(TargetFailure::NoObject, "no process is traced");
    f.help = kTraceSomething;
    return f;
  }
  TargetFailure f = object_failure(TargetFailure::NoObject,
                                   fmt::format("\"{}\" is no object of the traced process", name));
  f.notes.push_back(modules_.listed());
  return f;
}

OtherObjects::Found OtherObjects::objects(const TargetExpr& expr, const Module* probed) {
  std::vector<OtherObject> found;
  std::optional<TargetFailure> missing;  // of a list of objects those that are there count
  for (const std::string& part : parts_of(expr.module)) {
    std::optional<TargetFailure> failed;
    if (is_kernel(part)) {
      if (expr.base == TargetExpr::Var) return of_kernel();
      failed = add_headers(headers_of_kernel(part), expr, found);
      if (failed && !failed->notes.empty()) failed = of_kernel();  // it is not one of programs
    } else if (part.starts_with('<')) {
      failed = add_headers(part, expr, found);
    } else {
      failed = add_named(!part.empty() ? part : probed ? probed->path() : "*", expr, found);
    }
    if (failed && failed->kind != TargetFailure::NoObject) {
      return *failed;
    }
    if (failed && !missing) missing = std::move(failed);
  }
  if (found.empty() && missing) return *missing;
  return found;
}

template <typename Answer, typename Ask>
Answer OtherObjects::first_answer(const TargetExpr& expr, const Module* probed, Ask ask) {
  Found found = objects(expr, probed);
  if (auto* f = std::get_if<TargetFailure>(&found)) {
    return *f;
  }
  TargetFailure last =
      object_failure(TargetFailure::BadUse, fmt::format("\"{}\" is no object file", expr.module));
  std::string searched, unknown;  // what had debug info, and what it said
  for (const OtherObject& object : std::get<std::vector<OtherObject>>(found)) {
    DebugInfo* info = object.file ? object.file->debug_info() : nullptr;
    if (!info) {
      if (searched.empty()) {
        last = object_failure(TargetFailure::NoDebugInfo, object.name + " has no debug info");
      }
      continue;
    }
    Answer answer = ask(*info);
    if (const auto* f = std::get_if<TargetFailure>(&answer)) {
      if (!goes_on(*f)) {
        return *f;
      }
      if (searched.empty()) {
        last = *f;
        unknown = f->message;
      }
      searched += (searched.empty() ? "" : ", ") + object.name;
      last.message = unknown + " (searched: " + searched + ")";
      continue;
    }
    if (expr.base == TargetExpr::Var && !object.bias) {
      return object_failure(TargetFailure::NotHere,
                            fmt::format("where {} lies in memory is known only with "
                                        "a target (-c, -p)",
                                        object.name));
    }
    std::visit(
        [&](auto& value) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, TargetFailure>) {
            fix_place(value, object.bias.value_or(0));
          }
        },
        answer);
    return answer;
  }
  return is_kernel(expr.module) ? of_kernel() : last;
}

TargetAnswer OtherObjects::target(const TargetExpr& expr, const Module& probed) {
  return first_answer<TargetAnswer>(expr, &probed,
                                    [&](DebugInfo& info) { return info.target({}, expr); });
}

TargetAnswer OtherObjects::target(const TargetExpr& expr) {
  return first_answer<TargetAnswer>(expr, nullptr,
                                    [&](DebugInfo& info) { return info.target({}, expr); });
}

TextAnswer OtherObjects::text(const TargetExpr& expr, const Module& probed) {
  return first_answer<TextAnswer>(expr, &probed,
                                  [&](DebugInfo& info) { return info.text({}, expr); });
}

TextAnswer OtherObjects::text(const TargetExpr& expr) {
  return first_answer<TextAnswer>(expr, nullptr,
                                  [&](DebugInfo& info) { return info.text({}, expr); });
}

}  // namespace dj
