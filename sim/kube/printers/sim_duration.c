/*
 * sim/kube/printers/sim_duration.c - two or three significant figures, as apimachinery's
 * duration.HumanDuration.
 */
#include "sim_duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

/*
 * Below `under` seconds: so many units, and the rest in the smaller unit where there is one and it
 * is not 0.
 */
static const struct duration_unit {
	int64_t	under, unit, small;
	char	name, small_name;
} rows[] = {
	{ 2 * MINUTE,  1,      0,      's', 0   },
	{ 10 * MINUTE, MINUTE, 1,      'm', 's' },
	{ 3 * HOUR,    MINUTE, 0,      'm', 0   },
	{ 8 * HOUR,    HOUR,   MINUTE, 'h', 'm' },
	{ 2 * DAY,     HOUR,   0,      'h', 0   },
	{ 8 * DAY,     DAY,    HOUR,   'd', 'h' },
	{ 2 * YEAR,    DAY,    0,      'd', 0   },
	{ 8 * (int64_t)YEAR, YEAR, DAY, 'y', 'd' },
	{ INT64_MAX,   YEAR,   0,      'y', 0   },
};

const char *
sim_duration_format(int64_t seconds, char buf[SIM_DURATION_MAX])
{
	size_t i = 0;

	/* Clocks differ a little: a second ahead is now. */
	if (seconds < -1)
		return "<invalid>";
	if (seconds < 0)
		seconds = 0;
	while (seconds >= rows[i].under)
		i++;
	const struct duration_unit *const r = &rows[i];
	const int64_t rest = r->small != 0 ? seconds % r->unit / r->small : 0;
	if (rest != 0)
		snprintf(buf, SIM_DURATION_MAX, "%" PRId64 "%c%" PRId64 "%c", seconds / r->unit, r->name,
		    rest, r->small_name);
	else
		snprintf(buf, SIM_DURATION_MAX, "%" PRId64 "%c", seconds / r->unit, r->name);
	return buf;
}

const char *
sim_duration_since(const char *time, int64_t now_us, char buf[SIM_DURATION_MAX])
{
	int64_t us;

	if (time[0] == '\0')
		return "<unknown>";
	if (!time_parse(time, strlen(time), &us) && !time_parse_micro(time, strlen(time), &us))
		return "<invalid>";
	return sim_duration_format((now_us - us) / 1000000, buf);
}
