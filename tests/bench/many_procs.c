// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A crowd for benchmarks: many processes, each with many mappings of real shared libraries.
 *
 * usage: many_procs [-d DATA] [-l DIRECTORY] PROCESSES MAPPINGS
 *
 * Every process has MAPPINGS executable mappings and DATA readable ones (default 0), beside those
 * of its own start-up, of the *.so files in DIRECTORY (default /usr/lib/x86_64-linux-gnu), of as
 * many distinct ones as there are. Prints "ready" when all processes exist, and keeps them until
 * its standard input ends or it is terminated; the children never outlive it.
 */
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MAP_BYTES 8192

/* Maps the next usable library of @dir; false at the end of the directory. */
static bool map_one(DIR *dir, int prot)
{
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		_cleanup_close_ int fd = -1;
		struct stat st;

		if (!strstr(entry->d_name, ".so"))
			continue;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || st.st_size < MAP_BYTES)
			continue;
		fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || mmap(NULL, MAP_BYTES, prot, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			continue;
		return true;
	}
	return false;
}

static int map_many(DIR *dir, long count, int prot)
{
	bool any = false;

	while (count > 0) {
		if (map_one(dir, prot)) {
			any = true;
			count--;
			continue;
		}
		if (!any)
			return -ENOENT;
		rewinddir(dir);
	}
	return 0;
}

static int fork_many(long count)
{
	const pid_t parent = getpid();

	for (long i = 0; i < count; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			return -errno;
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(1);
			for (;;)
				(void)pause();
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = "/usr/lib/x86_64-linux-gnu";
	_cleanup_closedir_ DIR *dir = NULL;
	long data = 0;
	char byte;
	int c, r;

	while ((c = getopt(argc, argv, "d:l:")) != -1) {
		if (c == 'd')
			data = strtol(optarg, NULL, 10);
		else if (c == 'l')
			path = optarg;
		else
			return EXIT_FAILURE;
	}
	if (argc - optind != 2) {
		(void)fprintf(stderr, "usage: %s [-d DATA] [-l DIRECTORY] PROCESSES MAPPINGS\n",
			      argv[0]);
		return EXIT_FAILURE;
	}
	dir = opendir(path);
	if (!dir) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	r = map_many(dir, strtol(argv[optind + 1], NULL, 10), PROT_READ | PROT_EXEC);
	if (r >= 0)
		r = map_many(dir, data, PROT_READ);
	if (r < 0) {
		(void)fprintf(stderr, "%s: no *.so file here can be mapped\n", path);
		return EXIT_FAILURE;
	}
	r = fork_many(strtol(argv[optind], NULL, 10));
	if (r < 0) {
		(void)fprintf(stderr, "cannot fork: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	(void)puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return EXIT_SUCCESS;
}
