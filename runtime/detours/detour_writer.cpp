// SPDX-License-Identifier: Apache-2.0
// How a detour is built.
//
// Handlers for a function's boundary and for the middle expect different frames
// (arch/x86_64/detour.h). Where both kinds meet at one address, the boundary handlers get a detour
// of their own in front, which ends in a jump to the other.
#include "runtime/detours/detour_writer.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "arch/x86_64/sample.h"
#include "runtime/shared/detour_note.h"

namespace dj {
namespace {

constexpr uint64_t kAlignSlack = 16;
const std::vector<uint8_t> kNoRegs;
// jmp to the next instruction: as a region "original" 5 bytes before X it relocates to a jump to X.
constexpr uint8_t kJumpToNext[5] = {0xe9, 0, 0, 0, 0};

arch::HandlerCall handler_call(const PatchCall& call, const std::vector<HandlerAbi>& abis,
                               const Linked& code) {
  arch::HandlerCall out;
  if (call.kind == PatchCall::Body) {
    out.stack_regs = abis[call.handler].stack_regs;
    out.wants_site = abis[call.handler].wants_site;
  }
  out.wants_site = out.wants_site || call.kind == PatchCall::Leave;
  out.site = call.site | call.exit;
  out.slot = call.slot;
  if (call.kind == PatchCall::Body && call.slot == 0) {
    out.count_word = abis[call.handler].count_word;
    out.count_add = abis[call.handler].count_add;
  }
  // Handlers that detours stand for may have no code there.
  if (out.count_word == 0) out.address = entry_of(call, code);
  return out;
}

// Does this handler run only if the exit instruction leaves the function?
bool sometimes(const PatchSite& site, const PatchCall& call) {
  return call.at_exit && site.leaving;
}

// The exit handlers that must wait for the exit instruction's decision go with the site's own
// bytes.
void add_exit_calls(const PatchSite& site, const std::vector<HandlerAbi>& abis, const Linked& code,
                    arch::DetourRequest& request) {
  if (site.leaving) request.leaving = *site.leaving;
  for (const PatchCall& call : site.calls) {
    if (sometimes(site, call)) {
      request.exit_calls.push_back(handler_call(call, abis, code));
    }
  }
}

// The site's request with the handlers of one form only, that run in any case.
void request_for(const PatchSite& site, arch::Form form, const std::vector<HandlerAbi>& abis,
                 const Linked& code, arch::DetourRequest& request) {
  request.calls.clear();
  request.exit_calls.clear();
  request.leaving = {};
  request.syscall_hook = request.child_hook = 0;
  request.region = std::span(site.original).first(site.displaced);
  request.guards = site.guards();
  request.rest = site.rest;
  request.original = site.address;
  constexpr uint32_t kJump = 5;
  request.intact_from = site.jump && !site.form ? kJump : 0;
  request.handlers_at = site.handlers_at;
  request.form = form;
  for (const PatchCall& call : site.calls) {
    if (call.form == form && !sometimes(site, call)) {
      request.calls.push_back(handler_call(call, abis, code));
    }
  }
}

bool has_form(const PatchSite& site, arch::Form form) {
  return std::any_of(site.calls.begin(), site.calls.end(),
                     [&](const PatchCall& c) { return c.form == form && !sometimes(site, c); });
}

void note_detour(AreaNotes& notes, uint64_t at, uint64_t bytes, std::span<const uint8_t> note,
                 PatchSite& site) {
  site.detour = at;
  site.detour_bytes = static_cast<uint32_t>(bytes);
  site.note_bytes = static_cast<uint32_t>(note.size());
  const uint64_t whole = (bytes + abi::kDetourUnit - 1) & ~uint64_t{abi::kDetourUnit - 1};
  site.note_at = notes.add(at, whole, note, site.jump && site.form ? site.form->stub : 0);
}

// The detour goes into `site`, with its note. `original`: of what it stands for.
Status write_detour(CodeArea& area, AreaNotes& notes, const arch::DetourRequest& request,
                    uint64_t original, arch::Detour& detour, PatchSite& site) {
  const uint64_t room = arch::detour_bytes_max(request);
  std::optional<uint64_t> at = area.reserve(room);
  if (!at.has_value()) {
    return Error{"no room left for code near the module"};
  }
  Status built = arch::build_detour(request, *at, detour);
  if (!built.ok()) {
    area.give_back(*at, room);
    return built;
  }
  const std::vector<uint8_t>& bytes = detour.bytes;
  std::copy(bytes.begin(), bytes.end(), area.view(*at, bytes.size()).begin());
  // The next detour begins at a multiple of 16 anyway: no crumbs for it to search through.
  const uint64_t used = std::min((bytes.size() + kAlignSlack - 1) & ~(kAlignSlack - 1), room);
  area.give_back(*at + used, room - used);
  note_detour(notes, *at, bytes.size(), make_note(detour, *at, original), site);
  return ok_status();
}

// Behind instructions that run before the handlers; elsewhere `copies` has it.
uint64_t probe_copy(const arch::Detour& detour, const PatchSite& site) {
  for (const arch::Detour::Piece& piece : detour.pieces) {
    if (piece.offset != 0 && piece.offset == site.handlers_at) return site.detour + piece.begin;
  }
  return 0;
}

}  // namespace

uint64_t entry_of(const PatchCall& call, const Linked& code) {
  if (call.kind == PatchCall::Object) return code.symbols.at("dj_find_object");
  const bool body = call.kind == PatchCall::Body && call.handler < code.handlers.size();
  if (body) return code.handlers[call.handler];  // asked for by the ten thousand
  constexpr const char* kNames[] = {"dj_handler_", "dj_leave_", "dj_land_"};
  return code.symbols.at(kNames[call.kind] + std::to_string(call.handler));
}

// Asked for all sites before the first detour is built: nothing of a request but its size.
uint64_t detour_room(const PatchSite& site, const std::vector<HandlerAbi>& abis) {
  uint32_t calls[] = {0, 0}, exit_calls = 0;  // by arch::Form
  bool middle = false;
  for (const PatchCall& call : site.calls) {
    const bool body = call.kind == PatchCall::Body;
    const uint32_t bytes = arch::call_bytes_max(body ? abis[call.handler].stack_regs : kNoRegs);
    (sometimes(site, call) ? exit_calls : calls[size_t(call.form)]) += bytes;
    middle = middle || (call.form == arch::Form::Middle && !sometimes(site, call));
  }
  const bool leaves = !site.leaving || site.leaving->how == arch::Leaving::Always;
  const auto room = [&](arch::Form form) {
    const uint32_t all = calls[size_t(form)] + exit_calls;
    return arch::detour_bytes_max(site.displaced, site.rest, all, leaves) + abi::kNoteBytesMax +
           kAlignSlack;
  };
  return room(arch::Form::Boundary) + (middle ? room(arch::Form::Middle) : 0);
}

// e9 rel32 at the address that the site's jump leads to.
Status DetourWriter::write_stub(const PatchSite& site) {
  DJ_TRY(std::vector<uint8_t> jump, arch::encode_jump(site.form->stub, site.detour));
  std::span<uint8_t> view = areas_.stub_view(site.form->stub, jump.size());
  std::copy(jump.begin(), jump.end(), view.begin());
  return ok_status();
}

Result<DetourWriter> DetourWriter::link_all(CodeAreas areas, uint64_t code_bytes,
                                            const LinkCode& link) {
  DetourWriter detours;
  detours.areas_ = std::move(areas);
  for (size_t i = 0; i < detours.areas_.size(); i++) {
    CodeArea& area = detours.areas_.area(i);
    std::optional<uint64_t> base = area.reserve(code_bytes);
    CHECK(base.has_value() && *base == area.base());  // it was made large enough, and is empty
    const std::span<uint8_t> working = area.view(*base, code_bytes);
    DJ_TRY(Linked linked, link(*base, working, detours.areas_.shared_bytes()));
    detours.linked_.push_back(std::move(linked));
  }
  return detours;
}

Status DetourWriter::give_notes() {
  for (size_t i = 0; i < areas_.size(); i++) {
    const Linked& code = linked_[i];
    const auto frames = [&](const char* name) {
      const auto found = code.symbols.find(name);
      return found == code.symbols.end() ? 0 : found->second;
    };
    const bool first = notes_.empty();  // the stubs of all
    DJ_TRY(AreaNotes notes,
           AreaNotes::make(areas_.area(i), first ? areas_.stubs() : std::span<const StubPages>(),
                           frames("dj_agent_frames"), frames("dj_handler_frames")));
    notes_.push_back(std::move(notes));
  }
  return ok_status();
}

Status DetourWriter::finish_notes(uint64_t* head) {
  for (size_t i = 0; i < areas_.size(); i++) {
    DJ_TRY_DO(notes_[i].finish(areas_.area(i), head));
  }
  return ok_status();
}

std::vector<uint64_t> DetourWriter::own_code() const {
  std::vector<uint64_t> all;
  for (const AreaNotes& notes : notes_) {
    all.insert(all.end(), notes.own_code().begin(), notes.own_code().end());
  }
  return all;
}

std::span<const uint8_t> DetourWriter::note_of(const PatchSite& site) const {
  return notes_[*areas_.index_near(site.address)].note(site.note_at, site.note_bytes);
}

Status DetourWriter::build_detour(PatchSite& site, const std::vector<HandlerAbi>& abis) {
  const std::optional<size_t> index = areas_.index_near(site.address);
  if (!index) {
    return Error{"no free addresses for code near the module"};
  }
  return build_in(*index, site, abis);
}

Status DetourWriter::build(PatchSite& site, const std::vector<HandlerAbi>& abis) {
  DJ_TRY_DO(build_detour(site, abis));
  return site.jump && site.form ? write_stub(site) : ok_status();
}

uint64_t DetourWriter::entry(const PatchSite& site, const PatchCall& call) const {
  const std::optional<size_t> index = areas_.index_near(site.address);
  CHECK(index.has_value());
  return entry_of(call, linked_[*index]);
}

Status DetourWriter::build_cached(PatchSite& site, const CachedDetour& kept, uint64_t bias) {
  const std::optional<size_t> index = areas_.index_near(site.address);
  CodeArea* area = index ? &areas_.area(*index) : nullptr;
  const uint64_t room = (kept.bytes.size() + kAlignSlack - 1) & ~(kAlignSlack - 1);
  const std::optional<uint64_t> at = area != nullptr ? area->reserve(room) : std::nullopt;
  if (!at) {
    return Error{"no room left for code near the module"};
  }
  const std::span<uint8_t> view = area->view(*at, room);
  std::copy(kept.bytes.begin(), kept.bytes.end(), view.begin());
  for (const CachedReach& reach : kept.reaches) {
    const bool is_call = reach.is_call != 0;
    const bool whole = (!is_call || reach.target < site.calls.size()) && reach.at + 4u <= room;
    uint64_t target = reach.target + bias;
    if (whole && is_call) target = entry(site, site.calls[reach.target]);
    const auto distance = static_cast<int64_t>(target - (*at + reach.end));
    const auto rel32 = static_cast<int32_t>(distance);
    if (!whole || distance != rel32) {
      area->give_back(*at, room);
      return Error{"out of reach"};
    }
    memcpy(&view[reach.at], &rel32, sizeof rel32);
  }
  Note note(kept.note);
  place_note(note, *at, site.address);
  note_detour(notes_[*index], *at, kept.bytes.size(), note, site);
  site.copies.clear();
  site.copies.reserve(kept.copies.size());
  for (const CachedCopy& copy : kept.copies) site.copies.emplace_back(copy.offset, *at + copy.at);
  site.probe_copy = kept.probe_copy_at != 0 ? *at + kept.probe_copy_at : 0;
  return site.jump && site.form ? write_stub(site) : ok_status();
}

Status DetourWriter::build_in(size_t index, PatchSite& site, const std::vector<HandlerAbi>& abis) {
  CodeArea& area = areas_.area(index);
  const Linked& code = linked_[index];
  AreaNotes& notes = notes_[index];
  site.copies.clear();
  bool middle = has_form(site, arch::Form::Middle);
  request_for(site, middle ? arch::Form::Middle : arch::Form::Boundary, abis, code, request_);
  add_exit_calls(site, abis, code, request_);
  if (site.hook) {
    request_.syscall_hook = code.symbols.at("dj_syscall_hook");
    request_.child_hook = code.symbols.at("dj_child_hook");
  }
  DJ_TRY_DO(write_detour(area, notes, request_, site.address, detour_, site));
  site.copies.reserve(detour_.copies.size());
  for (auto [offset, copy] : detour_.copies) {
    site.copies.emplace_back(offset, site.detour + copy);
  }
  site.probe_copy = probe_copy(detour_, site);
  if (middle && has_form(site, arch::Form::Boundary)) {
    // The handlers of an entry may run in front of the hook that begins there.
    if (site.handlers_at != 0 && !site.hook) {
      return Error{"entry and statement handlers meet behind the place's first instruction",
                   Fail::Unsupported};
    }
    request_for(site, arch::Form::Boundary, abis, code, request_);
    request_.region = kJumpToNext;
    request_.rest = 0;
    request_.handlers_at = 0;
    request_.original = site.detour - sizeof kJumpToNext;
    DJ_TRY_DO(write_detour(area, notes, request_, site.address, detour_, site));
  }
  return ok_status();
}

Result<uint64_t> DetourWriter::write_sample(HandlerId handler, SiteId site, const HandlerAbi& abi,
                                            uint64_t done) {
  CHECK(areas_.size() > 0);
  CodeArea& area = areas_.area(0);
  const arch::HandlerCall call = {
      linked_.front().symbols.at("dj_handler_" + std::to_string(handler)), abi.stack_regs,
      abi.wants_site, site};
  std::optional<uint64_t> at = area.reserve(arch::kSampleCodeMax);
  if (!at) return Error{"no room left for code near the module"};
  DJ_TRY(std::vector<uint8_t> code, arch::build_sample(call, done, *at));
  std::copy(code.begin(), code.end(), area.view(*at, code.size()).begin());
  return *at;
}

uint64_t DetourWriter::symbol(const std::string& name) const {
  for (const Linked& code : linked_) {
    auto found = code.symbols.find(name);
    if (found != code.symbols.end()) {
      return found->second;
    }
  }
  return 0;
}

}  // namespace dj
