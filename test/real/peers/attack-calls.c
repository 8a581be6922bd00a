/* System calls that reach services of the host, or change a disk by a descriptor for reading. Prints GOT for each that succeeds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WITH_POINTER 4096

static int got(const char *what) {
  printf("GOT %s\n", what);
  return 0;
}

static int io_uring(void) {
  char parameters[120] = {0};
  return syscall(425, 8, parameters) >= 0 ? got("io_uring") : 1;
}

/* Calls of another set of the same processor: getpid shows that there is one. */
static int i386(void) {
#ifdef __x86_64__
  long pid = 20;
  __asm__ volatile("int $0x80" : "+a"(pid) : : "memory", "r8", "r9", "r10", "r11");
  if (pid > 0) return got("calls of i386");
#endif
  return 1;
}

static int x32(void) {
#ifdef __x86_64__
  if (syscall(0x40000000 + SYS_getpid) > 0) return got("calls of x32");
#endif
  return 1;
}

static int namespace_by(long child) {
  if (child == 0) _exit(0);
  if (child < 0) return 1;
  waitpid(child, NULL, 0);
  return got("a user namespace");
}

static int by_clone(void) { return namespace_by(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }

static int by_clone3(void) {
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  return namespace_by(syscall(SYS_clone3, &args, sizeof args));
}

static int a_socket(int family, int type) {
  return socket(family, type, 0) >= 0 ? got("a socket") : 1;
}

static int attach(int pid) {
  if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0) return 1;
  waitpid(pid, NULL, __WALL);
  ptrace(PTRACE_DETACH, pid, 0, 0);
  return got("another process");
}

/* Requests that need no argument, or one that changes nothing where it is taken. */
static int requests(const char *path) {
  static const struct {
    const char *name;
    unsigned long request;
    uint64_t argument[2];
  } table[] = {
    {"LOOP_SET_CAPACITY", LOOP_SET_CAPACITY, {0}},
    {"LOOP_SET_DIRECT_IO", LOOP_SET_DIRECT_IO, {0}},
    {"LOOP_SET_BLOCK_SIZE", LOOP_SET_BLOCK_SIZE, {512}},
    {"LOOP_CHANGE_FD", LOOP_CHANGE_FD, {0}},
    {"BLKRRPART", BLKRRPART, {0}},
    {"BLKRASET", BLKRASET, {1}},
    {"BLKROSET", BLKROSET, {WITH_POINTER, 0}},
    {"BLKBSZSET", BLKBSZSET, {WITH_POINTER, 512}},
    {"BLKDISCARD", BLKDISCARD, {WITH_POINTER}},
    {"BLKZEROOUT", BLKZEROOUT, {WITH_POINTER}},
    {"FITRIM", FITRIM, {WITH_POINTER}},
    {"LOOP_CLR_FD", LOOP_CLR_FD, {0}},
  };
  int disk = open(path, O_RDONLY), all = 1;
  if (disk < 0) return 1;
  for (size_t n = 0; n < sizeof table / sizeof *table; n++) {
    uint64_t range[3] = {table[n].argument[1], 512, 0};
    int pointer = table[n].argument[0] == WITH_POINTER;
    if (ioctl(disk, table[n].request, pointer ? (unsigned long)range : table[n].argument[0]) == 0) all = got(table[n].name);
  }
  return all;
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (!strcmp(what, "io_uring")) return io_uring();
  if (!strcmp(what, "i386")) return i386();
  if (!strcmp(what, "x32")) return x32();
  if (!strcmp(what, "clone")) return by_clone();
  if (!strcmp(what, "clone3")) return by_clone3();
  if (!strcmp(what, "socket") && argc > 3) return a_socket(atoi(argv[2]), atoi(argv[3]));
  if (!strcmp(what, "attach") && argc > 2) return attach(atoi(argv[2]));
  if (!strcmp(what, "requests") && argc > 2) return requests(argv[2]);
  return 2;
}
