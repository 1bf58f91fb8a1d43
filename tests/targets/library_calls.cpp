// Calls what the tapsets have probes for, of the C and C++ libraries; prints how often it has
// called each, by the probe's name, and all calls in their order.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _FILE_OFFSET_BITS 64
#include "library_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

struct Row {
  const char* name;
  long calls;
} rows[500];
const char* order[2000];
long calls;
volatile long kept;  // results are looked at
void* volatile block;

}  // namespace

void made(const char* name) {
  Row* row = rows;
  while (row->name && strcmp(row->name, name) != 0) row++;
  row->name = name;
  row->calls++;
  if (calls < 2000) order[calls++] = name;
}

long keep(long value) {
  kept = value;
  return value;
}

namespace {

uid_t user;
gid_t group;
pid_t process, thread;

// Who the process is: other calls have it as arguments.
void ids() {
  user = (uid_t)DO("syscall.getuid", getuid());
  group = (gid_t)DO("syscall.getgid", getgid());
  process = (pid_t)DO("syscall.getpid", getpid());
  thread = (pid_t)DO("syscall.gettid", gettid());
}

void files() {
  char text[16] = "abc";
  iovec part = {text, 3};
  struct stat status;
  int ends[2];
  char path[] = "/tmp/djtap-calls-XXXXXX", other[64];
  const int first = mkstemp(path);
  snprintf(other, sizeof other, "%s.2", path);
  for (int round = 0; round < 3; round++) {
    const int fd = (int)DO("syscall.openat", open(path, O_RDWR));
    const int at = (int)DO("syscall.openat", openat(AT_FDCWD, path, O_RDWR));
    DO("syscall.write", write(fd, text, 3));
    DO("syscall.pwrite", pwrite(fd, text, 3, 3));
    DO("syscall.writev", writev(fd, &part, 1));
    DO("syscall.pwritev", pwritev(fd, &part, 1, 9));
    DO("syscall.lseek", lseek(fd, 0, SEEK_SET));
    DO("syscall.read", read(fd, text, 3));
    DO("syscall.pread", pread(fd, text, 3, 1));
    DO("syscall.readv", readv(fd, &part, 1));
    DO("syscall.preadv", preadv(fd, &part, 1, 0));
    DO("syscall.fsync", fsync(fd));
    DO("syscall.ftruncate", ftruncate(fd, 2));
    DO("syscall.ioctl", ioctl(fd, FIONREAD, text));
    DO("syscall.fstatat", fstat(fd, &status));
    DO("syscall.dup2", dup2(fd, at));
    DO("syscall.close", close((int)DO("syscall.dup", dup(fd))));
    DO("syscall.close", close(at));
    DO("syscall.close", close(fd));
  }
  DO("syscall.fstatat", stat(path, &status));
  DO("syscall.fstatat", lstat(path, &status));
  DO("syscall.access", access(path, R_OK));
  DO("syscall.rename", rename(path, other));
  DO("syscall.readlink", readlink(other, text, 3));
  DO("syscall.unlink", unlink(other));
  DO("syscall.unlinkat", unlinkat(AT_FDCWD, other, 0));
  DO("syscall.mkdir", mkdir(other, 0700));
  DO("syscall.rmdir", rmdir(other));
  DO("syscall.chdir", chdir("/"));
  DO("syscall.getcwd", getcwd(text, sizeof text));
  DO("syscall.pipe", pipe(ends));
  DO("syscall.vmsplice", vmsplice(ends[1], &part, 1, SPLICE_F_NONBLOCK));
  pollfd wait = {ends[0], POLLIN, 0};
  fd_set set;
  FD_ZERO(&set);
  timeval now = {0, 0};
  epoll_event event;
  DO("syscall.poll", poll(&wait, 1, 0));
  DO("syscall.pselect6", select(0, &set, nullptr, nullptr, &now));
  DO("syscall.epoll_wait", epoll_wait(-1, &event, 1, 0));
  close(first);
  made("syscall.close");
}

// Descriptors again, and files by their names.
void more_files() {
  char path[] = "/tmp/djtap-calls-XXXXXX", other[64], entries[64];
  const int fd = mkstemp(path);
  snprintf(other, sizeof other, "%s.2", path);
  struct statfs system;
  const timespec times[2] = {{1, 0}, {2, 0}};
  DO("syscall.fdatasync", fdatasync(fd));
  DO("syscall.flock", flock(fd, LOCK_EX | LOCK_NB));
  DO("syscall.fcntl", fcntl(fd, F_GETFL));
  DO("syscall.dup3", dup3(fd, 100, O_CLOEXEC));
  DO("syscall.close", close(100));
  DO("syscall.fallocate", fallocate(fd, 0, 0, 10));
  DO("syscall.sendfile", sendfile(fd, fd, nullptr, 0));
  DO("syscall.copy_file_range", copy_file_range(fd, nullptr, fd, nullptr, 0, 0));
  DO("syscall.fchmod", fchmod(fd, 0600));
  DO("syscall.fchown", fchown(fd, user, group));
  DO("syscall.close", close(fd));
  DO("syscall.chmod", chmod(path, 0640));
  DO("syscall.chown", chown(path, user, group));
  DO("syscall.truncate", truncate(path, 5));
  DO("syscall.statfs", statfs(path, &system));
  DO("syscall.faccessat2", faccessat(AT_FDCWD, path, R_OK, 0));
  DO("syscall.utimensat", utimensat(AT_FDCWD, path, times, 0));
  DO("syscall.link", link(path, other));
  DO("syscall.unlink", unlink(other));
  DO("syscall.symlink", symlink(path, other));
  DO("syscall.unlink", unlink(other));
  DO("syscall.close", close((int)DO("syscall.creat", creat(other, 0600))));
  DO("syscall.unlink", unlink(other));
  DO("syscall.unlink", unlink(path));
  DO("syscall.umask", umask(022));
  const int folder = (int)DO("syscall.openat", open("/", O_RDONLY | O_DIRECTORY));
  DO("syscall.getdents", getdents64(folder, entries, 1));
  DO("syscall.fchdir", fchdir(folder));
  DO("syscall.close", close(folder));
}

// What one waits with; no descriptor of these is any.
void waiting() {
  const timespec soon = {0, 1};
  const itimerspec once = {{0, 0}, {0, 1}};
  epoll_event event = {EPOLLIN, {nullptr}};
  DO("syscall.ppoll", ppoll(nullptr, 0, &soon, nullptr));
  const int queue = (int)DO("syscall.epoll_create", epoll_create(3));
  const int counter = (int)DO("syscall.eventfd", eventfd(7, EFD_CLOEXEC));
  DO("syscall.epoll_ctl", epoll_ctl(queue, EPOLL_CTL_ADD, counter, &event));
  const int clock = (int)DO("syscall.timerfd_create", timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
  DO("syscall.timerfd_settime", timerfd_settime(clock, 0, &once, nullptr));
  DO("syscall.inotify_add_watch", inotify_add_watch(-1, "/no/where", IN_OPEN));
  DO("syscall.close", close(queue));
  DO("syscall.close", close(counter));
  DO("syscall.close", close(clock));
}

void sockets() {
  sockaddr_un address = {AF_UNIX, {}};
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "djtap-calls-%d", process);
  const auto* name = (const sockaddr*)&address;
  char text[16] = "hello";
  iovec part = {text, 5};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  int two[2];
  socklen_t length = sizeof address;
  DO("syscall.socketpair", socketpair(AF_UNIX, SOCK_DGRAM, 0, two));
  const int listener = (int)DO("syscall.socket", socket(AF_UNIX, SOCK_STREAM, 0));
  DO("syscall.bind", bind(listener, name, sizeof address));
  DO("syscall.setsockopt", setsockopt(listener, SOL_SOCKET, SO_KEEPALIVE, two, sizeof *two));
  DO("syscall.getsockopt", getsockopt(listener, SOL_SOCKET, SO_KEEPALIVE, two, &length));
  DO("syscall.listen", listen(listener, 5));
  for (int round = 0; round < 2; round++) {
    const int client = (int)DO("syscall.socket", socket(AF_UNIX, SOCK_STREAM, 0));
    DO("syscall.connect", connect(client, name, sizeof address));
    sockaddr_un who;
    length = sizeof who;
    DO("syscall.getsockname", getsockname(client, (sockaddr*)&who, &length));
    DO("syscall.getpeername", getpeername(client, (sockaddr*)&who, &length));
    const int server =
        round == 0 ? (int)DO("syscall.accept", accept(listener, nullptr, nullptr))
                   : (int)DO("syscall.accept4", accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    DO("syscall.sendto", send(client, text, 5, 0));
    DO("syscall.recvfrom", recv(server, text, 5, 0));
    DO("syscall.sendto", sendto(client, text, 5, 0, nullptr, 0));
    DO("syscall.recvfrom", recvfrom(server, text, 5, 0, nullptr, nullptr));
    DO("syscall.sendmsg", sendmsg(client, &message, 0));
    DO("syscall.recvmsg", recvmsg(server, &message, 0));
    DO("syscall.shutdown", shutdown(client, SHUT_WR));
  }
}

void memory_and_streams() {
  char text[32];
  for (int round = 0; round < 4; round++) {
    block = (void*)DO("libc.malloc", malloc(100));
    block = (void*)DO("libc.realloc", realloc(block, 500));
    made("libc.free");
    free(block);
    block = (void*)DO("libc.calloc", calloc(3, 7));
    made("libc.free");
    free(block);
    FILE* file = (FILE*)DO("libc.fopen", fopen("/proc/self/stat", "r"));
    DO("libc.fread", fread(text, 1, 8, file));
    DO("libc.fwrite", fwrite(text, 1, 8, file));
    DO("libc.fclose", fclose(file));
    DO("libc.getenv", getenv("HOME"));
  }
  addrinfo* found = nullptr;
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST;
  DO("libc.getaddrinfo", getaddrinfo("127.0.0.1", nullptr, &hints, &found));
  void* pages = (void*)DO("syscall.mmap2",
                          mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  DO("syscall.mprotect", mprotect(pages, 4096, PROT_NONE));
  DO("syscall.madvise", madvise(pages, 8192, MADV_NORMAL));
  DO("syscall.msync", msync(pages, 8192, MS_ASYNC));
  DO("syscall.mlock", mlock(pages, 0));
  DO("syscall.munlock", munlock(pages, 0));
  pages = (void*)DO("syscall.mremap", mremap(pages, 8192, 4096, 0));
  DO("syscall.munmap", munmap(pages, 8192));
  DO("syscall.brk", brk(sbrk(0)));
  DO("syscall.close", close((int)DO("syscall.memfd_create", memfd_create("djtap", MFD_CLOEXEC))));
}

void processes() {
  const timespec soon = {0, 1};
  int status;
  DO("syscall.kill", kill(process, 0));
  DO("syscall.tgkill", tgkill(process, thread, 0));
  DO("syscall.clock_nanosleep", nanosleep(&soon, nullptr));
  DO("syscall.clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, nullptr));
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  DO("syscall.rt_sigtimedwait", sigtimedwait(&set, nullptr, &soon));
  DO("syscall.ptrace", ptrace((__ptrace_request)99, 7, nullptr, nullptr));
  DO("syscall.semtimedop", semop(-1, nullptr, 1));
  DO("syscall.semtimedop", semtimedop(-1, nullptr, 1, nullptr));
  DO("syscall.io_submit", syscall(SYS_io_submit, 0, 0, nullptr));
  DO("syscall.futex", syscall(SYS_futex, &kept, FUTEX_WAKE, 1, nullptr, nullptr, 0));
  char* const none[] = {nullptr};
  DO("syscall.execve", execve("/no/where", none, none));
  DO("syscall.execveat", syscall(SYS_execveat, -1, "/no/where", none, none, 0));
  made("syscall.exit_group");  // the child's; once more at the end of the program
  made("syscall.clone");
  const pid_t child = fork();
  if (child == 0) _exit(0);
  DO("syscall.wait4", wait4(child, &status, 0, nullptr));
}

// Calls that the C library makes by other ones of the kernel's, made by their own numbers.
void by_number() {
  const timespec soon = {0, 1};
  timeval now = {0, 0};
  struct stat status;
  rlimit limit;
  const long fd = DO("syscall.open", syscall(SYS_open, "/", O_RDONLY | O_DIRECTORY));
  DO("syscall.fstat", syscall(SYS_fstat, fd, &status));
  DO("syscall.stat", syscall(SYS_stat, "/", &status));
  DO("syscall.lstat", syscall(SYS_lstat, "/", &status));
  DO("syscall.faccessat", syscall(SYS_faccessat, AT_FDCWD, "/", R_OK));
  DO("syscall.pipe", syscall(SYS_pipe, nullptr));
  DO("syscall.eventfd", syscall(SYS_eventfd, 7));
  DO("syscall.select", syscall(SYS_select, 0, nullptr, nullptr, nullptr, &now));
  DO("syscall.nanosleep", syscall(SYS_nanosleep, &soon, nullptr));
  DO("syscall.semop", syscall(SYS_semop, -1, nullptr, 1));
  DO("syscall.getrlimit", syscall(SYS_getrlimit, RLIMIT_NOFILE, &limit));
  DO("syscall.setrlimit", syscall(SYS_setrlimit, RLIMIT_NOFILE, &limit));
  made("syscall.setsid");  // the child's, which has no terminal then that could be hung up
  made("syscall.vhangup");
  made("syscall.exit_group");
  const long child = DO("syscall.fork", syscall(SYS_fork));
  if (child == 0) {
    if (setsid() > 0) syscall(SYS_vhangup);
    _exit(0);
  }
  DO("syscall.wait4", wait4((pid_t)child, nullptr, 0, nullptr));
  made("syscall.exit_group");
  made("syscall.vfork");
  const pid_t other = vfork();
  if (other == 0) _exit(0);
  DO("syscall.wait4", wait4(other, nullptr, 0, nullptr));
}

// What a process says and asks of itself; identities stay what they are.
void identity() {
  rlimit limit;
  rusage usage;
  utsname names;
  char bytes[8];
  sigset_t set;
  sigemptyset(&set);
  const struct itimerval never = {{0, 0}, {0, 0}};
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  DO("syscall.setpgid", setpgid(0, -1));
  DO("syscall.setsid", setsid());
  DO("syscall.setuid", setuid(user));
  DO("syscall.setgid", setgid(group));
  DO("syscall.prctl", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  DO("syscall.prlimit64", getrlimit(RLIMIT_NOFILE, &limit));
  DO("syscall.prlimit64", setrlimit(RLIMIT_NOFILE, &limit));
  DO("syscall.getrusage", getrusage(RUSAGE_SELF, &usage));
  DO("syscall.sched_yield", sched_yield());
  DO("syscall.getrandom", getrandom(bytes, sizeof bytes, 0));
  DO("syscall.uname", uname(&names));
  DO("syscall.rt_sigaction", sigaction(SIGUSR2, &action, nullptr));
  DO("syscall.rt_sigprocmask", pthread_sigmask(SIG_BLOCK, &set, nullptr));
  DO("syscall.rt_sigpending", sigpending(&set));
  DO("syscall.alarm", alarm(0));
  DO("syscall.setitimer", setitimer(ITIMER_VIRTUAL, &never, nullptr));
  DO("syscall.shmget", shmget(1, 0, 0));
  DO("syscall.shmat", shmat(-1, nullptr, 0));
  DO("syscall.shmdt", shmdt(nullptr));
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
volatile pid_t contender;
volatile int waits, go;

void* contend(void*) {
  contender = gettid();
  pthread_mutex_lock(&mutex);  // until main lets go of it
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

void* await(void*) {
  pthread_mutex_lock(&mutex);
  waits = 1;
  while (!go) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

bool sleeps(pid_t tid) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE* file = (FILE*)DO("libc.fopen", fopen(path, "r"));
  if (!file) return false;
  if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
  DO("libc.fclose", fclose(file));
  return state == 'S';
}

void start(pthread_t* thread, void* (*body)(void*)) {
  DO("pthread.create", pthread_create(thread, nullptr, body, nullptr));
  made("syscall.clone3");
  made("syscall.exit");
  made("pthread.mutex.lock");
  made("pthread.mutex.unlock");
}

void locks_and_threads() {
  pthread_t thread;
  DO("pthread.mutex.lock", pthread_mutex_lock(&mutex));
  DO("pthread.mutex.trylock", pthread_mutex_trylock(&mutex));
  start(&thread, contend);
  made("syscall.gettid");
  made("pthread.contended");
  while (contender == 0 || !sleeps(contender)) continue;
  DO("pthread.mutex.unlock", pthread_mutex_unlock(&mutex));
  DO("pthread.join", pthread_join(thread, nullptr));

  start(&thread, await);
  made("pthread.cond.wait");
  while (!waits) continue;
  DO("pthread.mutex.lock", pthread_mutex_lock(&mutex));  // free once await() waits
  go = 1;
  DO("pthread.cond.signal", pthread_cond_signal(&condition));
  DO("pthread.cond.broadcast", pthread_cond_broadcast(&condition));
  DO("pthread.mutex.unlock", pthread_mutex_unlock(&mutex));
  DO("pthread.join", pthread_join(thread, nullptr));

  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  DO("pthread.rwlock.read", pthread_rwlock_rdlock(&lock));
  DO("pthread.rwlock.unlock", pthread_rwlock_unlock(&lock));
  DO("pthread.rwlock.write", pthread_rwlock_wrlock(&lock));
  DO("pthread.rwlock.unlock", pthread_rwlock_unlock(&lock));
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  DO("pthread.sem.wait", sem_wait(&semaphore));
  DO("pthread.sem.post", sem_post(&semaphore));
}

void of_cxx() {
  for (int round = 0; round < 5; round++) {
    try {
      try {
        made("cxx.throw");
        throw round;
      } catch (int) {
        made("cxx.catch");
        made("cxx.rethrow");
        throw;
      }
    } catch (...) {
      made("cxx.catch");
    }
    made("cxx.new");
    made("cxx.delete");
    block = new long;
    delete static_cast<long*>(block);
  }
}

}  // namespace

int main() {
  ids();
  files();
  more_files();
  waiting();
  sockets();
  memory_and_streams();
  processes();
  by_number();
  identity();
  system_calls();
  locks_and_threads();
  of_cxx();
  made("syscall.exit_group");
  for (const Row* row = rows; row->name; row++) printf("made %s %ld\n", row->name, row->calls);
  for (long i = 0; i < calls; i++) printf("then %s\n", order[i]);
}
// SPDX-License-Identifier: Apache-2.0
