/*
 * bench/node_state_wake.c - the lower bound of every notification: one process wakes another through a pipe.
 *
 *	bench-node_state_wake PER_SECOND SECONDS
 *
 * Prints the microseconds from write to read, one per line. It runs during the measurement, on the
 * same busy machine: what is slow here is the scheduler, not the bus.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "obj.h"

static void send_stamps(int, uint32_t, uint32_t);
static void print_delays(int);

int
main(int argc, char **argv)
{
	int ends[2], status;

	if (argc != 3) {
		fprintf(stderr, "usage: bench-node_state_wake PER_SECOND SECONDS\n");
		return 2;
	}
	const uint32_t per_second = bench_number("PER_SECOND", argv[1]);
	const uint32_t seconds = bench_number("SECONDS", argv[2]);

	MUST(pipe(ends) == 0);
	const pid_t sender = fork();
	MUST(sender != -1);
	if (sender == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		send_stamps(ends[1], per_second, per_second * seconds);
		_exit(0);
	}
	close(ends[1]);
	print_delays(ends[0]);
	MUST(waitpid(sender, &status, 0) == sender && status == 0);
	return 0;
}

static void
send_stamps(int fd, uint32_t per_second, uint32_t count)
{
	const struct timespec pause = { .tv_nsec = 1000000000 / per_second - 1 };

	for (uint32_t i = 0; i < count; i++) {
		nanosleep(&pause, NULL);
		const int64_t now_us = clock_mono_us();
		MUST(write(fd, &now_us, sizeof(now_us)) == sizeof(now_us));
	}
}

/* Prints until the sender is done. */
static void
print_delays(int fd)
{
	int64_t sent_us;

	while (read(fd, &sent_us, sizeof(sent_us)) == sizeof(sent_us))
		printf("%" PRId64 "\n", clock_mono_us() - sent_us);
}
