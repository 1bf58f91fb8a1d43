// SPDX-License-Identifier: Apache-2.0
// The text of sites whose handlers were switched (switches.h): the original is put back, or the
// jump written again. Threads stand for it.
#include "runtime/install/install.h"
#include "runtime/process/os_error.h"
#include "runtime/text/thread_moves.h"

namespace dj {

void Installation::switch_handlers(const std::set<HandlerAt>& handlers, bool on, OffBy by) {
  switches_.turn(*detours_, handlers, on, by, now_ns());
}

TextWork Installation::text_work() { return switches_.work(*detours_, now_ns()); }

Status Installation::do_text_work(Stopped& stopped, const TextWork& work) {
  std::string damage;
  if (work.live) {
    if (!work.rest.empty()) DJ_TRY_DO(restore_live(stopped, work.rest, damage));
  } else {
    DJ_TRY_DO(find_gone(stopped, work.rest, modules()));
    DJ_TRY_DO(find_gone(stopped, work.wake, modules()));
    DJ_TRY_DO(restore_sites(stopped, work.rest, damage));
  }
  switches_.settle(*detours_);
  TextImage text(work.wake);
  text.read(stopped);
  check_text(text, work.wake);
  DJ_TRY_DO(journal_->enter(work.wake));
  if (work.live) {
    if (!work.wake.empty()) DJ_TRY_DO(write_live(stopped, work.wake));
  } else {
    Detouring detouring;
    detouring.add_waiting(work.wake);
    DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, false));
    static_cast<void>(moved);
    DJ_TRY_DO(write_sites(stopped, text, work.wake, patches_of(work.wake)));
  }
  switches_.settle(*detours_);
  return damage.empty() ? ok_status() : Status(Error{damage});
}

}  // namespace dj
