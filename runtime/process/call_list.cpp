// SPDX-License-Identifier: Apache-2.0
// A seccomp filter made of a table. What it allows without a look at arguments the kernel remembers
// in a bitmap, so that djtap's own calls cost nothing more.
#include "runtime/process/call_list.h"

#include <asm/ioctls.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

int lists = 0;

constexpr uint32_t kDenied[] = {
    // Who sees what: file systems, namespaces, roots.
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_move_mount,
    SYS_open_tree,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_fanotify_init,
    // The kernel and the machine.
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_reboot,
    SYS_iopl,
    SYS_ioperm,
    SYS_syslog,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_vhangup,
    // Large doors.
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_kcmp,
    // Keys that belong to the session of whoever has started djtap.
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
};

// Of a djtap that sees processes which its target does not see (view.h): what is done to others.
constexpr uint32_t kDoneByDescriptor[] = {SYS_pidfd_send_signal, SYS_process_madvise,
                                          SYS_process_mrelease};
constexpr uint32_t kSignals[] = {SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo,
                                 SYS_rt_tgsigqueueinfo};
// A first argument of 0 means the caller here, so it is allowed.
constexpr uint32_t kSettings[] = {
    SYS_prlimit64,          SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam,
    SYS_sched_setscheduler, SYS_migrate_pages,     SYS_move_pages,
};

// With an argument that says so: letters typed into the terminal of whoever has started djtap, and
// new namespaces.
constexpr uint32_t kTypesLetters[] = {TIOCSTI, TIOCLINUX};
constexpr uint32_t kNewSpaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

class Filter {
 public:
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void answer(uint32_t how) { add(BPF_RET | BPF_K, how); }
  // If what was loaded is `value`, this is the answer.
  void answer_if(uint32_t value, uint32_t how) { branch(BPF_JEQ, value, how); }
  void answer_if_any_of(uint32_t bits, uint32_t how) { branch(BPF_JSET, bits, how); }
  void answer_if_from(uint32_t least, uint32_t how) { branch(BPF_JGE, least, how); }
  // What is added until land() is for the call of this number only.
  size_t only_for(uint32_t call) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0));
    return code_.size() - 1;
  }
  // Denies a call whose first argument is none of these.
  void deny_others(uint32_t call, std::initializer_list<uint32_t> allowed);
  void land(size_t branch) { code_[branch].jf = static_cast<uint8_t>(code_.size() - branch - 1); }

  Status install() {
    const sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
      return os_error("cannot do without system calls (seccomp)");
    return ok_status();
  }

 private:
  void add(uint32_t what, uint32_t value) {
    code_.push_back(BPF_STMT(static_cast<uint16_t>(what), value));
  }
  void branch(uint32_t how, uint32_t value, uint32_t result) {
    code_.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | how | BPF_K), value, 0, 1));
    answer(result);
  }

  std::vector<sock_filter> code_;
};

void Filter::deny_others(uint32_t call, std::initializer_list<uint32_t> allowed) {
  const size_t this_call = only_for(call);
  load(offsetof(seccomp_data, args));
  for (const uint32_t number : allowed) answer_if(number, SECCOMP_RET_ALLOW);
  answer(SECCOMP_RET_ERRNO | EPERM);
  land(this_call);
}

}  // namespace

// clone3() hides its flags in memory: as if the kernel did not know it, upon which the C library
// calls clone().
Status deny_calls(bool in_view) {
  constexpr uint32_t kDeny = SECCOMP_RET_ERRNO | EPERM, kUnknown = SECCOMP_RET_ERRNO | ENOSYS,
                     kX32 = 0x40000000;
  Filter filter;
  const auto argument = [](size_t number) { return offsetof(seccomp_data, args) + 8 * number; };
  filter.load(offsetof(seccomp_data, arch));
  const size_t native = filter.only_for(AUDIT_ARCH_X86_64);
  filter.load(offsetof(seccomp_data, nr));
  filter.answer_if_from(kX32, kUnknown);
  for (const uint32_t call : kDenied) filter.answer_if(call, kDeny);
  const auto own = static_cast<uint32_t>(getpid());
  if (in_view) {
    for (const uint32_t call : kDoneByDescriptor) filter.answer_if(call, kDeny);
    for (const uint32_t call : kSignals) filter.deny_others(call, {own});
    for (const uint32_t call : kSettings) filter.deny_others(call, {0, own});
  }
  filter.answer_if(SYS_clone3, kUnknown);
  const size_t clone = filter.only_for(SYS_clone);
  filter.load(argument(0));
  filter.answer_if_any_of(kNewSpaces, kDeny);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.land(clone);
  const size_t ioctl = filter.only_for(SYS_ioctl);
  filter.load(argument(1));
  for (const uint32_t request : kTypesLetters) filter.answer_if(request, kDeny);
  filter.land(ioctl);
  filter.answer(SECCOMP_RET_ALLOW);
  filter.land(native);
  filter.answer(kUnknown);
  DJ_TRY_DO(filter.install());
  ++lists;
  return ok_status();
}

int own_call_lists() { return lists; }

}  // namespace dj
