/*
 * A preload library that stands for a kernel's reading of a GPT, on kernels that are built without it
 * (CONFIG_EFI_PARTITION), and that keeps the program it is loaded into away from every disk but one.
 *
 * When the program asks the kernel to read the partition table of ONLY_DISK again, the kernel does what it can, which is
 * to forget the old partitions, and the new ones are added here one by one. Where the kernel reads the table itself,
 * adding them fails and nothing is lost. Any other disk answers that it is in use: coreos-installer asks all disks of
 * the host in the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER 92
#define ENTRY 128

typedef int ioctl_function(int, unsigned long, ...);

static uint64_t little_endian(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  while (count-- > 0) value = value << 8 | bytes[count];
  return value;
}

/* UEFI specification 5.3: header in the second sector, entries where it says. */
static void add_partitions(ioctl_function *next, const char *path) {
  unsigned char header[HEADER], entry[ENTRY];
  int sector;
  int disk = open(path, O_RDONLY | O_CLOEXEC);
  if (disk < 0) return;
  if (next(disk, BLKSSZGET, &sector) == 0 && pread(disk, header, HEADER, sector) == HEADER &&
      memcmp(header, "EFI PART", 8) == 0) {
    uint64_t entries = little_endian(header + 72, 8) * sector, count = little_endian(header + 80, 4);
    for (uint64_t i = 0; i < count && i < 128; i++) {
      if (pread(disk, entry, ENTRY, entries + i * ENTRY) != ENTRY) break;
      uint64_t first = little_endian(entry + 32, 8), last = little_endian(entry + 40, 8);
      if (first == 0) continue;
      struct blkpg_partition partition = {.pno = i + 1, .start = first * sector, .length = (last - first + 1) * sector};
      struct blkpg_ioctl_arg request = {.op = BLKPG_ADD_PARTITION, .datalen = sizeof partition, .data = &partition};
      next(disk, BLKPG, &request);
    }
  }
  close(disk);
}

int ioctl(int fd, unsigned long request, ...) {
  static ioctl_function *next;
  if (!next) next = (ioctl_function *)dlsym(RTLD_NEXT, "ioctl");
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  if (request != BLKRRPART) return next(fd, request, argument);

  const char *only = getenv("ONLY_DISK");
  struct stat asked, allowed;
  if (!only || fstat(fd, &asked) || stat(only, &allowed) || asked.st_rdev != allowed.st_rdev) {
    errno = EBUSY;
    return -1;
  }
  int result = next(fd, request, argument);
  if (result == 0) add_partitions(next, only);
  return result;
}
