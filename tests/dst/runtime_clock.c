/* tests/dst/runtime_clock.c - clock.h in virtual time, and secrets from the seed, while a history runs. */
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "clock.h"
#include "obj.h"
#include "runtime.h"

static struct sim *present;	/* NULL: the machine's clocks */
static int64_t wall_offset_ms;

static int64_t read_clock(clockid_t);

void
runtime_clock_use(struct sim *sim)
{
	present = sim;
	wall_offset_ms = 0;
}

void
runtime_set_wall(int64_t offset_ms)
{
	wall_offset_ms = offset_ms;
}

int64_t
clock_mono_us(void)
{
	return present != NULL ? present->now_ms * 1000 : read_clock(CLOCK_BOOTTIME);
}

int64_t
clock_mono_ms(void)
{
	return clock_mono_us() / 1000;
}

int64_t
clock_wall_us(void)
{
	return present != NULL ? (RUNTIME_EPOCH_MS + wall_offset_ms + present->now_ms) * 1000
			       : read_clock(CLOCK_REALTIME);
}

int64_t
clock_wall_ms(void)
{
	return clock_wall_us() / 1000;
}

void
random_secret(void *out, size_t len)
{
	uint8_t *bytes = out;

	if (present == NULL) {
		MUST(getrandom(out, len, 0) == (ssize_t)len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)random_next(&present->random);
}

static int64_t
read_clock(clockid_t id)
{
	struct timespec ts;

	MUST(clock_gettime(id, &ts) == 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
