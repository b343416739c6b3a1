/*
 * include/stat.h - counters, gauges and histograms of one actor. The runtime hands them to the
 * metrics actor as keyed state; the actor itself only adds and sets.
 *
 *	stat_add(stat_get(STAT_RESYNC, "link=\"samples\",reason=\"gap\""), 1);
 *
 * Families stand in one table, so that names, help texts and docs/metrics.md cannot drift.
 */
#ifndef MUSTER_STAT_H
#define MUSTER_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stat_names.h"

enum stat_kind { STAT_COUNTER, STAT_GAUGE, STAT_HISTOGRAM };

enum stat_id {
#define STAT_ENUM(ID, name, kind, help) STAT_##ID,
	STATS(STAT_ENUM)
#undef STAT_ENUM
	STAT_MAX
};

struct stat_series;

/*
 * The series of that family with these labels (rendered, `a="b",c="d"`, or ""), made when absent.
 * Keep the pointer on hot paths.
 */
struct stat_series *stat_get(enum stat_id id, const char *labels);
void stat_add(struct stat_series *s, double n);		/* counter or gauge */
void stat_set(struct stat_series *s, double v);		/* gauge; or a counter kept elsewhere, never lower */
void stat_observe(struct stat_series *s, double v);	/* histogram, seconds */
double stat_value(const struct stat_series *s);
void stat_drop(struct stat_series *s);			/* a series that has ended (label value gone) */

/*
 * Appends name="value" (escaped for the text format) to buf, with a comma where needed; false when
 * it does not fit.
 */
bool stat_label(char *buf, size_t size, const char *name, const char *value);

/* For the runtime: calls fn for each series changed since the last call (dropped ones with gone = true). */
struct stat_view {
	const char	*family, *help, *labels;
	enum stat_kind	 kind;
	double		 value;		/* histogram: sum */
	uint64_t	 count;		/* histogram: observations */
	/* Bound, cumulative count, bound, ...; +Inf is `count` and not listed. */
	const double	*buckets;
	size_t		 nbuckets;	/* doubles in buckets */
	bool		 gone;
};
void stat_changed(void (*fn)(const struct stat_view *, void *), void *arg);
void stat_reset(void);		/* forgets everything (tests) */

#endif
