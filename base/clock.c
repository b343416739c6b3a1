/* base/clock.c - the clocks. */
#include "clock.h"

#include <sys/random.h>
#include <time.h>

#include "obj.h"
#include "random.h"

int64_t
clock_mono_us(void)
{
	struct timespec ts;

	MUST(clock_gettime(CLOCK_BOOTTIME, &ts) == 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

int64_t
clock_wall_us(void)
{
	struct timespec ts;

	MUST(clock_gettime(CLOCK_REALTIME, &ts) == 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
clock_wall_ms(void)
{
	return clock_wall_us() / 1000;
}

void
random_secret(void *out, size_t len)
{
	MUST(getrandom(out, len, 0) == (ssize_t)len);
}
