/*
 * actors/runtime/process.c - CPU, memory, descriptors of this process, under the names Prometheus
 * clients use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "actor_private.h"
#include "clock.h"
#include "stat.h"

enum { FDS_CHECKED = 1024 };

static double resident_bytes(void);
static unsigned open_fds(void);

void
process_stats(void)
{
	static double cpu_before, start;
	static unsigned refused_before;
	const unsigned refused = syscall_refused();
	struct rusage ru;
	struct rlimit rl;

	if (getrusage(RUSAGE_SELF, &ru) == 0) {
		const double cpu = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec)
		    + (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;

		stat_add(stat_get(STAT_CPU, ""), cpu - cpu_before);
		cpu_before = cpu;
	}
	stat_add(stat_get(STAT_REFUSED_SYSCALLS, ""), refused - refused_before);
	refused_before = refused;
	if (start == 0)
		start = (double)clock_wall_ms() / 1000;
	stat_set(stat_get(STAT_START, ""), start);
	stat_set(stat_get(STAT_RSS, ""), resident_bytes());
	stat_set(stat_get(STAT_FDS, ""), open_fds());
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0)
		stat_set(stat_get(STAT_FDS_MAX, ""), (double)rl.rlim_cur);
}

static double
resident_bytes(void)
{
	unsigned long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	fclose(f);
	return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

/*
 * Each number is checked: /proc/self/fd belongs to root once a process is not dumpable. Ours stay far
 * below the limit.
 */
static unsigned
open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < FDS_CHECKED; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}
