/*
 * tests/actors/wall_clock.c - preloaded into a process, moves its wall clock while it runs.
 *
 *	LD_PRELOAD=libmuster-test-wall-clock.so MUSTER_TEST_WALL_CLOCK=FILE PROGRAM
 *
 * FILE has one int64_t: by how many seconds the wall clock is ahead. It is mapped, so that a test that writes
 * to it moves the clock of every process that has it (tests/lib/wallclock.py); their other clocks stay. A
 * preloaded function replaces that of the C library in the program and in all its libraries.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *ahead_s;

__attribute__((constructor)) static void
map_file(void)
{
	const char *const path = getenv("MUSTER_TEST_WALL_CLOCK");
	const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *mapped = MAP_FAILED;

	if (fd != -1)
		mapped = mmap(NULL, sizeof(*ahead_s), PROT_READ, MAP_SHARED, fd, 0);
	if (mapped == MAP_FAILED) {
		perror("MUSTER_TEST_WALL_CLOCK");
		_exit(1);
	}
	close(fd);
	ahead_s = mapped;
}

int
clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	const long rc = syscall(SYS_clock_gettime, clock_id, tp);

	/* The constructor of another library may read a clock before ours has run. */
	if (rc == 0 && ahead_s != NULL && (clock_id == CLOCK_REALTIME || clock_id == CLOCK_REALTIME_COARSE))
		tp->tv_sec += *ahead_s;
	return (int)rc;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec ts;

	(void)tz;
	if (clock_gettime(CLOCK_REALTIME, &ts) == -1)
		return -1;
	*tv = (struct timeval){ .tv_sec = ts.tv_sec, .tv_usec = ts.tv_nsec / 1000 };
	return 0;
}

time_t
time(time_t *timer)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) == -1)
		return -1;
	if (timer != NULL)
		*timer = ts.tv_sec;
	return ts.tv_sec;
}
