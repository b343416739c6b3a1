/* actors/provider/meter.c - counts provider calls and what held them back. */
#include "meter.h"

#include <stdio.h>
#include <string.h>

#include "stat.h"

enum { LABELS_MAX = 256 };

static void count_reason(enum stat_id, const char *);
static bool put_class(char *, const char *, const char *);

void
meter_call(const char *provider, const char *class, int status, double seconds)
{
	char labels[LABELS_MAX], counted[LABELS_MAX], code[16];

	if (!put_class(labels, provider, class))
		return;
	memcpy(counted, labels, sizeof(counted));
	snprintf(code, sizeof(code), status != 0 ? "%d" : "<error>", status);	/* as rest_client_* has it */
	if (stat_label(counted, sizeof(counted), "code", code))
		stat_add(stat_get(STAT_PROVIDER_REQUESTS, counted), 1);
	stat_observe(stat_get(STAT_PROVIDER_DURATION, labels), seconds);
}

void
meter_budget(const char *provider, const char *class, int64_t calls)
{
	char labels[LABELS_MAX];

	if (put_class(labels, provider, class))
		stat_set(stat_get(STAT_PROVIDER_BUDGET, labels), (double)calls);
}

void
meter_fenced(enum fence_reason reason)
{
	if (reason != FENCE_OPEN)
		count_reason(STAT_FENCED, fence_label(reason));
}

void
meter_braked(enum brake_reason reason)
{
	if (reason != BRAKE_RELEASED)
		count_reason(STAT_BRAKE, brake_label(reason));
}

void
meter_hop(char *buf, size_t size, const char *provider, const char *method, const char *class,
    const char *ending)
{
	const size_t others = strlen(provider) + strlen(method) + strlen(ending) + 3;

	snprintf(buf, size, "%s %s %.*s %s", provider, method, others < size ? (int)(size - 1 - others) : 0,
	    class, ending);
}

static void
count_reason(enum stat_id id, const char *reason)
{
	char labels[LABELS_MAX] = "";

	if (stat_label(labels, sizeof(labels), "reason", reason))
		stat_add(stat_get(id, labels), 1);
}

static bool
put_class(char *labels, const char *provider, const char *class)
{
	labels[0] = '\0';
	return stat_label(labels, LABELS_MAX, "provider", provider)
	    && stat_label(labels, LABELS_MAX, "class", class);
}
