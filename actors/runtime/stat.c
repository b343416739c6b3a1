/*
 * actors/runtime/stat.c - the metrics of this process, and which of them changed since they were last
 * reported.
 *
 * A series is reported when it is new (also a counter at 0), when its value changed and when it has
 * ended, once each. Values that are not finite (a division by zero somewhere) are dropped: they are not
 * valid in a metric, and no reason to end an actor.
 */
#include "stat.h"

#include <math.h>
#include <string.h>

#include "keytab.h"
#include "obj.h"
#include "utf8.h"

/*
 * Seconds. Fourteen of them for every histogram: controller-runtime has forty from 5 ms to 60 s,
 * which is a kilobyte per series on the bus; these are a subset of its bounds, and 1 ms for a queue
 * that is mostly empty.
 */
static const double bounds[] = { 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60 };

struct stat_series {
	enum stat_id		 id;
	uint32_t		 key;		/* in its family: the labels */
	double			 value;
	uint64_t		 count;
	struct stat_series	*next;		/* while queued */
	bool			 queued;	/* to be reported */
	bool			 reported;		/* was reported, not as gone */
	bool			 gone;
	uint64_t		 buckets[];	/* not cumulative; histograms only */
};

static const struct {
	const char	*name, *help;
	enum stat_kind	 kind;
} families[STAT_MAX] = {
#define STAT_ROW(ID, n, k, h) [STAT_##ID] = { .name = (n), .help = (h), .kind = STAT_##k },
	STATS(STAT_ROW)
};

/* By labels: struct stat_series *, which stays where it is. NULL while the family is unused. */
static struct keytab *registry[STAT_MAX];

static struct {
	struct stat_series	*head, **tail;
} changed;

static void queue(struct stat_series *);
static void report(const struct stat_series *, void (*)(const struct stat_view *, void *), void *);
static size_t nbuckets(enum stat_id);

struct stat_series *
stat_get(enum stat_id id, const char *labels)
{
	MUST((unsigned)id < STAT_MAX);
	if (registry[id] == NULL)
		registry[id] = keytab_new(sizeof(struct stat_series *));
	bool added;
	const uint32_t key = keytab_add(registry[id], labels, strlen(labels), &added);
	struct stat_series **const slot = keytab_value(registry[id], key);

	if (added) {
		*slot = obj_alloc(sizeof(**slot) + nbuckets(id) * sizeof((*slot)->buckets[0]));
		(*slot)->id = id;
		(*slot)->key = key;
		queue(*slot);
	}
	if ((*slot)->gone) {		/* ended, and here again before that was reported */
		(*slot)->gone = false;
		queue(*slot);
	}
	return *slot;
}

void
stat_add(struct stat_series *s, double n)
{
	MUST(families[s->id].kind != STAT_HISTOGRAM);
	if (!isfinite(n) || n == 0 || !isfinite(s->value + n))
		return;
	MUST(families[s->id].kind == STAT_GAUGE || n > 0);
	s->value += n;
	queue(s);
}

void
stat_set(struct stat_series *s, double v)
{
	MUST(families[s->id].kind != STAT_HISTOGRAM);
	if (!isfinite(v) || v == s->value)
		return;
	MUST(families[s->id].kind == STAT_GAUGE || v > s->value);
	s->value = v;
	queue(s);
}

void
stat_observe(struct stat_series *s, double v)
{
	size_t i = 0;

	MUST(families[s->id].kind == STAT_HISTOGRAM);
	if (!isfinite(v) || !isfinite(s->value + v))
		return;
	if (v < 0)
		v = 0;			/* the sum of a histogram never falls */
	while (i < NITEMS(bounds) && v > bounds[i])
		i++;
	if (i < NITEMS(bounds))
		s->buckets[i]++;
	s->count++;
	s->value += v;
	queue(s);
}

double
stat_value(const struct stat_series *s)
{
	return s->value;
}

void
stat_drop(struct stat_series *s)
{
	if (s->gone)
		return;
	s->gone = true;
	s->value = 0;
	s->count = 0;
	memset(s->buckets, 0, nbuckets(s->id) * sizeof(s->buckets[0]));
	queue(s);
}

bool
stat_label(char *buf, size_t size, const char *name, const char *value)
{
	const size_t start = strlen(buf);
	const int head = snprintf(buf + start, size - start, "%s%s=\"", start > 0 ? "," : "", name);
	size_t at = start + (size_t)head, left = strlen(value);

	/* Room for the longest character, the closing quote and the NUL, or nothing of it. */
	while (left > 0 && at + 6 <= size) {
		const size_t n = utf8_length(value, left);

		if (n == 1 && strchr("\\\"\n", *value) != NULL) {
			buf[at++] = '\\';
			buf[at++] = *value == '\n' ? 'n' : *value;
		} else if (n == 0) {
			buf[at++] = '?';	/* one byte that is no UTF-8 would spoil the whole page */
		} else {
			memcpy(buf + at, value, n);
			at += n;
		}
		value += n > 0 ? n : 1;
		left -= n > 0 ? n : 1;
	}
	if (left > 0 || at + 2 > size) {
		buf[start] = '\0';
		return false;
	}
	memcpy(buf + at, "\"", 2);
	return true;
}

/* fn may change, add and drop series itself: the next call reports that. */
void
stat_changed(void (*fn)(const struct stat_view *, void *), void *arg)
{
	struct stat_series *now = changed.head, *s;

	changed.head = NULL;
	while ((s = now) != NULL) {
		const bool gone = s->gone, was_reported = s->reported;

		now = s->next;
		s->queued = false;
		s->reported = !gone;
		if (!gone || was_reported)
			report(s, fn, arg);
		if (gone && !s->queued) {
			keytab_remove(registry[s->id], s->key);
			free(s);
		}
	}
}

void
stat_reset(void)
{
	for (enum stat_id id = 0; id < STAT_MAX; id++) {
		if (registry[id] == NULL)
			continue;
		KEYTAB_EACH(registry[id], k)
			free(*(struct stat_series **)keytab_value(registry[id], k));
		keytab_free(&registry[id]);
	}
	changed.head = NULL;
}

static void
queue(struct stat_series *s)
{
	if (s->queued)
		return;
	if (changed.head == NULL)
		changed.tail = &changed.head;
	s->queued = true;
	s->next = NULL;
	*changed.tail = s;
	changed.tail = &s->next;
}

static void
report(const struct stat_series *s, void (*fn)(const struct stat_view *, void *), void *arg)
{
	double pairs[2 * NITEMS(bounds)];
	uint64_t sum = 0;

	for (size_t i = 0; i < nbuckets(s->id); i++) {
		sum += s->buckets[i];
		pairs[2 * i] = bounds[i];
		pairs[2 * i + 1] = (double)sum;
	}
	const struct stat_view view = {
		.family = families[s->id].name, .help = families[s->id].help, .kind = families[s->id].kind,
		.labels = keytab_key(registry[s->id], s->key, NULL),
		.value = s->value, .count = s->count, .gone = s->gone,
		.buckets = pairs, .nbuckets = 2 * nbuckets(s->id),
	};
	fn(&view, arg);
}

static size_t
nbuckets(enum stat_id id)
{
	return families[id].kind == STAT_HISTOGRAM ? NITEMS(bounds) : 0;
}
